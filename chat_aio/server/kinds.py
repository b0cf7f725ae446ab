"""How the value of a setting is read from text, or from the native types of a TOML file."""

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from chat_aio.capabilities import Capability
from chat_aio.options import Quotas

SWITCH = {"true": True, "1": True, "yes": True, "on": True} | {
    "false": False,
    "0": False,
    "no": False,
    "off": False,
}


@dataclass(frozen=True, slots=True)
class Kind:
    """`read` gets what a flag, a variable or a file gives. For anything that is not `expected` it
    raises an error of Python's own. `shape` stands behind the flag; a switch has none."""

    shape: str | None
    expected: str
    read: Callable[[Any], Any]


def kind_of(type_: Any) -> Kind:
    """The kind of a setting of this type. Raises TypeError for what no text can stand for."""
    # None is never written: it is the default.
    (inner,) = {*get_args(type_)} - {NoneType} if NoneType in get_args(type_) else (type_,)
    origin, inside = get_origin(inner), get_args(inner)
    if inner == TABLES:
        return Kind("JSON", "a list of tables", _tables)
    if inner in SCALARS:
        return SCALARS[inner]
    if inner is Quotas:
        return Kind("JSON", _OF_QUOTAS, _quotas)
    if origin is Literal:
        return Kind("|".join(inside), one_of(inside), lambda given: _chosen(given, inside))
    if origin is Mapping and inside == (str, str):
        return Kind(
            "JSON",
            "a table of texts",
            lambda given: {name: _text(value) for name, value in _table(given).items()},
        )
    if origin in (Collection, frozenset, tuple) and inside[0] is Capability:
        names = {known.name.lower(): known for known in Capability}
        return Kind(
            "A,B",
            f"any of {', '.join(names)}",
            lambda given: frozenset(names[_chosen(one, tuple(names))] for one in _listed(given)),
        )
    if origin in (Collection, frozenset, tuple) and get_origin(inside[0]) is Literal:
        known = get_args(inside[0])
        return Kind(
            "A,B",
            f"any of {', '.join(known)}",
            # Once each: a plugin that is named twice is one plugin.
            lambda given: tuple(dict.fromkeys(_chosen(one, known) for one in _listed(given))),
        )
    if origin in (Collection, frozenset, tuple):
        return Kind("A,B", "texts", lambda given: tuple(_text(one) for one in _listed(given)))
    raise TypeError(f"a setting cannot be of type {type_}")


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise ValueError(given)
    return given


def _whole(given: Any) -> int:
    # `int` accepts both: true as 1, and 2.7 as 2.
    if isinstance(given, bool | float):
        raise ValueError(given)
    return int(given)


def _number(given: Any) -> float:
    if isinstance(given, bool) or not math.isfinite(float(given)):
        raise ValueError(given)
    return float(given)


def _chosen(given: Any, known: Collection[str]) -> str:
    if given not in known:
        raise ValueError(given)
    return str(given)


def one_of(known: Collection[str]) -> str:
    """`a, b or c`."""
    *most, last = known
    return f"{', '.join(most)} or {last}"


def _listed(given: Any) -> list[Any]:
    """An array; or text, with commas between."""
    if isinstance(given, str):
        return [text.strip() for text in given.split(",") if text.strip()]
    if not isinstance(given, list | tuple):
        raise ValueError(given)
    return list(given)


def _table(given: Any) -> Any:
    """A table; or text, as JSON."""
    return json.loads(given) if isinstance(given, str) else given


def _tables(given: Any) -> tuple[dict[str, Any], ...]:
    """An array of tables; or text, as JSON."""
    listed = _table(given)
    if not isinstance(listed, list | tuple) or not all(isinstance(one, dict) for one in listed):
        raise ValueError(given)
    return tuple(listed)


class UnknownName(ValueError):
    """A name in a table that has no meaning; the text names it."""


def _quotas(given: Any) -> Quotas | None:
    """Quotas that differ from the defaults. TOML has no null: `false` means the same."""
    table = _table(given)
    if table is None or table is False:
        return None
    if unknown := [name for name in table if name not in _QUOTAS]:
        meant = get_close_matches(unknown[0], _QUOTAS, n=1)
        hint = f"is it {meant[0]}?" if meant else f"there are {', '.join(_QUOTAS)}"
        raise UnknownName(f"{unknown[0]} is no quota: {hint}")
    return Quotas(**{name: None if value is False else value for name, value in table.items()})


TABLES = tuple[Mapping[str, Any], ...]

SCALARS = {
    bool: Kind(
        None,
        "true or false",
        lambda given: given if isinstance(given, bool) else SWITCH[_text(given).lower()],
    ),
    str: Kind("TEXT", "text", _text),
    int: Kind("NUMBER", "a whole number", _whole),
    float: Kind("NUMBER", "a number", _number),
}

_QUOTAS = tuple(field.name for field in fields(Quotas))
_OF_QUOTAS = (
    f"null, or a table with null or a whole number from 0 on for any of {', '.join(_QUOTAS)}"
)
