#!/usr/bin/env python3
"""Write the tables in the documents that are generated from the code: options, settings of
`serve`, methods, the plugin API and the error codes of routes. With --check it writes nothing, and
fails if a table differs."""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, get_args

from chat_aio.actions.api import (
    ConversationsAPI,
    InboxAPI,
    ModerationAPI,
    ModerationToolsAPI,
    RoomsAPI,
    ServerAPI,
    methods_of,
)
from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.options import Options, Quotas
from chat_aio.plugins import (
    Attachments,
    Drafts,
    Filter,
    Notifications,
    Plugin,
    Presence,
    Receipts,
    Typing,
)
from chat_aio.server.settings import LIBRARY_ONLY, SETTINGS, text_of
from chat_aio.web.held_message_routes import HELD_MESSAGE_ROUTES
from chat_aio.web.inbox_routes import INBOX_ROUTES
from chat_aio.web.key_routes import KEY_ROUTES
from chat_aio.web.metadata_routes import METADATA_ROUTES
from chat_aio.web.moderation_tools_routes import MODERATION_TOOLS_ROUTES
from chat_aio.web.optional_routes import LIST
from chat_aio.web.plugins import operations_of
from chat_aio.web.room_routes import ROOM_ROUTES
from chat_aio.web.routes import ROUTES

Row = tuple[str, ...]

DOCS = Path(__file__).resolve().parent.parent / "docs"
APIS: Mapping[str, type] = {
    "": ServerAPI,
    "conversations.": ConversationsAPI,
    "moderation.": ModerationAPI,
    "rooms.": RoomsAPI,
    "inbox.": InboxAPI,
    "moderation_tools.": ModerationToolsAPI,
}
KIB, MIB = 1024, 1024 * 1024


def default_of(name: str, value: Any) -> str:
    """A default as Python, numbers in their most readable form."""
    if name.endswith("_bytes"):
        return f"{value // MIB} MiB" if value % MIB == 0 else f"{value // KIB} KiB"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,g}" if value < 1_000 else f"{value:,}"
    if value in (frozenset(), ()):
        return "nothing"
    if value == "":
        return '`""`'
    return "`Quotas()`" if isinstance(value, Quotas) else f"`{value!r}`"


def options() -> Iterator[Row]:
    defaults = Options()
    for option in fields(Options):
        value = getattr(defaults, option.name)
        yield option.name, default_of(option.name, value), option.metadata["meaning"]


def settings() -> Iterator[Row]:
    """The settings of the server: those that are options are in their own table."""
    options = {option.name for option in fields(Options)}
    for setting in SETTINGS.values():
        if setting.name in options:
            continue
        default = text_of(setting.shown(setting.default))
        names = f"`{setting.flag}`", f"`{setting.variable}`", f"`{default}`"
        yield setting.name, *names, setting.meaning


def library_only() -> Iterator[Row]:
    yield from LIBRARY_ONLY.items()


def methods() -> Iterator[Row]:
    for prefix, api in APIS.items():
        for name, method in methods_of(api).items():
            _context, _user_id, *given = inspect.signature(method).parameters.values()
            names = [
                name
                for parameter in given
                # `**controls: Unpack[RoomFields]` is one parameter for each field.
                for name in (
                    get_args(parameter.annotation)[0].__annotations__
                    if parameter.kind is inspect.Parameter.VAR_KEYWORD
                    else [parameter.name]
                )
            ]
            yield prefix + name, ", ".join(names)


def described(owner: type) -> Iterator[Row]:
    """The public methods and properties of a class, with the first sentence about it."""
    for name, member in vars(owner).items():
        if name.startswith("_") or not (inspect.isfunction(member) or isinstance(member, property)):
            continue
        text = inspect.cleandoc(member.__doc__ or "")
        assert text, f"{owner.__name__}.{name} has no docstring"
        sentence, *_ = re.split(r"(?<=\.)\s+(?=[A-Z`])|\n\n", text, maxsplit=1)
        yield f"`{signature(name, member)}`", " ".join(sentence.split())


def signature(name: str, member: Any) -> str:
    """`async name(parameters)`, without self; a property is its name."""
    if isinstance(member, property):
        return name
    shown = []
    for parameter in [*inspect.signature(member).parameters.values()][1:]:
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        shown.append(str(parameter.replace(annotation=parameter.empty)))
    prefix = "async " if inspect.iscoroutinefunction(member) else ""
    return f"{prefix}{name}({', '.join(shown)})"


def codes() -> Iterator[Row]:
    plugins = [
        *(Typing(), Presence(), Receipts(), Filter(), Notifications()),
        *(Drafts(), Attachments()),
    ]
    optional = (
        LIST,
        *KEY_ROUTES,
        *ROOM_ROUTES,
        *METADATA_ROUTES,
        *INBOX_ROUTES,
        *MODERATION_TOOLS_ROUTES,
    )
    # An optional route may replace another one: it then has more errors.
    routes = {
        f"{operation.method} {operation.path}": sorted({error.code for error in operation.errors})
        for operation in (*ROUTES, *optional, *operations_of(plugins), *HELD_MESSAGE_ROUTES)
    }
    for route, found in routes.items():
        yield route, ", ".join(found) or "-"


TABLES: tuple[tuple[str, str, Callable[[], Iterable[Row]]], ...] = (
    ("reference/server-api.md", "Method | Parameters after `user_id`", methods),
    ("reference/plugin-api.md", "Method of `Plugin` | Meaning", partial(described, Plugin)),
    ("reference/plugin-api.md", "Method of `PluginAPI` | Meaning", partial(described, PluginAPI)),
    ("reference/errors.md", "Route | Codes", codes),
    ("reference/options.md", "Option | Default | Meaning", options),
    ("reference/options.md", "Setting | Flag | Variable | Default | Meaning", settings),
    ("reference/options.md", "What | Why", library_only),
)
"""The document, the table's head, and its rows."""


def rewritten(text: str, head: str, rows: Iterable[Row]) -> str:
    """The document with these rows in the table."""
    body = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    pattern = rf"(^\| {re.escape(head)} \|\n\|[-|]+\n)(?:\|.*\n)+"
    text, found = re.subn(pattern, lambda match: match[1] + body, text, flags=re.M)
    if found != 1:
        raise SystemExit(f"{found} tables with the head | {head} |")
    return text


def main(*, check: bool) -> None:
    for name, head, rows in TABLES:
        path = DOCS / name
        before = path.read_text()
        after = rewritten(before, head, rows())
        if check and after != before:
            raise SystemExit(f"docs/{name}: run `make tables` for the table | {head} |")
        path.write_text(after)


if __name__ == "__main__":
    main(check="--check" in sys.argv[1:])
