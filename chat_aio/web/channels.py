"""Channel routes: parse, call, reply."""

from aiohttp import web

from chat_aio import inputs
from chat_aio.actions import channels
from chat_aio.web.replies import reply_shape
from chat_aio.web.requests import acting, body_of, page_of


async def list_public(request: web.Request) -> web.Response:
    page = await channels.list_public_conversations(*acting(request), **page_of(request))
    return reply_shape(page)


async def join(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.Asking, optional=True)
    conversation_id = request.match_info["conversation_id"]
    return reply_shape(await channels.join_conversation(*acting(request), conversation_id, **given))
