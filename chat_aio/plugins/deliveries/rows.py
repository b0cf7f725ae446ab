"""Stored deliveries, and how they change when a try fails."""

from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]
"""A stored delivery, with `due`, `notBefore` and the number of failed `tries`."""


def has_types(row: Row, types: Mapping[str, Any]) -> bool:
    """Whether fields of a row are of these types: another program may have written it."""
    return all(isinstance(row.get(name), kind) for name, kind in types.items())
