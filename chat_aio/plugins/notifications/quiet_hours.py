"""Quiet hours: a span of each day, in a user's time zone, without notifications."""

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


@lru_cache(1_000)
def zone_named(name: str) -> ZoneInfo:
    """A time zone, such as `Europe/Berlin`. Raises ValueError."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError) as error:
        raise ValueError(f"there is no time zone {name!r}") from error


def checked(hours: Mapping[str, str]) -> dict[str, str]:
    """Quiet hours as `{start, end, timeZone}`. Raises ValueError."""
    if set(hours) != {"start", "end", "timeZone"}:
        raise ValueError("must have start, end and timeZone")
    if _clock(hours["start"]) == _clock(hours["end"]):
        raise ValueError("must not end when they start")
    if len(hours["timeZone"]) > 64:
        raise ValueError("must have the name of a time zone")
    zone_named(hours["timeZone"])
    return dict(hours)


def end_of(hours: Mapping[str, str], at: datetime) -> datetime | None:
    """When the quiet hours end in which a time lies; None if it lies in none."""
    zone = zone_named(hours["timeZone"])
    start, end = _clock(hours["start"]), _clock(hours["end"])
    local = at.astimezone(zone)
    # Hours that began yesterday may reach over midnight.
    for days in (-1, 0):
        day = local.date() + timedelta(days=days)
        last = day if start < end else day + timedelta(days=1)
        # By the wall clock of each day, so that they keep their hours when clocks change.
        begins = datetime.combine(day, start, zone).astimezone(UTC)
        ends = datetime.combine(last, end, zone).astimezone(UTC)
        if begins <= at < ends:
            return ends
    return None


def _clock(text: str) -> time:
    """A time of day such as `22:00`. Raises ValueError."""
    try:
        return datetime.strptime(text, "%H:%M").time()
    except ValueError:
        raise ValueError("must have times such as 22:00") from None
