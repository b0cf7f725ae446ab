"""Metadata in BSON: the caller's JSON comes back exactly, and stays queryable by its keys.

Keys that BSON or the driver would misread are percent-escaped: `$` in front, every `.`, NUL and
`%`; the empty key is a single `%`. Everything else is stored as it is.
"""

import re
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from chat_aio.schema.wire import timestamp

_SPECIAL = re.compile(r"^\$|[.%\0]")
_PLAIN = frozenset({str, int, float, bool, type(None)})


def escaped(value: Any) -> Any:
    """`value` with every key made safe for BSON."""
    if isinstance(value, dict):
        return {escaped_key(key): escaped(element) for key, element in value.items()}
    if isinstance(value, list):
        return [escaped(element) for element in value]
    return value


def unescaped(value: Any) -> Any:
    """The inverse of `escaped`. Plain values, of which there may be very many, take a short cut."""
    if isinstance(value, dict):
        return {
            _unescaped_key(key): element if type(element) in _PLAIN else unescaped(element)
            for key, element in value.items()
        }
    if isinstance(value, list):
        return [element if type(element) in _PLAIN else unescaped(element) for element in value]
    return value if type(value) in _PLAIN else _as_json(value)


def _as_json(value: object) -> object:
    """A value of BSON that JSON does not have, as text. Only other programs write such."""
    # BSON's 64-bit integers come back as `Int64`, a subclass of `int`.
    if isinstance(value, int):
        return int(value)
    if isinstance(value, datetime):
        return timestamp(value)
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def escaped_key(key: str) -> str:
    """A key as the name of a field."""
    if not key:
        # This cannot be mistaken for an escape, which has two digits after the `%`.
        return "%"
    return _SPECIAL.sub(lambda found: f"%{ord(found[0]):02X}", key)


def _unescaped_key(key: str) -> str:
    if "%" not in key:
        return key
    return "" if key == "%" else unquote(key)
