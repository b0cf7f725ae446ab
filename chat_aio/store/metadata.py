"""Metadata in BSON: the caller's JSON is returned exactly, and stays queryable by its keys.

Keys that BSON or the driver would misread are percent-escaped: `$` in front, every `.`, NUL and
`%`; the empty key is a single `%`. Everything else is stored as it is.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import unquote

import orjson

from chat_aio.schema.wire import timestamp

METADATA_INDEXES = "metadata."
"""The prefix of the names of metadata indexes."""

FIRST_VERSION = 1
"""The version of metadata that were never changed."""

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


def same(stored: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether stored metadata are `given` in JSON. Python would take 1, 1.0 and True for equal."""
    return orjson.dumps(unescaped(dict(stored))) == orjson.dumps(given)


def version_of(document: Mapping[str, Any]) -> int:
    """The version of the metadata of a conversation or a message."""
    version: int = document.get("metadataVersion", FIRST_VERSION)
    return version


def having_version(version: int) -> dict[str, Any]:
    """The condition that metadata still have a version."""
    # None also matches a missing field.
    return {"metadataVersion": {"$in": [version, None]} if version == FIRST_VERSION else version}


def replacement(document: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that give a conversation or a message new metadata, with the next version."""
    return {"metadata": escaped(dict(given)), "metadataVersion": version_of(document) + 1}


def metadata_path(name: str) -> str:
    """The path of a top-level field of metadata."""
    return f"metadata.{escaped_key(name)}"


def metadata_index(name: str) -> str:
    """The name of the index of a field of conversations' metadata."""
    return f"{METADATA_INDEXES}{escaped_key(name)}"


def _as_json(value: object) -> object:
    """A BSON value without a JSON equivalent, as text. Only other programs write such values."""
    # BSON's 64-bit integers are decoded as `Int64`, a subclass of `int`.
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
