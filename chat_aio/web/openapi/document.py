"""The API's description in OpenAPI 3.1, built from the route table, the models and docstrings.

The errors of a route are those of its row, and those that any route of its kind may answer.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel

from chat_aio.errors import ChatError
from chat_aio.options import Options
from chat_aio.plugin_types.base import Plugin
from chat_aio.schema.events import (
    EVENTS,
    EXTRA_EVENTS,
    INBOX_EVENTS,
    MODERATION_TOOLS_EVENTS,
    ROOM_EVENTS,
)
from chat_aio.schema.inputs import METADATA_PREFIX
from chat_aio.web.openapi.prose import Described, name_of, prose_of, summary_of
from chat_aio.web.openapi.schemas import Schemas, gives_file, links_to
from chat_aio.web.operations import IdempotentOperation, Opening, Operation, Streaming
from chat_aio.web.optional_routes import routes_with
from chat_aio.web.plugins import PluginOperation, operations_of
from chat_aio.web.uploads import FIELD

Json = dict[str, Any]

# Codes that no docstring names, because the middleware or the reading of a request raises them.
ANYWHERE = {
    "UNAUTHENTICATED",
    "USER_BANNED",
    "UNSUPPORTED_ENCODING",
    "RATE_LIMITED",
    "INTERNAL_ERROR",
}
CHANGING = {"FORBIDDEN_ORIGIN"}
STORED = {"STORAGE_UNAVAILABLE", "HOST_UNAVAILABLE"}
READ = {"INVALID_INPUT", "PAYLOAD_TOO_LARGE"}
FILES = {"RANGE_NOT_SATISFIABLE"}

ABOUT = """Chat over HTTP: JSON in, JSON out, live events at `/stream`.

