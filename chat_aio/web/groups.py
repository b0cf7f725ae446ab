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


async def update(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.ConversationChange)
    conversation_id = request.match_info["conversation_id"]
    changed = await groups.update_conversation(*acting(request), conversation_id, **given)
    return reply(conversation=changed)


async def add_participants(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.Participants)
    conversation_id = request.match_info["conversation_id"]
    changed = await groups.add_participants(*acting(request), conversation_id, **given)
    return reply(conversation=changed)


async def remove_participant(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.Leaver)
    conversation_id = request.match_info["conversation_id"]
    changed = await groups.remove_participant(*acting(request), conversation_id, **given)
    return reply(conversation=changed)


async def set_role(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.ParticipantChange)
    conversation_id = request.match_info["conversation_id"]
    changed = await groups.set_participant_role(*acting(request), conversation_id, **given)
    return reply(conversation=changed)
