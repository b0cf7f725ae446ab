"""The moderation part of the server API: a table of contents of its actions."""

from dataclasses import dataclass

from chat_aio.actions import bans, blocks, mutes, reports
from chat_aio.actions.context import Context


@dataclass(frozen=True, kw_only=True)
class ModerationAPI(Context):
    """`chat.api.moderation`: what a host may call in its own process, as over HTTP."""

    block_user = blocks.block_user
    unblock_user = blocks.unblock_user
    list_blocked_users = blocks.list_blocked_users
    mute_conversation = mutes.mute_conversation
    unmute_conversation = mutes.unmute_conversation
    list_muted_conversations = mutes.list_muted_conversations
    report = reports.report
    list_reports = reports.list_reports
    get_report = reports.get_report
    update_report = reports.update_report
    list_bans = bans.list_bans
    ban_user = bans.ban_user
    unban_user = bans.unban_user
