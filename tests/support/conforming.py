"""What the API's description says of answers and events; all that tests see are held to it."""

import re
from functools import cache
from typing import Any

import jsonschema_rs

from chat_aio.options import Options
from chat_aio.plugins import (
    Attachments,
    Drafts,
    Filter,
    Notifications,
    Presence,
    Receipts,
    Typing,
)
from chat_aio.web.openapi.document import describe

Json = dict[str, Any]

EVERYTHING = Options(
    extra_events=True,
    inbox=True,
    room_controls=True,
    moderation_tools=True,
    prefix_search=True,
    search_filters=True,
    supervisors=True,
    conversation_keys=True,
    editable_metadata=True,
    metadata_indexes=("orderId", "status"),
)


@cache
def description() -> Json:
    """The description of a chat that has everything."""
    plugins = [
        *(Typing(), Presence(), Receipts(), Filter(), Notifications()),
        *(Drafts(), Attachments()),
    ]
    return describe(plugins=plugins, options=EVERYTHING, can_delete=True, can_send_silently=True)


def expect_described(method: str, path: str, status: int, body: Any) -> None:
    """An answer is as described: a documented status, no key or code beyond what is documented."""
    place = _place_of(method, path.partition("?")[0])
    if place is not None and not _is_off(body):
        answers = description()["paths"][place][method.lower()]["responses"]
        assert str(status) in answers, f"{method} {place}: {status} is not documented"
        _expect(body, place, method.lower(), str(status))


def expect_described_event(event: Json) -> None:
    """The data of an event is as described; a host's own plugins may tell anything else."""
    if (
        event.get("type")
        in description()["components"]["schemas"]["Event"]["discriminator"]["mapping"]
    ):
        _expect(event)


def _is_off(body: Any) -> bool:
    """Whether there is no such route here, for a plugin is off."""
    return bool(body.get("error", {}).get("code") == "NOT_FOUND")


def _expect(found: Any, *place: str) -> None:
    errors = [*_validator(*place).iter_errors(found)]
    assert not errors, f"{' '.join(place) or found['type']}: {errors[0]}"


@cache
def _validator(*place: str) -> jsonschema_rs.Draft202012Validator:
    """Of the answer of a path, method and status; without these, of events."""
    schema = {"$ref": "#/components/schemas/Event"}
    if place:
        path, method, status = place
        answer = description()["paths"][path][method]["responses"][status]
        schema = answer["content"]["application/json"]["schema"]
    whole = {**schema, "components": description()["components"]}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


def _place_of(method: str, path: str) -> str | None:
    """The path as the description has it; None for what is no route of ours."""
    for pattern, place in _patterns():
        if pattern.fullmatch(path) and method.lower() in description()["paths"][place]:
            return place
    return None


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Literal paths stand before those with parameters, which would match them as well."""
    paths = sorted(description()["paths"].keys() - {"/stream"}, key=lambda path: path.count("{"))
    return [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path) + "/?"), path) for path in paths]
