"""Reads an operation's description out of its function's name and docstring."""

import inspect
import re
from collections.abc import Callable
from typing import Any

from pydantic.alias_generators import to_camel

from chat_aio.web.operations import Operation, Streaming
from chat_aio.web.plugins import PluginOperation

Described = Operation | Streaming | PluginOperation


def name_of(operation: Described) -> str:
    """The operation's id: the contract's name of the method, or else built from method and path."""
    if isinstance(operation, Operation):
        return to_camel(operation.documented.__name__)
    last = re.findall(r"/([a-z]\w*)", operation.path)[-1]
    return to_camel(f"{operation.method.lower()}_{last}")


def summary_of(operation: Described) -> str:
    """The first sentence of the docstring."""
    return re.split(r"(?<=[.:;])\s", prose_of(operation), maxsplit=1)[0].rstrip(".:;")


def prose_of(operation: Described) -> str:
    """The docstring without its errors, with the JSON names of fields."""
    function: Callable[..., Any]
    named: dict[str, str | None] = {}
    if isinstance(operation, Operation):
        function = operation.documented
        for shape in filter(None, (operation.query, operation.body)):
            named |= {name: field.alias for name, field in shape.model_fields.items()}
    elif isinstance(operation, Streaming):
        function = operation.handle
    else:
        function = operation.route.handler
    text = inspect.cleandoc(function.__doc__ or "")
    # Readers of the description have no such file.
    text = re.sub(r"\s*\(specification [\d.]+\)", "", text)
    text = re.sub(r"\s*Raises\s[^.]*\.", "", text)
    text = re.sub(r"`(\w+)`", lambda found: f"`{named.get(found[1]) or to_camel(found[1])}`", text)
    # An empty line has become two spaces by then: a paragraph ends there.
    return re.sub(r"\bNone\b", "null", text).replace("\n", " ").replace("  ", "\n\n").strip()
