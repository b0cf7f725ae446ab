"""Join-request routes: parse, call, reply."""

from aiohttp import web

from chat_aio import inputs
from chat_aio.actions import join_requests
from chat_aio.web.replies import reply, reply_shape
from chat_aio.web.requests import acting, body_of, page_of


async def ask(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.Asking, optional=True)
    conversation_id = request.match_info["conversation_id"]
    asked = await join_requests.request_to_join(*acting(request), conversation_id, **given)
    return reply(status=201, joinRequest=asked)


async def list_some(request: web.Request) -> web.Response:
    given = {**inputs.RequestList.arguments(request.query), **page_of(request)}
    conversation_id = request.match_info["conversation_id"]
    page = await join_requests.list_join_requests(*acting(request), conversation_id, **given)
    return reply_shape(page)


async def resolve(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.Decision)
    conversation_id = request.match_info["conversation_id"]
    resolved = await join_requests.resolve_join_request(*acting(request), conversation_id, **given)
    return reply_shape(resolved)
