"""The rules of `Filter` as tables of a file: the same names and the same checks as in Python."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from difflib import get_close_matches
from typing import Any, get_type_hints

from chat_aio.plugins import AttachmentRule, BlockedWords, LinkRule, RepeatLimit, Rule
from chat_aio.plugins.rules import Action
from chat_aio.server.kinds import Kind, kind_of, one_of

RULES: Mapping[str, type[Rule]] = {
    "words": BlockedWords,
    "links": LinkRule,
    "attachments": AttachmentRule,
    "repeats": RepeatLimit,
}
"""What a table's `rule` can be."""


def rules_from(tables: Iterable[Mapping[str, Any]]) -> list[Rule]:
    """The rules that these tables describe. Raises ValueError, which names the rule and its key."""
    rules = []
    for number, table in enumerate(tables, start=1):
        name = table.get("rule")
        if not isinstance(name, str) or name not in RULES:
            raise ValueError(f"rule {number}: rule must be {one_of(tuple(RULES))}, not {name!r}")
        rule, place = RULES[name], f"rule {number} ({name})"
        types = keys_of(rule)
        given = {key: value for key, value in table.items() if key != "rule"}
        for key in given:
            if key not in types:
                meant = get_close_matches(key, types, n=1, cutoff=0.7)
                hint = f"; is {meant[0]} meant?" if meant else ""
                raise ValueError(f"{place}: {key} is no key of it{hint}")
        for field in fields(rule):
            if field.init and field.default is MISSING and field.name not in given:
                raise ValueError(f"{place}: {field.name} is missing")
        for key, value in given.items():
            kind: Kind = kind_of(types[key])
            try:
                # Elsewhere a text may mean a list or a number; here it would be taken apart at
                # commas.
                if isinstance(value, str) and types[key] not in (str, Action):
                    raise ValueError(value)
                given[key] = kind.read(value)
            except (AttributeError, KeyError, TypeError, ValueError):
                raise ValueError(f"{place}: {key} must be {kind.expected}, not {value!r}") from None
        try:
            rules.append(rule(**given))
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
    return rules


def keys_of(rule: type[Rule]) -> dict[str, Any]:
    """What a table may have beside `rule`, with the type of each. Functions are for Python only."""
    types = get_type_hints(rule) | {"conversations": tuple[str, ...]}
    return {field.name: types[field.name] for field in fields(rule) if field.init}
