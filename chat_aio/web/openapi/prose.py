"""Reads an operation's description out of its function's name and docstring."""

import inspect
import re
import sys
from collections.abc import Callable
from typing import Any

from pydantic.alias_generators import to_camel

from chat_aio.errors import ChatError
from chat_aio.web.operations import Operation, Streaming
from chat_aio.web.plugins import PluginOperation

Described = Operation | Streaming | PluginOperation

ERRORS = {each.__name__: code for code, each in ChatError.catalogue.items()}


def name_of(each: Described) -> str:
    """The operation's id: the contract's name of the method, or else built from method and path."""
    if isinstance(each, Operation):
        return to_camel(each.documented.__name__)
    last = re.findall(r"/([a-z]\w*)", each.path)[-1]
    return to_camel(f"{each.method.lower()}_{last}")


def summary_of(each: Described) -> str:
    """The first sentence of the docstring."""
    return re.split(r"(?<=[.:;])\s", prose_of(each), maxsplit=1)[0].rstrip(".:;")


def prose_of(each: Described) -> str:
    """The docstring without its errors, with the JSON names of fields."""
    # Readers of the description have no such file.
    text = re.sub(r"\s*\(docs/behaviour\.md [\d.]+\)", "", _text(each))
    text = re.sub(r"\s*Raises\s[^.]*\.", "", text)
    named = _aliases(each)
    text = re.sub(r"`(\w+)`", lambda found: f"`{named.get(found[1]) or to_camel(found[1])}`", text)
    # An empty line has become two spaces by then: a paragraph ends there.
    return re.sub(r"\bNone\b", "null", text).replace("\n", " ").replace("  ", "\n\n").strip()


def _aliases(each: Described) -> dict[str, str | None]:
    """The JSON names of the request's fields."""
    shapes = (each.query, each.body) if isinstance(each, Operation) else ()
    found: dict[str, str | None] = {}
    for shape in filter(None, shapes):
        found |= {name: field.alias for name, field in shape.model_fields.items()}
    return found


def codes_in(each: Described) -> set[str]:
    """The codes of the errors that the docstring names after "Raises", and those of a function that
    it refers to with "Raises as `function`"."""
    codes = _codes(_function(each))
    return codes | _codes(each.action) if isinstance(each, Operation) else codes


def _codes(function: Callable[..., Any]) -> set[str]:
    named = " ".join(re.findall(r"Raises\s([^.]*)\.", function.__doc__ or ""))
    codes = {ERRORS[each] for each in re.findall(r"\b[A-Z]\w+", named) if each in ERRORS}
    for other in re.findall(r"as `(\w+)`", named):
        codes |= _codes(getattr(sys.modules[function.__module__], other))
    return codes


def _function(each: Described) -> Callable[..., Any]:
    if isinstance(each, Operation):
        return each.documented
    return each.handle if isinstance(each, Streaming) else each.route.handler


def _text(each: Described) -> str:
    return inspect.cleandoc(_function(each).__doc__ or "")
