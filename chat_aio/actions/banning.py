"""Banning: moderators ban users, revoke bans and list them. The rules stand in `bans.py`."""

from datetime import datetime

from chat_aio.actions.bans import new_ban, put_ban
from chat_aio.actions.context import Context
from chat_aio.actions.guards import user_action
from chat_aio.actions.moderators import require_moderator
from chat_aio.capabilities import Capability, require
from chat_aio.errors import BanNotFound, InvalidInput
from chat_aio.schema import pagination
from chat_aio.schema.fields import is_id
from chat_aio.schema.models import Ban, BanPage
from chat_aio.store import audit, bans
from chat_aio.store.mapping import ban_from
from chat_aio.store.shapes import note_left_out


@user_action
async def ban_user(
    context: Context,
    user_id: str,
    target_user_id: str,
    *,
    reason: str | None = None,
    expires_at: datetime | None = None,
) -> Ban:
    """Ban a user until `expires_at`, or for good; if they are banned already, return that ban.

    This process refuses the user from the answer on, other processes within a second, and the
    user's streams end.
    Raises InvalidInput (also for oneself and a time that has passed), NotModerator and
    ModerationUnsupported (docs/behaviour.md 11.5).
    """
    ban = await new_ban(context, user_id, target_user_id, reason=reason, expires_at=expires_at)
    return await put_ban(context, ban)


@user_action
async def unban_user(context: Context, user_id: str, ban_id: str) -> Ban:
    """Revoke a ban; revoking it again changes nothing.

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


@user_action
async def list_bans(
    context: Context,
    user_id: str,
    *,
    active_only: bool = True,
    limit: int | None = None,
    cursor: str | None = None,
) -> BanPage:
    """Bans, newest first: the active ones, or with `active_only` false all that ever were.

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
    named = [each for each in page if isinstance(each.get("userId"), str)]
    if len(named) < len(page):
        note_left_out("bans", [each for each in page if each not in named])
    return BanPage(
        bans=tuple(map(ban_from, named)),
        next_cursor=last and pagination.cursor_after("bans", *bans.position_of(last)),
    )
