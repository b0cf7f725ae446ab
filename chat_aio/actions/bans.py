"""Bans: keeping a user out of the whole chat, for a time or for good.

A ban is in force until it expires or is revoked; `store.bans.active` is the query for that.
"""

from datetime import datetime

from chat_aio.actions.context import Context
from chat_aio.actions.moderators import require_moderator
from chat_aio.capabilities import Capability, require
from chat_aio.errors import BanNotFound, InvalidInput, UserBanned
from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import Observer
from chat_aio.schema import inputs, pagination
from chat_aio.schema.fields import is_id
from chat_aio.schema.models import Ban, BanPage
from chat_aio.store import audit, bans
from chat_aio.store.documents import BanDocument
from chat_aio.store.mapping import ban_from
from chat_aio.store.shapes import note_left_out


async def require_unbanned(context: Context, user_id: str) -> None:
    """Raise UserBanned if the user has an active ban and bans are enforced; called before every
    action, request and stream (specification 11.5)."""
    if are_enforced(context) and await context.bans.is_banned(user_id):
        notify(context.observers, Observer.ban_enforced, "request")
        raise UserBanned


def are_enforced(context: Context) -> bool:
    """Whether bans are enforced: by default if the host has `can_moderate` (specification
    11.6)."""
    if Capability.MODERATION not in context.capabilities:
        return False
    wanted = context.options.enforce_bans
    return context.hooks.can_moderate is not None if wanted is None else wanted


async def ban_user(
    context: Context,
    user_id: str,
    target_user_id: str,
    *,
    reason: str | None = None,
    expires_at: datetime | None = None,
) -> Ban:
    """Ban a user until `expires_at`, or for good; if they are banned already, return that ban.

    Once this returns, this process refuses the user; other processes follow within a second, and
    the user's streams end. Raises InvalidInput (also for banning yourself and for a time in the
    past), NotModerator and ModerationUnsupported (specification 11.5).
    """
    ban = await new_ban(context, user_id, target_user_id, reason=reason, expires_at=expires_at)
    return await put_ban(context, ban)


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
        # Unique while the ban is in force, so that concurrent bans of a user become one.
        "activeUserId": given.target_user_id,
    }


async def put_ban(context: Context, ban: BanDocument, *, replaces: bool = False) -> Ban:
    """Store a new ban, unless its user has an active one; returns the ban in force. With
    `replaces`, an active ban that ends at another time is revoked in its favour."""
    entry = audit.entry(
        context.new_id(),
        "ban",
        ban["_id"],
        actor_id=ban["createdByUserId"],
        at=ban["createdAt"],
        userId=ban["userId"],
        expiresAt=ban["expiresAt"],
    )
    stands = await bans.put(context.database, ban, entry, at=ban["createdAt"], replaces=replaces)
    # This process refuses the user at once; the others learn it from the feed.
    context.bans.forget(ban["userId"])
    return ban_from(stands)


async def unban_user(context: Context, user_id: str, ban_id: str) -> Ban:
    """Revoke a ban; revoking it a second time changes nothing.

    Raises NotModerator, ModerationUnsupported and BanNotFound.
    """
    await require_moderator(context, user_id, "unban_user")
    require(context, Capability.MODERATION)
    at = context.clock()
    row = audit.entry(context.new_id(), "unban", ban_id, actor_id=user_id, at=at)
    revoked = (
        await bans.revoke(context.database, ban_id, row, by=user_id, at=at)
        if is_id(ban_id)
        else None
    )
    if revoked is None:
        raise BanNotFound
    context.bans.forget(revoked.get("userId"))
    return ban_from(revoked)


async def list_bans(
    context: Context,
    user_id: str,
    *,
    active_only: bool = True,
    limit: int | None = None,
    cursor: str | None = None,
) -> BanPage:
    """Bans, newest first: the active ones, or all if `active_only` is false.

    Raises InvalidInput, NotModerator and ModerationUnsupported.
    """
    if not isinstance(active_only, bool):
        raise InvalidInput("activeOnly must be true or false")
    size = pagination.limit_from(limit)
    position = pagination.after_from("bans", cursor)
    await require_moderator(context, user_id, "list_bans")
    require(context, Capability.MODERATION)
    chosen = bans.active(None, at=context.clock()) if active_only else {}
    found = await bans.list_newest(context.database, chosen, position=position, limit=size + 1)
    page, last = pagination.cut(found, size)
    # Not `readable`, as for other lists: a ban needs only its `userId` to be in force.
    named = [ban for ban in page if isinstance(ban.get("userId"), str)]
    if len(named) < len(page):
        note_left_out("bans", [ban for ban in page if ban not in named])
    return BanPage(
        bans=tuple(map(ban_from, named)),
        next_cursor=last and pagination.cursor_after("bans", *bans.position_of(last)),
    )
