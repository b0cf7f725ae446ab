"""The routes of the moderation tools, which a chat has with the option `moderation_tools`."""

from chat_aio import errors
from chat_aio.actions.moderation_tools import (
    find_messages,
    remove_messages,
    report_groups,
    restoring,
    standing,
)
from chat_aio.schema import moderation_tools
from chat_aio.web.operations import Listing, Operation
from chat_aio.web.refusals import MODERATING

AT_MESSAGE = (*MODERATING, errors.MessageNotFound)

MODERATION_TOOLS_ROUTES: tuple[Operation, ...] = (
    Listing(
        "GET",
        "/moderation/tools/messages",
        find_messages.find_messages,
        query=moderation_tools.MessageFinding,
        errors=MODERATING,
    ),
    Operation(
        "GET",
        "/moderation/tools/messages/{message_id}",
        find_messages.look_at_message,
        query=moderation_tools.MessageContextQuery,
        errors=AT_MESSAGE,
    ),
    Operation(
        "GET",
        "/moderation/tools/messages/{message_id}/versions",
        find_messages.list_versions,
        envelope="versions",
        errors=AT_MESSAGE,
    ),
    Operation(
        "POST",
        "/moderation/tools/messages/{message_id}/remove",
        remove_messages.remove_message,
        body=moderation_tools.MessageRemoveRequest,
        body_optional=True,
        envelope="message",
        errors=AT_MESSAGE,
    ),
    Operation(
        "POST",
        "/moderation/tools/messages/{message_id}/restore",
        restoring.restore_message,
        envelope="message",
        errors=(*AT_MESSAGE, errors.MessageNotRestorable),
    ),
    Operation(
        "POST",
        "/moderation/tools/removals",
        remove_messages.remove_messages,
        body=moderation_tools.ManyRemovals,
        errors=MODERATING,
    ),
    Operation(
        "GET",
        "/moderation/tools/users/{target_user_id}",
        standing.get_standing,
        query=moderation_tools.SharedWithQuery,
        envelope="standing",
        errors=MODERATING,
    ),
    Operation(
        "GET",
        "/moderation/tools/reports",
        report_groups.find_reports,
        query=moderation_tools.ReportFinding,
        errors=MODERATING,
    ),
    Operation(
        "GET",
        "/moderation/tools/report-groups",
        report_groups.list_report_groups,
        query=moderation_tools.GroupList,
        errors=MODERATING,
    ),
    Operation(
        "POST",
        "/moderation/tools/report-groups/resolve",
        report_groups.resolve_reports,
        body=moderation_tools.GroupDecision,
        errors=MODERATING,
    ),
)
