"""The routes of the moderators' desk, which a chat has with the option `moderation_desk`."""

from chat_aio import errors
from chat_aio.actions.desk import (
    find_messages,
    remove_messages,
    report_groups,
    restoring,
    standing,
)
from chat_aio.schema import desk
from chat_aio.web.operations import Listing, Operation
from chat_aio.web.refusals import MODERATING

AT_MESSAGE = (*MODERATING, errors.MessageNotFound)

DESK_ROUTES: tuple[Operation, ...] = (
    Listing(
        "GET",
        "/moderation/desk/messages",
        find_messages.find_messages,
        query=desk.MessageFinding,
        errors=MODERATING,
    ),
    Operation(
        "GET",
        "/moderation/desk/messages/{message_id}",
        find_messages.look_at_message,
        query=desk.Around,
        errors=AT_MESSAGE,
    ),
    Operation(
        "GET",
        "/moderation/desk/messages/{message_id}/versions",
        find_messages.list_versions,
        envelope="versions",
        errors=AT_MESSAGE,
    ),
    Operation(
        "POST",
        "/moderation/desk/messages/{message_id}/remove",
        remove_messages.remove_message,
        body=desk.OneRemoval,
        body_optional=True,
        envelope="message",
        errors=AT_MESSAGE,
    ),
    Operation(
        "POST",
        "/moderation/desk/messages/{message_id}/restore",
        restoring.restore_message,
        envelope="message",
        errors=(*AT_MESSAGE, errors.MessageNotRestorable),
    ),
    Operation(
        "POST",
        "/moderation/desk/removals",
        remove_messages.remove_messages,
        body=desk.ManyRemovals,
        errors=MODERATING,
    ),
    Operation(
        "GET",
        "/moderation/desk/users/{target_user_id}",
        standing.get_standing,
        query=desk.Sharing,
        envelope="standing",
        errors=MODERATING,
    ),
    Operation(
        "GET",
        "/moderation/desk/reports",
        report_groups.find_reports,
        query=desk.ReportFinding,
        errors=MODERATING,
    ),
    Operation(
        "GET",
        "/moderation/desk/report-groups",
        report_groups.list_report_groups,
        query=desk.GroupList,
        errors=MODERATING,
    ),
    Operation(
        "POST",
        "/moderation/desk/report-groups/resolve",
        report_groups.resolve_reports,
        body=desk.GroupDecision,
        errors=MODERATING,
    ),
)
