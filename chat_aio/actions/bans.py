"""Bans: keeping a user out of the whole chat, for a time or for good. The rules of all who ask for
them: `banning.py` for moderators, `maintenance/decisions.py` for operators, `guards.py` for every
action.

A ban is in force until it expires or is revoked; `store.bans.active` is the query for that.
"""

from datetime import datetime

from chat_aio.actions.context import Context
from chat_aio.actions.moderators import require_moderator
from chat_aio.capabilities import Capability, require
from chat_aio.errors import InvalidInput, UserBanned
from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import Observer
from chat_aio.schema import inputs
from chat_aio.schema.models import Ban
from chat_aio.store import audit, bans
from chat_aio.store.documents import AuditEntry, BanDocument
from chat_aio.store.mapping import ban_from


async def require_unbanned(context: Context, user_id: str) -> None:
    """Raise UserBanned if the user has an active ban and bans are enforced; asked before every
    action, every request and every stream (docs/behaviour.md 11.5)."""
    if are_enforced(context) and await context.bans.is_banned(user_id):
        notify(context.observers, Observer.ban_enforced, "request")
        raise UserBanned


def are_enforced(context: Context) -> bool:
    """Whether bans are enforced: by default if the host has `can_moderate` (docs/behaviour.md
    11.6)."""
    if Capability.MODERATION not in context.capabilities:
        return False
    wanted = context.options.enforce_bans
    return context.hooks.can_moderate is not None if wanted is None else wanted


async def new_ban(
    context: Context,
    user_id: str,
    target_user_id: str,
    *,
    reason: str | None,
    expires_at: datetime | None,
) -> BanDocument:
    """The ban that `ban_user` would make; nothing is written. Raises as `ban_user`."""
    given = inputs.read(
        inputs.NewBan, target_user_id=target_user_id, reason=reason, expires_at=expires_at
    )
    banned_id = given.target_user_id
    await require_moderator(context, user_id, "ban_user", target_user_id=banned_id)
    require(context, Capability.MODERATION)
    at = context.clock()
    if banned_id == user_id:
        raise InvalidInput("targetUserId must be another user: you cannot ban yourself")
    if given.expires_at is not None and given.expires_at <= at:
        raise InvalidInput("expiresAt must be in the future")
    return {
        "_id": context.new_id(),
        "userId": given.target_user_id,
        "createdByUserId": user_id,
        "reason": given.reason,
        "createdAt": at,
        "expiresAt": given.expires_at,
        "revokedAt": None,
        "revokedByUserId": None,
        "activeUserId": given.target_user_id,
    }


async def put_ban(context: Context, ban: BanDocument) -> Ban:
    """Keep a new ban, unless its user has an active one; returns the ban that stands."""
    entry = _entry(context, ban)
    stands = await bans.put(context.database, ban, entry, at=ban["createdAt"])
    context.bans.forget(ban["userId"])
    return ban_from(stands)


def _entry(context: Context, ban: BanDocument) -> AuditEntry:
    return audit.entry(
        context.new_id(),
        "ban",
        ban["_id"],
        actor_id=ban["createdByUserId"],
        at=ban["createdAt"],
        userId=ban["userId"],
        expiresAt=ban["expiresAt"],
    )
