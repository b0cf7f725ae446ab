"""Message routes: parse, call, reply."""

from aiohttp import web

from chat_aio import inputs
from chat_aio.actions import editing, messages, reactions, searching, sending
from chat_aio.actions.posting import Sent
from chat_aio.errors import InvalidInput
from chat_aio.web.replies import reply, reply_shape
from chat_aio.web.requests import acting, body_of, page_of


async def send(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.NewMessage)
    given["client_message_id"] = _idempotency_key(request, given["client_message_id"])
    conversation_id = request.match_info["conversation_id"]
    sent = await sending.post_message(*acting(request), conversation_id, **given)
    return _reply_sent(sent)


async def list_newest(request: web.Request) -> web.Response:
    conversation_id = request.match_info["conversation_id"]
    page = await messages.list_messages(*acting(request), conversation_id, **page_of(request))
    return reply_shape(page)


async def get(request: web.Request) -> web.Response:
    place = request.match_info["conversation_id"], request.match_info["message_id"]
    return reply(message=await messages.get_message(*acting(request), *place))


async def list_thread(request: web.Request) -> web.Response:
    place = request.match_info["conversation_id"], request.match_info["root_id"]
    return reply_shape(await messages.list_thread(*acting(request), *place, **page_of(request)))


async def search(request: web.Request) -> web.Response:
    given = {**inputs.Search.arguments(request.query), **page_of(request)}
    return reply_shape(await searching.search_messages(*acting(request), **given))


async def edit(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.Edit)
    message_id = request.match_info["message_id"]
    return reply(message=await editing.edit_message(*acting(request), message_id, **given))


async def delete(request: web.Request) -> web.Response:
    message_id = request.match_info["message_id"]
    return reply(message=await editing.delete_message(*acting(request), message_id))


async def forward(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.Forwarding)
    given["client_message_id"] = _idempotency_key(request, given["client_message_id"])
    message_id = request.match_info["message_id"]
    return _reply_sent(await sending.post_forward(*acting(request), message_id, **given))


async def add_reaction(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.Reaction)
    message_id = request.match_info["message_id"]
    return reply(message=await reactions.add_reaction(*acting(request), message_id, **given))


async def remove_reaction(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.Reaction)
    message_id = request.match_info["message_id"]
    return reply(message=await reactions.remove_reaction(*acting(request), message_id, **given))


async def mark_read(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.Mark)
    conversation_id = request.match_info["conversation_id"]
    await messages.mark_read(*acting(request), conversation_id, **given)
    return reply(ok=True)


def _idempotency_key(request: web.Request, field: object) -> object:
    """The key from the body or the `Idempotency-Key` header; both given must be the same."""
    header = request.headers.get("Idempotency-Key")
    if header is not None and field is not None and header != field:
        raise InvalidInput("clientMessageId: the Idempotency-Key header names another key")
    return header if field is None else field


def _reply_sent(sent: Sent) -> web.Response:
    return reply(status=200 if sent.repeated else 201, message=sent.message)
