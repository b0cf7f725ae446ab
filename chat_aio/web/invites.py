"""Invite routes: parse, call, reply."""

from aiohttp import web

from chat_aio import inputs
from chat_aio.actions import invites
from chat_aio.web.replies import reply, reply_shape
from chat_aio.web.requests import acting, body_of


async def create(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.NewInvite, optional=True)
    conversation_id = request.match_info["conversation_id"]
    made = await invites.create_invite(*acting(request), conversation_id, **given)
    return reply(status=201, invite=made)


async def list_all(request: web.Request) -> web.Response:
    conversation_id = request.match_info["conversation_id"]
    return reply(invites=await invites.list_invites(*acting(request), conversation_id))


async def revoke(request: web.Request) -> web.Response:
    place = request.match_info["conversation_id"], request.match_info["code"]
    await invites.revoke_invite_of(*acting(request), *place)
    return reply(ok=True)


async def preview(request: web.Request) -> web.Response:
    code = request.match_info["code"]
    return reply(invite=await invites.get_invite_preview(*acting(request), code))


async def accept(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.Asking, optional=True)
    code = request.match_info["code"]
    return reply_shape(await invites.accept_invite(*acting(request), code, **given))
