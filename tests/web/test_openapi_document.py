"""The description is valid, complete, and to be had outside the mount."""

import json
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from click.testing import CliRunner
from openapi_spec_validator import OpenAPIV31SpecValidator

from chat_aio import Chat, ChatError, Hooks, Options
from chat_aio.admin.cli import main
from chat_aio.errors import InvalidInput, StorageUnavailable
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
from chat_aio.web.openapi.document import ANYWHERE, CHANGING, FILES, READ, STORED, describe
from chat_aio.web.openapi.routes import add_openapi
from chat_aio.web.operations import Operation
from chat_aio.web.optional_routes import routes_with
from chat_aio.web.plugins import PluginOperation, operations_of
from chat_aio.web.routes import ROUTES
from tests.conftest import Database
from tests.spec.test_documents import table
from tests.support.conforming import EVERYTHING, description
from tests.support.people import picked_by_header

OPERATIONS = [
    (method.upper(), path, operation)
    for path, methods in description()["paths"].items()
    for method, operation in methods.items()
]
ROWS: list[Operation | PluginOperation] = [
    *(
        route
        for route in routes_with(EVERYTHING, [Filter()], can_delete=True, can_send_silently=True)
        if isinstance(route, Operation)
    ),
    *operations_of([Typing(), Presence(), Receipts(), Filter(), Notifications(), Attachments()]),
]


def test_it_is_valid() -> None:
    errors = [*OpenAPIV31SpecValidator(description()).iter_errors()]
    assert errors == []


def test_every_route_is_described() -> None:
    plugins: list[Plugin] = [
        *(Typing(), Presence(), Receipts(), Filter(), Notifications()),
        *(Drafts(), Attachments()),
    ]
    routes = {
        (route.method, route.path)
        for route in routes_with(EVERYTHING, plugins, can_delete=True, can_send_silently=True)
    }
    routes |= {(route.method, route.path) for plugin in plugins for route in plugin.routes}
    assert {(method, path) for method, path, _ in OPERATIONS} == routes
    names = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len({*names}) == len(names)
    assert all(operation["summary"] and operation["description"] for _, _, operation in OPERATIONS)


def test_what_an_option_adds_is_described_with_it_alone() -> None:
    bare = describe()
    routes = {
        (method.upper(), path) for path, methods in bare["paths"].items() for method in methods
    }
    assert routes == {(operation.method, operation.path) for operation in ROUTES}
    assert not {"RoomChange", "ConversationBan"} & bare["components"]["schemas"].keys()


def described_codes(operation: Any) -> set[str]:
    return {
        code
        for answer in operation["responses"].values()
        for code in re.findall(r"- `([A-Z_]+)`", answer["description"])
    }


def test_every_error_is_described_where_it_comes_from() -> None:
    codes = {code for _, _, operation in OPERATIONS for code in described_codes(operation)}
    assert codes == ChatError.catalogue.keys() - {"NOT_FOUND"}


def test_the_errors_of_a_route_are_those_of_its_row_and_those_of_any_route() -> None:
    for row in ROWS:
        described = described_codes(description()["paths"][row.path][row.method.lower()])
        declared = {error.code for error in row.errors}
        assert declared <= described
        assert described - declared <= ANYWHERE | STORED | READ | CHANGING | FILES


ERRORS = {error.__name__: error for error in ChatError.catalogue.values()}
IMPLIED = {InvalidInput, StorageUnavailable}
"""What docstrings may name and rows do not: any route with input, any with a database."""


@pytest.mark.parametrize(
    "operation", ROWS, ids=lambda operation: f"{operation.method} {operation.path}"
)
def test_docstrings_raise_what_rows_declare(operation: Operation | PluginOperation) -> None:
    """People read the docstring, programs the row."""
    functions = (
        [operation.route.handler]
        if isinstance(operation, PluginOperation)
        else [operation.action, operation.documented]
    )
    raised = set().union(*map(raised_by, functions))
    assert raised - IMPLIED == {*operation.errors} - IMPLIED


def raised_by(function: Callable[..., Any]) -> set[type[ChatError]]:
    """The errors that a docstring names after "Raises", also those of another function `as` that
    it raises."""
    named = " ".join(re.findall(r"Raises\s([^.]*)\.", function.__doc__ or ""))
    raised = {ERRORS[found] for found in re.findall(r"\b[A-Z]\w+", named) if found in ERRORS}
    for other in re.findall(r"as `(\w+)`", named):
        raised |= raised_by(getattr(sys.modules[function.__module__], other))
    return raised


def test_every_event_is_described() -> None:
    documented = {row[0].strip("| ") for row in table("Event")}
    for title in ("Extra event", "Inbox event", "Room event", "Moderation event", "Plugin event"):
        documented |= {row[0].strip("| ") for row in table(title)}
    assert documented == {
        *description()["components"]["schemas"]["Event"]["discriminator"]["mapping"]
    }


def test_what_is_off_is_not_described() -> None:
    bare = describe()
    assert not {"/presence", "/conversations/{conversation_id}/typing"} & bare["paths"].keys()
    told = bare["components"]["schemas"]["Event"]["discriminator"]["mapping"]
    assert not {"typing.started", "read.updated", "join_request.created"} & told.keys()


def test_it_is_printed() -> None:
    arguments = ["openapi", "--plugins", "typing,presence,receipts", "--extra-events"]
    arguments += ["--inbox", "--room-controls", "--moderation-tools"]
    arguments += ["--can-delete", "--can-send-silently"]
    arguments += ["--conversation-keys", "--editable-metadata", "--supervisors"]
    arguments += ["--search-filters"]
    arguments += ["--metadata-indexes", "orderId,status"]
    plugins: list[Plugin] = [Typing(), Presence(), Receipts()]  # `serve` has no Filter.
    expected = describe(
        plugins=plugins, options=EVERYTHING, can_delete=True, can_send_silently=True
    )
    assert json.loads(CliRunner().invoke(main, arguments).output) == expected


async def test_it_is_served_outside_the_mount(database: Database, aiohttp_client: Any) -> None:
    app = web.Application()
    hooks = Hooks(can_delete=lambda _: False, can_send_silently=lambda _: False)
    options = Options(replay_buffer_seconds=1)
    chat = Chat(database, auth=picked_by_header, hooks=hooks, options=options)
    chat.mount(app, "/talk")
    add_openapi(app)
    client = await aiohttp_client(app)
    async with client.get("/openapi.json") as response:
        assert await response.json() == describe(
            mount="/talk", can_delete=True, can_send_silently=True
        )
    async with client.get("/openapi") as response:
        page = await response.text()
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    for path, methods in describe()["paths"].items():
        assert all(f"<code>{method.upper()} {path}</code>" in page for method in methods)
    async with client.get("/talk/openapi.json") as response:
        assert response.status == 401
