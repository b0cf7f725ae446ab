"""The routes of moderation: blocks, mutes, reports and bans."""

from chat_aio import errors
from chat_aio.actions import bans, blocks, mutes, reports
from chat_aio.schema import inputs
from chat_aio.web.operations import Operation
from chat_aio.web.refusals import MODERATING, READING

MODERATION_ROUTES: tuple[Operation, ...] = (
    Operation(
        "POST",
        "/moderation/blocks",
        blocks.block_user,
        body=inputs.BlockRequest,
        envelope="block",
        quota="blocks",
        errors=(errors.ModerationUnsupported,),
    ),
    Operation(
        "DELETE",
        "/moderation/blocks",
        blocks.unblock_user,
        body=inputs.BlockRequest,
        errors=(errors.ModerationUnsupported,),
    ),
    Operation(
        "GET",
        "/moderation/blocks",
        blocks.list_blocked_users,
        query=inputs.Page,
        errors=(errors.ModerationUnsupported,),
    ),
    Operation(
        "POST",
        "/moderation/mutes",
        mutes.mute_conversation,
        body=inputs.MutedConversation,
        envelope="mute",
        errors=(*READING, errors.ModerationUnsupported),
    ),
    Operation(
        "DELETE",
        "/moderation/mutes",
        mutes.unmute_conversation,
        body=inputs.MutedConversation,
        errors=(errors.ModerationUnsupported,),
    ),
    Operation(
        "GET",
        "/moderation/mutes",
        mutes.list_muted_conversations,
        query=inputs.Page,
        errors=(errors.ModerationUnsupported,),
    ),
    Operation(
        "POST",
        "/moderation/reports",
        reports.report,
        body=inputs.NewReport,
        envelope="report",
        quota="reports",
        errors=(*READING, errors.ModerationUnsupported, errors.MessageNotFound),
    ),
    Operation(
        "GET",
        "/moderation/reports",
        reports.list_reports,
        query=inputs.ReportList,
        errors=MODERATING,
    ),
    Operation(
        "GET",
        "/moderation/reports/{report_id}",
        reports.get_report,
        envelope="report",
        errors=(*MODERATING, errors.ReportNotFound),
    ),
    Operation(
        "PATCH",
        "/moderation/reports/{report_id}",
        reports.update_report,
        body=inputs.ReportChange,
        envelope="report",
        errors=(*MODERATING, errors.ReportNotFound),
    ),
    Operation("GET", "/moderation/bans", bans.list_bans, query=inputs.BanList, errors=MODERATING),
    Operation(
        "POST",
        "/moderation/bans",
        bans.ban_user,
        body=inputs.NewBan,
        envelope="ban",
        errors=MODERATING,
    ),
    Operation(
        "DELETE",
        "/moderation/bans/{ban_id}",
        bans.unban_user,
        envelope="ban",
        errors=(*MODERATING, errors.BanNotFound),
    ),
)
