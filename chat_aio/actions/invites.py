"""Invites: links into a group, and redeeming them."""

import secrets
from datetime import datetime, timedelta
from typing import Any

from chat_aio.actions.answers import shapes_of
from chat_aio.actions.context import Context
from chat_aio.actions.conversations import find_viewed
from chat_aio.actions.guards import load_invitable, load_manageable
from chat_aio.actions.join_requests import ask, joined, pending
from chat_aio.actions.membership import (
    admit,
    change_membership,
    require_still_inviting,
    write_locked,
)
from chat_aio.capabilities import Capability, require
from chat_aio.errors import (
    AlreadyParticipant,
    InvalidInput,
    InviteExpired,
    InviteLimitExceeded,
    InviteNotFound,
)
from chat_aio.schema import inputs
from chat_aio.schema.fields import MAX_INVITE_SECONDS, MAX_INVITE_USES, is_id
from chat_aio.schema.models import ConversationWithUnread, Invite, InvitePreview, JoinResult
from chat_aio.store import conversations, invites
from chat_aio.store.documents import ConversationDocument, InviteDocument
from chat_aio.store.mapping import invite_from
from chat_aio.store.membership import Locked, MembershipChange
from chat_aio.store.metadata import escaped

MAX_INVITES = 50


async def create_invite(
    context: Context,
    user_id: str,
    conversation_id: str,
    *,
    expires_in_seconds: int | None = None,
    max_uses: int | None = None,
    requires_approval: bool | None = None,
    metadata: dict[str, Any] | None = None,
) -> Invite:
    """Create a link into a group. `expires_in_seconds` is at most ten years, `max_uses` a million.

    Raises InvalidInput, InvitesUnsupported, ConversationNotFound, NotGroupConversation,
    NotConversationAdmin and InviteLimitExceeded (specification 9.1).
    """
    given = inputs.read(
        inputs.NewInvite,
        metadata_within=context.options.max_metadata_bytes,
        expires_in_seconds=expires_in_seconds,
        max_uses=max_uses,
        requires_approval=requires_approval,
        metadata=metadata,
    )
    require(context, Capability.INVITES)
    await load_invitable(context, user_id, conversation_id)
    # After the permission: users without it get 403 for every value.
    _require_within("expiresInSeconds", given.expires_in_seconds, MAX_INVITE_SECONDS)
    _require_within("maxUses", given.max_uses, MAX_INVITE_USES)
    at, seconds = context.clock(), given.expires_in_seconds
    invite: InviteDocument = {
        "_id": secrets.token_urlsafe(32),
        "conversationId": conversation_id,
        "createdBy": user_id,
        "createdAt": at,
        "expiresAt": None if seconds is None else at + timedelta(seconds=seconds),
        "maxUses": given.max_uses,
        "uses": 0,
        "requiresApproval": given.requires_approval or False,
        "metadata": escaped(given.metadata or {}),
    }

    # Under the lock, so that two admins at once cannot exceed the limit.
    async def write(locked: Locked) -> InviteDocument:
        require_still_inviting(context, locked, user_id)
        if await invites.count(locked) >= MAX_INVITES:
            raise InviteLimitExceeded
        await invites.insert(locked, invite)
        return invite

    return invite_from(await write_locked(context, conversation_id, write))


async def list_invites(context: Context, user_id: str, conversation_id: str) -> tuple[Invite, ...]:
    """The invites of a group, newest first, spent ones included.

    Raises InvitesUnsupported, ConversationNotFound, NotGroupConversation, NotConversationAdmin.
    """
    require(context, Capability.INVITES)
    await load_manageable(context, user_id, conversation_id)
    found = await invites.list_newest(context.database, conversation_id)
    shown, _ = await shapes_of(context, found, invite_from, stored_bytes=0)
    return shown


async def revoke_invite(context: Context, user_id: str, code: str) -> None:
    """Revoke an invite; nothing happens if there is none with this code.

    Raises InvitesUnsupported and NotConversationAdmin.
    """
    require(context, Capability.INVITES)
    invite = await invites.find(context.database, code) if is_id(code) else None
    if invite is not None:
        await _revoke(context, user_id, invite["conversationId"], code)


