"""Banning and unbanning, planned first: a command shows the plan, or carries it out with the
actions that moderators have over HTTP."""

from dataclasses import dataclass
from datetime import datetime

from chat_aio.actions import bans
from chat_aio.actions.context import Context
from chat_aio.actions.guards import require_user
from chat_aio.errors import BanNotFound
from chat_aio.schema.models import Ban
from chat_aio.store import bans as stored_bans
from chat_aio.store.documents import BanDocument
from chat_aio.store.maintenance import personal_data
from chat_aio.store.mapping import ban_from


@dataclass(frozen=True, slots=True)
class BanPlan:
    """The ban to make, and the ban in force that it would replace or that makes it unnecessary.
    `is_known` is whether the user has ever written, or is in a conversation."""

    new: BanDocument
    standing: Ban | None
    is_known: bool

    @property
    def changes(self) -> bool:
        """Whether there is no ban in force that ends at the same time."""
        return self.standing is None or self.standing.expires_at != self.new["expiresAt"]


async def plan_ban(
    context: Context,
    user_id: str,
    target_user_id: str,
    *,
    reason: str | None,
    expires_at: datetime | None,
) -> BanPlan:
    """Raises UserBanned, and as `ban_user`."""
    await require_user(context, user_id)
    new = await bans.new_ban(context, user_id, target_user_id, reason=reason, expires_at=expires_at)
    chosen = stored_bans.active(target_user_id, at=new["createdAt"])
    # At the time of the new ban, so that the plan shows what `put_ban` will find.
    found = await stored_bans.list_newest(context.database, chosen, position=None, limit=1)
    # Not `has_traces`, which reads all messages: here it is only a remark.
    is_known = await personal_data.is_known(context.database, target_user_id)
    return BanPlan(new, ban_from(found[0]) if found else None, is_known)


async def ban(context: Context, plan: BanPlan) -> tuple[Ban, bool]:
    """The ban in force, and whether it is the planned one."""
    in_force = await bans.put_ban(context, plan.new, replaces=True)
    return in_force, in_force.id == plan.new["_id"]


async def plan_unban(context: Context, user_id: str, ban_id: str) -> Ban:
    """The ban to revoke, as it is now. Raises UserBanned and BanNotFound."""
    await require_user(context, user_id)
    found = await stored_bans.find(context.database, ban_id)
    if found is None:
        raise BanNotFound
    return ban_from(found)
