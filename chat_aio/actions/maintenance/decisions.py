"""What moderators decide from the command line, planned first: the plan is shown, or carried out by
the actions that moderators have over HTTP as well."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chat_aio.actions import bans, held_messages, reports
from chat_aio.actions.context import Context
from chat_aio.actions.guards import require_user
from chat_aio.errors import BanNotFound
from chat_aio.schema.inputs import Keep
from chat_aio.schema.models import Ban, HeldMessage, Report, ReportStatus
from chat_aio.store import bans as stored_bans
from chat_aio.store.documents import BanDocument
from chat_aio.store.maintenance import users
from chat_aio.store.mapping import ban_from


@dataclass(frozen=True, slots=True)
class BanPlan:
    """A ban to be made, and the ban in force that it would replace, or that is there instead.
    `is_known` is whether the user has ever written, or is in a conversation."""

    new: BanDocument
    standing: Ban | None
    is_known: bool

    @property
    def changes(self) -> bool:
        """Whether there is no ban in force, or one that ends at another time."""
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
    found = await stored_bans.list_newest(context.database, chosen, position=None, limit=1)
    is_known = await users.is_known(context.database, target_user_id)
    return BanPlan(new, ban_from(found[0]) if found else None, is_known)


async def ban(context: Context, plan: BanPlan) -> tuple[Ban, bool]:
    """The ban that stands, and whether it is the planned one."""
    stands = await bans.put_ban(context, plan.new, replaces=True)
    return stands, stands.id == plan.new["_id"]


async def plan_unban(context: Context, user_id: str, ban_id: str) -> Ban:
    """The ban to be revoked, as it is now. Raises UserBanned and BanNotFound."""
    await require_user(context, user_id)
    found = await stored_bans.find(context.database, ban_id)
    if found is None:
        raise BanNotFound
    return ban_from(found)


@dataclass(frozen=True, slots=True)
class ReportPlan:
    """A report as it is now, and the fields that are to be set."""

    before: Report
    new: dict[str, Any]


async def plan_report(
    context: Context,
    user_id: str,
    report_id: str,
    status: ReportStatus,
    *,
    moderator_note: str | Keep | None,
) -> ReportPlan:
    """Raises UserBanned, and as `update_report`."""
    before = await reports.get_report(context, user_id, report_id)
    new = await reports.new_fields(context, user_id, status, moderator_note=moderator_note)
    return ReportPlan(before, new)


async def move_report(context: Context, user_id: str, plan: ReportPlan) -> Report:
    """The report with its new fields."""
    return await reports.put_fields(context, user_id, plan.before.id, plan.new)


async def plan_release(context: Context, user_id: str, held_id: str) -> HeldMessage:
    """The held message, if it could be sent now. Raises UserBanned, and as
    `release_held_message`."""
    await require_user(context, user_id)
    return await held_messages.require_releasable(context, user_id, held_id)


async def plan_discard(context: Context, user_id: str, held_id: str) -> HeldMessage:
    """The held message, if it could be discarded now. Raises UserBanned, and as
    `discard_held_message`."""
    await require_user(context, user_id)
    return await held_messages.require_discardable(context, user_id, held_id)