async def revoke_invite_of(context: Context, user_id: str, conversation_id: str, code: str) -> None:
    """Revoke an invite of this group; the caller must be its admin even if there is no such invite.

    Raises ConversationNotFound and NotGroupConversation as well.
    """
    require(context, Capability.INVITES)
    await _revoke(context, user_id, conversation_id, code)


async def _revoke(context: Context, user_id: str, conversation_id: str, code: str) -> None:
    await load_manageable(context, user_id, conversation_id)
    if is_id(code):
        await invites.delete(context.database, conversation_id, code)


async def get_invite_preview(context: Context, user_id: str, code: str) -> InvitePreview:
    """Show the group behind a link. Raises InvitesUnsupported, InviteNotFound, and InviteExpired
    (unless the caller is in the group)."""
    require(context, Capability.INVITES)
    invite, conversation = await _load(context, code)
    inside = _is_in(conversation, user_id)
    # Members may see the preview of a spent link: it still leads them into their group.
    if not inside and _is_spent(invite, at=context.clock()):
        raise InviteExpired
    return InvitePreview(
        conversation_id=conversation["_id"],
        name=conversation["name"],
        participant_count=len(conversation["participants"]),
        requires_approval=invite["requiresApproval"],
        invited_by=invite["createdBy"],
        already_participant=inside,
    )


async def accept_invite(
    context: Context, user_id: str, code: str, *, message: str | None = None
) -> JoinResult:
    """Redeem a link: join the group, or request to join if the link needs approval.

    If the caller is already in the group or has a pending request, that is returned and no use of
    the link is counted.

    Raises InvalidInput, InvitesUnsupported, InviteNotFound, ConversationNotFound (for one that
    cannot be read), InviteExpired, GroupLimitExceeded and ConversationBanned (with `room_controls`)
    (specification 9.3).
    """
    given = inputs.read(inputs.JoinRequestCreate, message=message)
    require(context, Capability.INVITES)
    invite, conversation = await _load(context, code)
    if _is_in(conversation, user_id):
        return joined(await _load_viewed(context, user_id, conversation["_id"]))
    place = user_id, conversation["_id"]

    # Uses are counted in the transaction that adds the user: a link with one use admits one user.
    async def use(locked: Locked) -> None:
        before = await invites.count_use(locked, code)
        if before is None:
            raise InviteNotFound
        if _is_spent(before, at=context.clock()):
            raise InviteExpired

    async def join(locked: Locked) -> MembershipChange | None:
        if locked.role_of(user_id):
            return None
        await use(locked)
        # The inviter is the author of the change: an admin let the user in, not they themselves.
        return await admit(context, locked, [user_id], actor_id=invite["createdBy"])

    if not invite["requiresApproval"]:
        return joined(await change_membership(context, *place, join))
    try:
        request = await ask(context, *place, given.message, invite_code=code, before=use)
    except AlreadyParticipant:
        return joined(await _load_viewed(context, user_id, conversation["_id"]))
    return pending(request)


def _is_spent(invite: InviteDocument, *, at: datetime) -> bool:
    """Whether an invite has expired or is used up (specification 9.1)."""
    expired = invite["expiresAt"] is not None and invite["expiresAt"] <= at
    return expired or (invite["maxUses"] is not None and invite["uses"] >= invite["maxUses"])


async def _load(context: Context, code: str) -> tuple[InviteDocument, ConversationDocument]:
    """The invite and its group. Raises InviteNotFound, also if the invite was revoked."""
    invite = await invites.find(context.database, code) if is_id(code) else None
    if invite is None:
        raise InviteNotFound
    found = await conversations.find(context.database, invite["conversationId"])
    if found is None:
        raise InviteNotFound
    return invite, found


async def _load_viewed(
    context: Context, user_id: str, conversation_id: str
) -> ConversationWithUnread:
    found = await find_viewed(context, user_id, conversation_id)
    if found is None:
        raise InviteNotFound
    return found


def _is_in(conversation: ConversationDocument, user_id: str) -> bool:
    return any(participant["userId"] == user_id for participant in conversation["participants"])


def _require_within(name: str, value: int | None, most: int) -> None:
    if value is not None and not 1 <= value <= most:
        raise InvalidInput(f"{name} must be a whole number from 1 to {most}")
