"""The routes, in the order of the interface's tables, to be held beside them."""

from aiohttp import web

from chat_aio.web import channels, conversations, groups, invites, join_requests, messages
from chat_aio.web.stream import stream

ROUTES: tuple[web.RouteDef, ...] = (
    web.post("/conversations", conversations.open_direct),
    web.get("/conversations", conversations.list_mine),
    web.get("/conversations/{conversation_id}", conversations.get),
    web.post("/conversations/{conversation_id}/messages", messages.send),
    web.get("/conversations/{conversation_id}/messages", messages.list_newest),
    web.get("/conversations/{conversation_id}/messages/{message_id}", messages.get),
    web.get("/conversations/{conversation_id}/threads/{root_id}/messages", messages.list_thread),
    web.get("/search/messages", messages.search),
    web.post("/conversations/{conversation_id}/read", messages.mark_read),
    web.patch("/messages/{message_id}", messages.edit),
    web.delete("/messages/{message_id}", messages.delete),
    web.post("/messages/{message_id}/forward", messages.forward),
    web.post("/messages/{message_id}/reactions", messages.add_reaction),
    web.delete("/messages/{message_id}/reactions", messages.remove_reaction),
    web.get("/stream", stream, allow_head=False),
    web.post("/conversations/group", groups.create_group),
    web.patch("/conversations/{conversation_id}", groups.update),
    web.post("/conversations/{conversation_id}/participants", groups.add_participants),
    web.delete("/conversations/{conversation_id}/participants", groups.remove_participant),
    web.patch("/conversations/{conversation_id}/participants", groups.set_role),
    web.post("/conversations/{conversation_id}/invites", invites.create),
    web.get("/conversations/{conversation_id}/invites", invites.list_all),
    web.delete("/conversations/{conversation_id}/invites/{code}", invites.revoke),
    web.get("/invites/{code}", invites.preview),
    web.post("/invites/{code}/accept", invites.accept),
    web.post("/conversations/{conversation_id}/join-requests", join_requests.ask),
    web.get("/conversations/{conversation_id}/join-requests", join_requests.list_some),
    web.patch("/conversations/{conversation_id}/join-requests", join_requests.resolve),
    web.get("/channels", channels.list_public),
    web.post("/conversations/{conversation_id}/join", channels.join),
)