Ids are opaque strings; times are ISO 8601 in UTC with milliseconds. Unknown fields of a request are
ignored, null for an optional one means absent. Every documented key of an answer is always there.
Errors are `{"error": {"code", "message"}}`: programs read the code, people the message."""

STREAM = """Server-sent events until the client leaves. Each event's `data` is one of the events
below, its name is the `type`. Events with an `id:` are replayed to a client that reconnects with
the last id it has seen, as EventSource does by itself. If the stream cannot be opened now, the
connection is closed without an answer: try again a little later."""
FOLLOWING = """With `conversationIds` the stream follows these conversations, also those that the
user is not in but may read: from now on, without ids and without a replay, so `Last-Event-ID` is
refused. It ends when one of them may no longer be read."""

BINARY = {"type": "string", "format": "binary"}
FORM = {"type": "object", "properties": {FIELD: BINARY}, "required": [FIELD]}
BYTES = {"*/*": {"schema": BINARY}}
FILE_ANSWERS: Json = {
    "200": {"description": "The file.", "content": BYTES},
    "206": {"description": "The range of it that `Range` names.", "content": BYTES},
    "304": {"description": "The client has it: `If-None-Match` names its `ETag`."},
    "307": {"description": "It is at another URL, for some seconds."},
}


FOUND: Mapping[type[Operation], str] = {
    IdempotentOperation: "Repeated with its key: the message as it is now.",
    Opening: "The group that has this key already.",
}
"""What an answer of 200 contains, in place of the status for something new."""


def describe(
    *,
    plugins: Sequence[Plugin] = (),
    options: Options = Options(),  # noqa: B008
    can_delete: bool = False,
    can_send_silently: bool = False,
    mount: str = "/api/chat",
) -> Json:
    """The whole description of a chat with these plugins and options below this mount; with
    `can_delete` and `can_send_silently` it has what needs these hooks."""
    routes = routes_with(
        options, plugins, can_delete=can_delete, can_send_silently=can_send_silently
    )
    operations: list[Described] = [*routes, *operations_of(plugins)]
    events = [
        *EVENTS,
        *(EXTRA_EVENTS if options.extra_events else ()),
        *(INBOX_EVENTS if options.extra_events and options.inbox else ()),
        *(ROOM_EVENTS if options.room_controls else ()),
        *(MODERATION_TOOLS_EVENTS if options.moderation_tools else ()),
        *(event for plugin in plugins for event in plugin.events),
    ]
    schemas = Schemas(operations, events)
    paths: Json = {}
    for operation in operations:
        described = _operation(operation, operations, schemas)
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    paths["/conversations"]["get"]["parameters"] += [
        {"name": f"{METADATA_PREFIX}{name}", "in": "query", "schema": {"type": "string"}}
        for name in options.metadata_indexes
    ]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "chat_aio",
            "version": version("chat-aio"),
            "description": ABOUT,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": mount}],
        "paths": paths,
        "components": {"schemas": {**schemas.components, "Event": _any_event(events, schemas)}},
    }


def _operation(operation: Described, others: Iterable[Described], schemas: Schemas) -> Json:
    # A status has one description, but often several codes.
    errors: dict[int, list[type[ChatError]]] = {}
    for code in sorted(codes_of(operation)):
        error = ChatError.catalogue[code]
        errors.setdefault(error.status, []).append(error)
    described: Json = {
        "operationId": name_of(operation),
        "tags": [operation.path.strip("/").split("/")[0]],
        "summary": summary_of(operation),
        "description": _about(operation),
        "parameters": [*_parameters(operation, schemas)],
        "responses": {
            **_answers(operation, others, schemas),
            **{str(status): _error(errors[status]) for status in sorted(errors)},
        },
    }
    if isinstance(operation, PluginOperation) and operation.route.max_upload_bytes is not None:
        described["requestBody"] = {
            "required": True,
            "content": {"multipart/form-data": {"schema": FORM}},
        }
    elif (body := schemas.body_of(operation)) is not None:
        described["requestBody"] = {
            "required": isinstance(operation, Operation) and not operation.body_optional,
            "content": {"application/json": {"schema": body}},
        }
    return described


def _about(operation: Described) -> str:
    if not isinstance(operation, Streaming):
        return prose_of(operation)
    return f"{STREAM}\n\n{FOLLOWING}" if operation.query else STREAM


def _parameters(operation: Described, schemas: Schemas) -> Iterator[Json]:
    for name in re.findall(r"\{(\w+)\}", operation.path):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    for name, schema, required in schemas.query_of(operation):
        # A list is one text with commas; OpenAPI's default is to repeat the name.
        joined = {"style": "form", "explode": False} if schema.get("type") == "array" else {}
        yield {"name": name, "in": "query", "required": required, "schema": schema, **joined}
    if isinstance(operation, IdempotentOperation):
        schema = {"type": "string", "description": "As `clientMessageId`; both must be the same."}
        yield {"name": "Idempotency-Key", "in": "header", "schema": schema}
    if isinstance(operation, Streaming):
        for name, place in (("Last-Event-ID", "header"), ("lastEventId", "query")):
            yield {"name": name, "in": place, "schema": {"type": "string"}}
        schema = {"type": "string", "enum": ["event"]}
        yield {"name": "heartbeat", "in": "query", "schema": schema}


def _answers(operation: Described, others: Iterable[Described], schemas: Schemas) -> Json:
    if isinstance(operation, Streaming):
        content = {"text/event-stream": {"schema": {"$ref": "#/components/schemas/Event"}}}
        return {"200": {"description": "The stream.", "content": content}}
    if gives_file(operation):
        return FILE_ANSWERS
    answer: Json = {
        "description": "What was asked for.",
        "content": {"application/json": {"schema": schemas.answer_to(operation)}},
    }
    if links := links_to(operation, others):
        answer["links"] = links
    if isinstance(operation, PluginOperation):
        return {str(operation.route.status): answer}
    found = FOUND.get(type(operation))
    if found is None or operation.status == 200:
        return {str(operation.status): answer}
    return {str(operation.status): answer, "200": {**answer, "description": found}}


def codes_of(operation: Described) -> set[str]:
    """The codes of all errors with which an operation may answer."""
    codes = ANYWHERE | {error.code for error in operation.errors}
    # A stream that cannot be opened is closed without an answer (specification 7.8).
    if not isinstance(operation, Streaming):
        codes |= STORED
    if isinstance(operation, Operation) and (operation.query or operation.body):
        codes |= {"INVALID_INPUT"}
    if operation.method != "GET" and (not isinstance(operation, Operation) or operation.body):
        codes |= READ
    if operation.method != "GET" or isinstance(operation, Streaming):
        codes |= CHANGING
    if gives_file(operation):
        codes |= FILES
    return codes


def _error(errors: Sequence[type[ChatError]]) -> Json:
    fields = {"code": {"enum": [kind.code for kind in errors]}, "message": {"type": "string"}}
    required = ["code", "message"]
    error = {"type": "object", "properties": fields, "required": required}
    envelope = {"type": "object", "properties": {"error": error}, "required": ["error"]}
    answer: Json = {
        "description": "\n".join(f"- `{kind.code}`: {kind.__doc__}" for kind in errors),
        "content": {"application/json": {"schema": envelope}},
    }
    if errors[0].retry_after is not None:
        seconds = {"description": "Seconds to wait.", "schema": {"type": "integer"}}
        answer["headers"] = {"Retry-After": seconds}
    return answer


def _any_event(events: Iterable[type[BaseModel]], schemas: Schemas) -> Json:
    named = [(schemas.given(event), event) for event in events]
    return {
        "oneOf": [ref for ref, _ in named],
        "discriminator": {
            "propertyName": "type",
            "mapping": {
                name: ref["$ref"]
                for ref, event in named
                for name in event.model_fields["type"].annotation.__args__  # type: ignore[union-attr]
            },
        },
    }
