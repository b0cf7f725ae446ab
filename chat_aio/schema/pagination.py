"""Pagination: `limit`, and opaque keyset cursors, which survive the deletion of their row."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import orjson

from chat_aio.errors import InvalidInput

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
FOREIGN_CURSOR = "cursor must be the nextCursor of a page of this list"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INTEGER = re.compile(r"[0-9]+")

T = TypeVar("T")
Key = str | int


def limit_from(limit: object) -> int:
    """The page size: 50 when `limit` is None, at most 200. Raises InvalidInput below 1."""
    if limit is None:
        return DEFAULT_LIMIT
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise InvalidInput("limit must be a whole number of at least 1")
    # Not an error: clients may ask for all, and get a cursor.
    return min(limit, MAX_LIMIT)


def limit_from_query(text: str | None) -> int | None:
    """The number in a query string, None when absent. Raises InvalidInput if it is no number."""
    return number_from_query("limit", text)


def number_from_query(name: str, text: str | None) -> int | None:
    """As `limit_from_query`, of any parameter whose larger values are all the same."""
    if text is None:
        return None
    if not _INTEGER.fullmatch(text):
        raise InvalidInput(f"{name} must be a whole number of at least 1")
    return int(text[:18])  # Python refuses to parse thousands of digits.


def cursor_from(kind: str, *keys: Key) -> str:
    """An opaque cursor for the position `keys` in lists of this `kind`."""
    return urlsafe_b64encode(orjson.dumps([kind, *keys])).rstrip(b"=").decode()


def position_from(kind: str, cursor: object, *types: type[Key]) -> tuple[Key, ...] | None:
    """The position of a cursor, None when absent. Raises InvalidInput if it is not of this list."""
    if cursor is None:
        return None
    if not isinstance(cursor, str):
        raise InvalidInput("cursor must be a string")
    try:
        found, *keys = orjson.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        # Re-encoding must give the same text: there is one cursor for each position.
        sound = (found, *map(type, keys)) == (kind, *types) and cursor == cursor_from(kind, *keys)
    except (ValueError, TypeError, OverflowError):
        sound = False
    # An integer of more than 64 bits in a query would be an error of the driver.
    if not sound or any(isinstance(key, int) and not 0 <= key < 2**53 for key in keys):
        raise InvalidInput(FOREIGN_CURSOR)
    return tuple(keys)


def is_cursor_of(kind: str, cursor: object, *types: type[Key]) -> bool:
    """Whether this is a cursor of such a list."""
    try:
        return position_from(kind, cursor, *types) is not None
    except InvalidInput:
        return False


def after_from(kind: str, cursor: object) -> tuple[datetime, str] | None:
    """The (time, id) of a cursor of a list ordered by time; see `position_from`."""
    position = position_from(kind, cursor, int, str)
    return (moment_from(int(position[0])), str(position[1])) if position else None


def cursor_after(kind: str, moment: datetime, key: str) -> str:
    """The cursor behind a row of a list ordered by time."""
    return cursor_from(kind, millis_from(moment), key)


def millis_from(moment: datetime) -> int:
    """Milliseconds since 1970, exact."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def moment_from(millis: int) -> datetime:
    """The moment `millis` milliseconds after 1970. Raises InvalidInput past the year 9999."""
    try:
        return _EPOCH + timedelta(milliseconds=millis)
    except OverflowError:
        raise InvalidInput(FOREIGN_CURSOR) from None


def cut(rows: Sequence[T], limit: int) -> tuple[Sequence[T], T | None]:
    """The page of `limit + 1` fetched rows, and its last row if more follow, else None."""
    return (rows[:limit], rows[limit - 1]) if len(rows) > limit else (rows, None)
