"""Group routes: parse, call, reply."""

from aiohttp import web

from chat_aio import inputs
from chat_aio.actions import groups
from chat_aio.web.replies import reply
from chat_aio.web.requests import acting, body_of


async def create_group(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.GroupConversation, optional=True)
    made = await groups.create_group_conversation(*acting(request), **given)
    return reply(status=201, conversation=made)
