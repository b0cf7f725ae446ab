"""Join requests: requesting to join a group, directly, by an invite or from the directory of
channels, and deciding the requests."""

from collections.abc import Awaitable, Callable
from typing import Literal

from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_group, load_manageable
from chat_aio.actions.joining_rules import require_admissible
from chat_aio.actions.membership import (
    admit,
    apply_change,
    require_still_managing,
    viewed,
    write_locked,
)
from chat_aio.actions.optional_events import publish_join_request
from chat_aio.capabilities import Capability, require
from chat_aio.errors import AlreadyParticipant, JoinRequestNotFound
from chat_aio.schema import inputs, pagination
from chat_aio.schema.models import (
    ConversationWithUnread,
    JoinRequest,
    JoinRequestDecisionResult,
    JoinRequestPage,
    JoinRequestStatus,
    JoinResult,
)
from chat_aio.store import join_requests
from chat_aio.store.documents import JoinRequestDocument
from chat_aio.store.mapping import join_request_from
from chat_aio.store.membership import Locked, MembershipChange
from chat_aio.store.shapes import readable
from chat_aio.store.transactions import Unchanged

Before = Callable[[Locked], Awaitable[None]]
"""A step in the request's transaction that checks or writes; an exception aborts everything."""


async def request_to_join(
    context: Context, user_id: str, conversation_id: str, *, message: str | None = None
) -> JoinRequest:
    """Request to join a group; if a request is pending already, return that.

    `message` is trimmed, at most 500 characters. Raises InvalidInput, InvitesUnsupported,
    ConversationNotFound, NotGroupConversation, AlreadyParticipant and ConversationBanned (with
    `room_controls`) (specification 9.4).
    """
    given = inputs.read(inputs.JoinRequestCreate, message=message)
    require(context, Capability.INVITES)
    await load_group(context, conversation_id)
    asked = await ask(context, user_id, conversation_id, given.message, before=nothing)
    return join_request_from(asked)


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
    return that without calling `before`. Raises AlreadyParticipant and ConversationBanned."""
    made = False
    if waiting := await join_requests.find_pending(context.database, conversation_id, user_id):
        return waiting  # Without the lock, so that repeated requests do not hold up sends.

    async def write(locked: Locked) -> JoinRequestDocument:
        nonlocal made
        made = False  # A transaction may run several times.
        if locked.role_of(user_id):
            raise AlreadyParticipant
        await require_admissible(context, locked, [user_id])
        earlier = await join_requests.find(locked, user_id)
        if earlier and earlier["status"] == "pending":
            raise Unchanged(earlier)
        # Last, since it may count a use of an invite, which only a new request may do.
        await before(locked)
        request: JoinRequestDocument = {
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
        await join_requests.put(locked, request)
        made = True
        return request

    request = await write_locked(context, conversation_id, write)
    if made:
        await publish_join_request(context, "join_request.created", request)
    return request


async def list_join_requests(
    context: Context,
    user_id: str,
    conversation_id: str,
    *,
    status: JoinRequestStatus | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> JoinRequestPage:
    """List the requests to join a group by status, `pending` by default, newest first.

    Raises InvalidInput, InvitesUnsupported, ConversationNotFound, NotGroupConversation and
    NotConversationAdmin.
    """
    given = inputs.read(inputs.RequestList, status=status)
    size = pagination.limit_from(limit)
    position = pagination.after_from("join_requests", cursor)
    require(context, Capability.INVITES)
    await load_manageable(context, user_id, conversation_id)
    found = await join_requests.list_newest(
        context.database,
        conversation_id,
        given.status or "pending",
        position=position,
        limit=size + 1,
    )
    page, last = pagination.cut(found, size)
    return JoinRequestPage(
        join_requests=tuple(map(join_request_from, readable("join_requests", page))),
        next_cursor=last
        and pagination.cursor_after("join_requests", last["createdAt"], last["_id"]),
    )


async def resolve_join_request(
    context: Context,
    user_id: str,
    conversation_id: str,
    target_user_id: str,
    decision: Literal["approve", "deny"],
) -> JoinRequestDecisionResult:
    """Approve a user's request to join, which adds them to the group, or deny it.

    Raises InvalidInput, InvitesUnsupported, ConversationNotFound, NotGroupConversation,
    NotConversationAdmin, JoinRequestNotFound (if none is pending), and GroupLimitExceeded and
    ConversationBanned (with `room_controls`), which leave it pending (specification 9.5).
    """
    given = inputs.read(
        inputs.JoinRequestDecisionRequest, target_user_id=target_user_id, decision=decision
    )
    require(context, Capability.INVITES)
    await load_manageable(context, user_id, conversation_id)
    if given.decision == "approve":
        return await _approve(context, user_id, conversation_id, given.target_user_id)

    async def deny(locked: Locked) -> JoinRequestDocument:
        require_still_managing(context, locked, user_id)
        request = await _load_pending(locked, given.target_user_id)
        return await join_requests.resolve(
            locked, request, "denied", by=user_id, at=context.clock()
        )

    # A row that changes no participant: the lock is enough, and no epoch moves.
    denied = await write_locked(context, conversation_id, deny)
    await publish_join_request(context, "join_request.resolved", denied)
    return JoinRequestDecisionResult(join_request=join_request_from(denied), conversation=None)


async def _approve(
    context: Context, user_id: str, conversation_id: str, target_user_id: str
) -> JoinRequestDecisionResult:
    """Add the user to the group and resolve the request in one transaction."""

    async def decide(locked: Locked) -> MembershipChange:
        require_still_managing(context, locked, user_id)
        await _load_pending(locked, target_user_id)
        change = await admit(context, locked, [target_user_id], actor_id=user_id)
        # None if the user is a participant already: then nothing was approved.
        if change is None or not change.resolved:
            raise JoinRequestNotFound
        return change

    changed = await apply_change(context, conversation_id, decide)
    (request,) = changed.change.resolved if changed.change else ()
    return JoinRequestDecisionResult(
        join_request=join_request_from(request),
        conversation=await viewed(context, user_id, changed),
    )


async def _load_pending(locked: Locked, user_id: str) -> JoinRequestDocument:
    request = await join_requests.find(locked, user_id)
    if request is None or request["status"] != "pending":
        raise JoinRequestNotFound
    return request


async def nothing(_: Locked) -> None:
    """The `before` of a request without a further condition."""


def joined(conversation: ConversationWithUnread) -> JoinResult:
    """The answer for a user who is in the group now."""
    return JoinResult(status="joined", conversation=conversation, join_request=None)


def pending(request: JoinRequestDocument) -> JoinResult:
    """The answer for a user whose request is pending."""
    return JoinResult(status="pending", conversation=None, join_request=join_request_from(request))
