#!/usr/bin/env python3
"""Write the tables of the documents that follow from the code: options, settings of `serve`,
methods and the error codes of routes. With --check it writes nothing, and fails where a table
differs."""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from chat_aio.actions.api import (
    DeskAPI,
    InboxAPI,
    ModerationAPI,
    RoomsAPI,
    ServerAPI,
    methods_of,
)
from chat_aio.options import Options, Quotas
from chat_aio.plugins import (
    Attachments,
    Drafts,
    Filter,
    Notifications,
    Presence,
    Receipts,
    Typing,
)
from chat_aio.server.settings import LIBRARY_ONLY, SETTINGS, text_of
from chat_aio.web.desk_routes import DESK_ROUTES
from chat_aio.web.held_message_routes import HELD_MESSAGE_ROUTES
from chat_aio.web.inbox_routes import INBOX_ROUTES
from chat_aio.web.plugins import operations_of
from chat_aio.web.room_routes import ROOM_ROUTES
from chat_aio.web.routes import ROUTES

Row = tuple[str, ...]

DOCS = Path(__file__).resolve().parent.parent / "docs"
APIS: Mapping[str, type] = {
    "": ServerAPI,
    "moderation.": ModerationAPI,
    "rooms.": RoomsAPI,
    "inbox.": InboxAPI,
    "desk.": DeskAPI,
}
KIB, MIB = 1024, 1024 * 1024


def default_of(name: str, value: Any) -> str:
    """A default as Python, numbers as they are read best."""
    if name.endswith("_bytes"):
        return f"{value // MIB} MiB" if value % MIB == 0 else f"{value // KIB} KiB"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,g}" if value < 1_000 else f"{value:,}"
    if value == frozenset():
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
    for setting in SETTINGS.values():
        default = text_of(setting.shown(setting.default))
        names = f"`{setting.flag}`", f"`{setting.variable}`", f"`{default}`"
        yield setting.name, *names, setting.meaning


def library_only() -> Iterator[Row]:
    yield from LIBRARY_ONLY.items()


def methods() -> Iterator[Row]:
    for prefix, api in APIS.items():
        for name, method in methods_of(api).items():
            _context, _user_id, *given = inspect.signature(method).parameters
            yield prefix + name, ", ".join(given)


def codes() -> Iterator[Row]:
    plugins = [
        *(Typing(), Presence(), Receipts(), Filter(), Notifications()),
        *(Drafts(), Attachments()),
    ]
    optional = (*ROOM_ROUTES, *INBOX_ROUTES, *DESK_ROUTES)
    # An optional route may take the place of another: then its errors are more.
    routes = {
        f"{operation.method} {operation.path}": sorted({error.code for error in operation.errors})
        for operation in (*ROUTES, *optional, *operations_of(plugins), *HELD_MESSAGE_ROUTES)
    }
    for route, found in routes.items():
        yield route, ", ".join(found) or "-"


TABLES: tuple[tuple[str, str, Callable[[], Iterable[Row]]], ...] = (
    ("reference.md", "Method | Parameters after `user_id`", methods),
    ("reference.md", "Route | Codes", codes),
    ("reference.md", "Option | Default | Meaning", options),
    ("configuration.md", "Setting | Flag | Variable | Default | Meaning", settings),
    ("configuration.md", "What | Why", library_only),
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
