"""Pages: `limit`, and opaque keyset cursors that survive the deletion of the row they point at."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import orjson

from chat_aio.errors import InvalidInput

DEFAULT_LIMIT = 50
MAX_LIMIT = 200

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INTEGER = re.compile(r"[0-9]+")

T = TypeVar("T")
Key = str | int


def limit_from(limit: object) -> int:
    """The page size meant by `limit`: 50 when absent, at most 200; InvalidInput below 1."""
    if limit is None:
        return DEFAULT_LIMIT
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise InvalidInput("limit: a whole number from 1 on is needed")
    return min(limit, MAX_LIMIT)


def limit_from_query(text: str | None) -> int | None:
    """The number written in a query string, None when absent; InvalidInput if it is no number."""
    if text is None:
        return None
    if not _INTEGER.fullmatch(text):
        raise InvalidInput("limit: a whole number from 1 on is needed")
    return int(text[:18])


def cursor_from(kind: str, *keys: Key) -> str:
    """An opaque cursor for the position `keys` in lists of this `kind`."""
    return urlsafe_b64encode(orjson.dumps([kind, *keys])).rstrip(b"=").decode()


def position_from(kind: str, cursor: object, *types: type[Key]) -> tuple[Key, ...] | None:
    """The position a cursor stands for, None when absent; InvalidInput if it is none of ours."""
    if cursor is None:
        return None
    if not isinstance(cursor, str):
        raise InvalidInput("cursor: a string is needed")
    try:
        found, *keys = orjson.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        sound = (found, *map(type, keys)) == (kind, *types) and cursor == cursor_from(kind, *keys)
    except (ValueError, TypeError, OverflowError):
        sound = False
    if not sound or any(isinstance(key, int) and not 0 <= key < 2**53 for key in keys):
        raise InvalidInput("cursor: this is not a cursor of this list")
    return tuple(keys)


def after_from(kind: str, cursor: object) -> tuple[datetime, str] | None:
    """The (time, id) that a cursor of a list by time stands for; see `position_from`."""
    position = position_from(kind, cursor, int, str)
    return (moment_from(int(position[0])), str(position[1])) if position else None


def cursor_after(kind: str, moment: datetime, key: str) -> str:
    """The cursor for what follows a row of a list by time."""
    return cursor_from(kind, millis_from(moment), key)


def millis_from(moment: datetime) -> int:
    """Milliseconds since 1970, exact."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def moment_from(millis: int) -> datetime:
    """The moment `millis` milliseconds after 1970; InvalidInput when out of the calendar."""
    try:
        return _EPOCH + timedelta(milliseconds=millis)
    except OverflowError:
        raise InvalidInput("cursor: this is not a cursor of this list") from None


def cut(rows: Sequence[T], limit: int) -> tuple[Sequence[T], T | None]:
    """The page out of `limit + 1` fetched rows, and its last row when more follow."""
    return (rows[:limit], rows[limit - 1]) if len(rows) > limit else (rows, None)
