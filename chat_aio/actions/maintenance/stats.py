"""Keeping the daily statistics: complete days are rolled up, rows that are too old are removed."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from chat_aio.actions.context import Context
from chat_aio.errors import InvalidInput
from chat_aio.store.maintenance import stats as stored
from chat_aio.store.maintenance.progress import Progress, silent
from chat_aio.store.maintenance.stats import Span, day_of

COMMITTED_WITHIN = timedelta(minutes=5)
"""How long after its end a day is complete: a message gets its time before it is committed, and
clocks of processes differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsPeriod:
    """The days to roll up, both ends included. `since` None continues after the last run, `until`
    None ends with the last complete day. Rows are kept for `keep_days` if it is given."""

    since: date | None = None
    until: date | None = None
    keep_days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledUp:
    """The result of a run: the days from `since` (None: the first message) to before `until`."""

    since: str | None
    until: str
    conversations: int
    rows: int
    removed: int


async def update(context: Context, period: StatsPeriod, *, progress: Progress = silent) -> RolledUp:
    """Roll up days, continuing an interrupted run over the same days. Raises InvalidInput for a day
    that is not complete."""
    database = context.database
    until = _until(context, period.until)
    since = await stored.rolled_until(database)
    if period.since is not None:
        since = _midnight(period.since)
    oldest = _oldest(period, until)
    if oldest is not None and (since is None or since < oldest):
        since = oldest
    conversations = rows = 0
    if since is None or since < until:
        conversations, rows = await _roll_up(context, Span(since, until), progress)
    removed = 0
    if oldest is not None:
        removed = await stored.remove_before(database, day_of(oldest))
    return RolledUp(
        since=None if since is None else day_of(since),
        until=day_of(until),
        conversations=conversations,
        rows=rows,
        removed=removed,
    )


async def count_old(context: Context, period: StatsPeriod) -> int:
    """The number of rows that `update` would remove now. Raises as `update`."""
    oldest = _oldest(period, _until(context, period.until))
    if oldest is None:
        return 0
    return await stored.count_before(context.database, day_of(oldest))


def _oldest(period: StatsPeriod, until: datetime) -> datetime | None:
    """The first moment that is kept; None if everything is."""
    return None if period.keep_days is None else until - timedelta(days=period.keep_days)


async def _roll_up(context: Context, span: Span, progress: Progress) -> tuple[int, int]:
    """The number of conversations examined, and of rows written."""
    database = context.database
    after = await stored.place_of(database, span)
    conversations = rows = 0
    length = await stored.count_active(database, span, after=after)
    with progress("Rolling up", length) as advance:
        while heads := await stored.list_active(database, span, after=after):
            rows += await stored.roll_up(database, heads, span)
            after = heads[-1]["_id"]
            # After the rows: an interrupted run repeats a page, which gives the same rows.
            await stored.note_place(database, span, after)
            conversations += len(heads)
            advance(len(heads))
    # Last: the next run continues behind this one.
    await stored.note_done(database, span)
    return conversations, rows


def _until(context: Context, last: date | None) -> datetime:
    """The midnight at the end of the last day."""
    complete = _midnight((context.clock() - COMMITTED_WITHIN).astimezone(UTC).date())
    if last is None:
        return complete
    until = _midnight(last) + timedelta(days=1)
    if until > complete:
        raise InvalidInput(f"until: {last} is not complete; it is five minutes after its end (UTC)")
    return until


def _midnight(day: date) -> datetime:
    # Days are those of UTC, so that all processes agree where one ends.
    return datetime.combine(day, time(), UTC)
