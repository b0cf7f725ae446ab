"""The rules of `Filter` as tables of a file: the same names and the same checks as in Python."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from difflib import get_close_matches
from typing import Any, get_type_hints

from chat_aio.plugins import Attached, Links, Repeats, Rule, Words
from chat_aio.plugins.rules import Action
from chat_aio.server.kinds import Kind, kind_of, one_of

RULES: Mapping[str, type[Rule]] = {
    "words": Words,
    "links": Links,
    "attachments": Attached,
    "repeats": Repeats,
}
"""What a table's `rule` can be."""


def rules_from(tables: Iterable[Mapping[str, Any]]) -> list[Rule]:
    """The rules that these tables describe. Raises ValueError, which names the rule and its key."""
    return [_rule_from(number, table) for number, table in enumerate(tables, start=1)]


def keys_of(rule: type[Rule]) -> dict[str, Any]:
    """What a table may have beside `rule`, with the type of each. Functions are for Python only."""
    types = get_type_hints(rule) | {"conversations": tuple[str, ...]}
    return {field.name: types[field.name] for field in fields(rule) if field.init}


def _rule_from(number: int, table: Mapping[str, Any]) -> Rule:
    name = table.get("rule")
    if not isinstance(name, str) or name not in RULES:
        raise ValueError(f"rule {number}: rule must be {one_of(tuple(RULES))}, not {name!r}")
    rule, place = RULES[name], f"rule {number} ({name})"
    types = keys_of(rule)
    given = {key: value for key, value in table.items() if key != "rule"}
    for key in given:
        if key not in types:
            raise ValueError(f"{place}: {key} is no key of it{_hint(key, types)}")
    for field in fields(rule):
        if field.init and field.default is MISSING and field.name not in given:
            raise ValueError(f"{place}: {field.name} is missing")
    try:
        return rule(**{key: _read(key, value, types[key]) for key, value in given.items()})
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _read(key: str, given: Any, type_: Any) -> Any:
    kind: Kind = kind_of(type_)
    # Elsewhere a text may stand for a list or a number; here it would be taken apart at commas.
    is_text_for_another = isinstance(given, str) and type_ not in (str, Action)
    try:
        if is_text_for_another:
            raise ValueError(given)
        return kind.read(given)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError(f"{key} must be {kind.expected}, not {given!r}") from None


def _hint(key: str, known: Iterable[str]) -> str:
    meant = get_close_matches(key, known, n=1, cutoff=0.7)
    return f"; is {meant[0]} meant?" if meant else ""
