"""The two doors: a valid request for each route, and the same call of the server API."""

import inspect
import json
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from chat_aio import ChatError
from chat_aio.schema import inputs
from chat_aio.schema.wire import Wire, json_from
from chat_aio.web.held_message_routes import HELD_MESSAGE_ROUTES
from chat_aio.web.inbox_routes import INBOX_ROUTES
from chat_aio.web.key_routes import KEY_ROUTES
from chat_aio.web.moderation_tools_routes import MODERATION_TOOLS_ROUTES
from chat_aio.web.operations import Operation
from chat_aio.web.optional_routes import DELETION
from chat_aio.web.room_routes import ROOM_ROUTES
from chat_aio.web.routes import ROUTES
from tests.access.conftest import PLUGINS, Served
from tests.plugins.attachments.uploading import PNG, form_of

Given = dict[str, Any]

GIVEN: dict[str, Given] = {
    "POST /conversations": {"otherUserId": "{other}"},
    "POST /conversations new unwanted": {"otherUserId": "{other}", "metadata": {"unwanted": True}},
    "POST /conversations found unwanted": {
        "otherUserId": "{other}",
        "metadata": {"unwanted": True},
    },
    "POST /conversations/group new unwanted": {"metadata": {"unwanted": True}},
    "POST /conversations/{conversation_id}/messages": {"body": "a word"},
    "POST /conversations/{conversation_id}/messages system": {"body": "a word", "role": "system"},
    "GET /search/messages": {"q": "word", "conversationId": "{conversation_id}"},
    "GET /users": {"ids": "{asker},{outlaw}"},
    **{
        f"GET /stream {about} followed": {"conversationIds": "{conversation_id}"}
        for about in ("group", "channel", "direct")
    },
    "GET /search/messages mine": {"q": "word"},
    "GET /search/messages filtered": {"senderId": "{asker}", "mentions": "me"},
    "GET /search/messages group filtered": {
        "senderId": "{asker}",
        "conversationId": "{conversation_id}",
    },
    "GET /search/messages direct filtered": {
        "senderId": "{asker}",
        "conversationId": "{conversation_id}",
    },
    "POST /conversations/{conversation_id}/read": {"messageId": "{message_id}"},
    "PATCH /messages/{message_id}": {"body": "another word"},
    "POST /messages/{message_id}/forward": {"conversationId": "{to_conversation_id}"},
    "POST /messages/{message_id}/forward system": {
        "conversationId": "{to_conversation_id}",
        "role": "system",
    },
    "POST /messages/{message_id}/reactions": {"emoji": "+1"},
    "DELETE /messages/{message_id}/reactions": {"emoji": "+1"},
    "PATCH /conversations/{conversation_id}": {"name": "a new name"},
    "POST /conversations/{conversation_id}/participants": {"userIds": ["{asker}"]},
    "DELETE /conversations/{conversation_id}/participants": {"userId": "{target}"},
    "PATCH /conversations/{conversation_id}/participants": {"userId": "{target}", "role": "admin"},
    "PATCH /conversations/{conversation_id}/join-requests": {
        "userId": "{asker}",
        "decision": "approve",
    },
    "POST /moderation/blocks": {"targetUserId": "{outlaw}"},
    "DELETE /moderation/blocks": {"targetUserId": "{outlaw}"},
    "POST /moderation/mutes": {"conversationId": "{conversation_id}"},
    "DELETE /moderation/mutes": {"conversationId": "{conversation_id}"},
    "POST /moderation/reports": {
        "targetType": "{target_type}",
        "targetId": "{target_id}",
        "reason": "spam",
    },
    "POST /moderation/reports another": {
        "targetType": "user",
        "targetId": "{asker}",
        "reason": "spam",
    },
    "PATCH /moderation/reports/{report_id}": {"status": "triaged"},
    "POST /moderation/bans": {"targetUserId": "{asker}"},
    "POST /conversations/{conversation_id}/typing": {"isTyping": True},
    "GET /presence": {"userIds": "{asker}"},
    "POST /conversations/{conversation_id}/bans": {"userId": "{asker}"},
    "POST /conversations/{conversation_id}/pins": {"messageId": "{message_id}"},
    "POST /conversations/{conversation_id}/unread": {"messageId": "{message_id}"},
    "PATCH /conversations/{conversation_id}/view": {"archived": True},
    "POST /conversations/{conversation_id}/threads/{root_id}/read": {"messageId": "{root_id}"},
    "GET /moderation/tools/messages": {"userId": "{asker}"},
    "POST /moderation/tools/removals": {"userId": "{asker}"},
    "POST /moderation/tools/report-groups/resolve": {
        "targetType": "user",
        "targetId": "{asker}",
        "status": "triaged",
    },
    "POST /moderation/held/release": {"heldId": "{held_id}"},
    "POST /moderation/held/discard": {"heldId": "{held_id}"},
    "POST /conversations/{conversation_id}/drafts/append": {
        "draftId": "{draft_id}",
        "index": 1,
        "text": "word",
    },
    "POST /conversations/{conversation_id}/drafts/finish": {"draftId": "{draft_id}"},
    "POST /conversations/{conversation_id}/drafts/stop": {"draftId": "{draft_id}"},
    "POST /conversations/{conversation_id}/drafts/cancel": {"draftId": "{draft_id}"},
    "PUT /notifications/settings": {"quietHours": None},
    "PUT /conversations/{conversation_id}/notifications": {"level": "none"},
    "POST /notifications/devices": {
        "kind": "web",
        "token": "https://fcm.googleapis.com/x",
        "keys": {"p256dh": "BA" + "A" * 85, "auth": "A" * 22},
    },
    "DELETE /notifications/devices": {"deviceId": "x"},
    "POST /conversations/group keyed": {"key": "a key"},
    "GET /conversations keyed": {"key": "a key"},
    "PUT /conversations/{conversation_id}/participants": {"participants": {"{asker}": "admin"}},
    "list_messages_after": {"seq": 0},
    "conversations.get_or_create_group": {
        "key": "a key",
        "participants": {"{asker}": "admin"},
    },
    "conversations.create_group": {"participants": {"{asker}": "admin"}},
    "conversations.find_conversation": {"key": "{conversation_id}"},
    "conversations.find_conversations": {"metadata": {"orderId": "7"}},
    "conversations.set_metadata": {"metadata": {"orderId": "7"}},
}
"""The body, or the query of a GET, with a world's names in braces; others need nothing. What the
server API is asked for alone has the name of its method."""

