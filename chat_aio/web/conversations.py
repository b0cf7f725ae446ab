"""Conversation routes: parse, call, reply."""

from aiohttp import web

from chat_aio import inputs
from chat_aio.actions import conversations
from chat_aio.web.replies import reply, reply_shape
from chat_aio.web.requests import acting, body_of, page_of


async def open_direct(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.DirectConversation)
    found = await conversations.get_or_create_conversation(*acting(request), **given)
    return reply(conversation=found)


async def list_mine(request: web.Request) -> web.Response:
    return reply_shape(await conversations.list_conversations(*acting(request), **page_of(request)))


async def get(request: web.Request) -> web.Response:
    conversation_id = request.match_info["conversation_id"]
    found = await conversations.get_conversation(*acting(request), conversation_id)
    return reply(conversation=found)
