"""Joining a group without being added: at once, or by a request that an admin decides."""

from collections.abc import Awaitable, Callable

from chat_aio.actions.context import Context
from chat_aio.actions.membership import write_locked
from chat_aio.actions.optional_events import publish_join_request
from chat_aio.errors import AlreadyParticipant
from chat_aio.schema.models import Joining, ViewedConversation
from chat_aio.store import join_requests
from chat_aio.store.documents import JoinRequestDocument
from chat_aio.store.mapping import join_request_from
from chat_aio.store.membership import Locked
from chat_aio.store.transactions import Unchanged

Before = Callable[[Locked], Awaitable[None]]
"""A step in the transaction of the request that checks or writes; what it raises aborts all."""


async def ask(
    context: Context,
    user_id: str,
    conversation_id: str,
    message: str | None,
    *,
    invite_code: str | None = None,
    before: Before,
) -> JoinRequestDocument:
    """Make a join request, which replaces an earlier one that was decided. If one is pending,
    return that without calling `before`. Raises AlreadyParticipant."""

    place = conversation_id, user_id
    made = False
    if waiting := await join_requests.find_pending(context.database, *place):
        return waiting  # Without the lock, so that repeated requests do not hold up sends.

    async def write(locked: Locked) -> JoinRequestDocument:
        nonlocal made
        made = False  # A transaction may run several times.
        if locked.role_of(user_id):
            raise AlreadyParticipant
        earlier = await join_requests.find(locked, user_id)
        if earlier and earlier["status"] == "pending":
            raise Unchanged(earlier)
        await before(locked)
        request = _new_request(context, place, message, invite_code)
        await join_requests.put(locked, request)
        made = True
        return request

    request = await write_locked(context, conversation_id, write)
    if made:
        await publish_join_request(context, "join_request.created", request)
    return request


def _new_request(
    context: Context, place: tuple[str, str], message: str | None, invite_code: str | None
) -> JoinRequestDocument:
    conversation_id, user_id = place
    return {
        "_id": context.new_id(),
        "conversationId": conversation_id,
        "userId": user_id,
        "status": "pending",
        "message": message,
        "inviteCode": invite_code,
        "createdAt": context.clock(),
        "resolvedAt": None,
        "resolvedBy": None,
        "metadata": {},
    }


def joined(conversation: ViewedConversation) -> Joining:
    """The answer for a user who is in the group now."""
    return Joining(status="joined", conversation=conversation, join_request=None)


def pending(request: JoinRequestDocument) -> Joining:
    """The answer for a user whose request waits for an admin."""
    return Joining(status="pending", conversation=None, join_request=join_request_from(request))