CONTRACTS = {(door.method, door.path) for door in ROUTES}
ADDED = [
    route
    for route in (
        *KEY_ROUTES,
        DELETION,
        *ROOM_ROUTES,
        *INBOX_ROUTES,
        *MODERATION_TOOLS_ROUTES,
        *HELD_MESSAGE_ROUTES,
    )
    if (route.method, route.path) not in CONTRACTS
]
"""What options add; others of their routes are the contract's, with further fields."""

OPERATIONS = {f"{door.method} {door.path}": door for door in (*ROUTES, *ADDED)}
PLUGIN_ROUTES = {
    f"{door.method} {door.path}": door for plugin in PLUGINS for door in plugin().routes
}
ALL = (*OPERATIONS, *PLUGIN_ROUTES)
UPLOADS = {
    route
    for route, plugin_route in PLUGIN_ROUTES.items()
    if plugin_route.max_upload_bytes is not None
}


class Outcome(NamedTuple):
    """What came of a call: `code` is None where it succeeded, `result` is the answer as JSON."""

    code: str | None
    result: Any
    status: int | None = None


def given_for(route: str, about: str, names: Mapping[str, str]) -> Given:
    """The request about a world's things."""
    given = GIVEN.get(f"{route} {about}", GIVEN.get(route, {}))
    return {name: _filled(value, names) for name, value in given.items()}


def _filled(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_filled(item, names) for item in value]
    if isinstance(value, dict):
        return {_filled(key, names): _filled(item, names) for key, item in value.items()}
    return value.format(**names) if isinstance(value, str) else value


def shapes_of(route: str) -> tuple[type[inputs.Input] | None, type[inputs.Input] | None]:
    """What a route reads out of the query, and out of the body."""
    operation = OPERATIONS.get(route)
    return (operation.query, operation.body) if isinstance(operation, Operation) else (None, None)


async def through_http(
    served: Served, route: str, names: Mapping[str, str], given: Given, user_id: str | None
) -> Outcome:
    """The outcome of a request; without a user, of one that is not signed in."""
    path = route.split(" ")[1].format(**{key: quote(name, safe="") for key, name in names.items()})
    if route in UPLOADS:
        answer = await served.ask(route, path, user_id, data=form_of(PNG, "a.png", "image/png"))
    elif route.startswith("GET"):
        answer = await served.ask(route, f"{path}?{urlencode(given)}", user_id)
    else:
        answer = await served.ask(route, path, user_id, json=given)
    result = answer.json["error"]["message"] if answer.code else answer.json
    return Outcome(answer.code, result, answer.status)


async def through_api(
    served: Served, route: str, method: str, names: Mapping[str, str], given: Given, user_id: str
) -> Outcome:
    """The outcome of the same call in this process."""
    shape = next(filter(None, shapes_of(route)), None)
    is_apart = method.startswith(("conversations.", "rooms.", "inbox.", "moderation_tools."))
    call = attrgetter(method)(served.chat if is_apart else served.chat.api)
    wanted = inspect.signature(call).parameters
    places = {name: value for name, value in names.items() if name in wanted}
    arguments = {**places, **(shape.arguments(given) if shape else given)}
    try:
        return Outcome(None, _plain(await call(user_id, **arguments)))
    except ChatError as refusal:
        return Outcome(refusal.code, str(refusal))


def _plain(result: Any) -> Any:
    """A result of the server API as the JSON of an answer."""
    if isinstance(result, Wire):
        return json.loads(json_from(result))
    return [_plain(item) for item in result] if isinstance(result, tuple) else result
