"""Getting into a group without being added: at once, or by a request that an admin decides."""

from collections.abc import Awaitable, Callable

from chat_aio.actions.context import Context
from chat_aio.actions.membership import admission, alter, write_beside
from chat_aio.actions.optional_events import tell_join_request
from chat_aio.errors import AlreadyParticipant
from chat_aio.schema.models import Joining, ViewedConversation
from chat_aio.store import join_requests
from chat_aio.store.documents import JoinRequestDocument
from chat_aio.store.mapping import join_request_from
from chat_aio.store.membership import Alteration, Locked
from chat_aio.store.transactions import Unchanged

Before = Callable[[Locked], Awaitable[None]]
"""What must hold, and is written, in the same transaction; what it raises undoes all."""


async def join(
    context: Context,
    user_id: str,
    conversation_id: str,
    *,
    actor_id: str,
    already_in: type[Exception] | None = None,
    before: Before,
) -> Joining:
    """Let a user in; one who is in stays so, or meets `already_in`. `before` is not run then."""

    async def decide(locked: Locked) -> Alteration | None:
        if locked.find_participant(user_id):
            if already_in is not None:
                raise already_in
            return None
        await before(locked)
        return admission(context, locked, [user_id], actor_id=actor_id)

    return joined(await alter(context, user_id, conversation_id, decide))


async def ask(
    context: Context,
    user_id: str,
    conversation_id: str,
    message: str | None,
    *,
    invite_code: str | None = None,
    before: Before,
) -> JoinRequestDocument:
    """Ask to be let in: a new request, in the place of one that was decided. One that is pending is
    returned as it is, and `before` is not run. Raises AlreadyParticipant."""

    place = conversation_id, user_id
    made = False
    if waiting := await join_requests.find_pending(context.database, *place):
        return waiting  # Without a turn behind the lock: whoever repeats it holds up nobody.

    async def write(locked: Locked) -> JoinRequestDocument:
        nonlocal made
        made = False
        if locked.find_participant(user_id):
            raise AlreadyParticipant
        earlier = await join_requests.find(locked, user_id)
        if earlier and earlier["status"] == "pending":
            raise Unchanged(earlier)
        await before(locked)
        request = _new_request(context, place, message, invite_code)
        await join_requests.put(locked, request)
        made = True
        return request

    request = await write_beside(context, conversation_id, write)
    if made:
        await tell_join_request(context, "join_request.created", request)
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
    """The answer to who is in now."""
    return Joining(status="joined", conversation=conversation, join_request=None)


def pending(request: JoinRequestDocument) -> Joining:
    """The answer to who waits for an admin."""
    return Joining(status="pending", conversation=None, join_request=join_request_from(request))
