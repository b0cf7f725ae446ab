"""The routes of the inbox, which a chat has with the option `inbox`."""

from chat_aio import errors
from chat_aio.actions import inbox
from chat_aio.schema import inputs
from chat_aio.web.operations import Operation
from chat_aio.web.refusals import READING

INBOX_ROUTES: tuple[Operation, ...] = (
    Operation(
        "POST",
        "/conversations/{conversation_id}/unread",
        inbox.mark_unread,
        body=inputs.Mark,
        errors=(*READING, errors.MessageNotFound),
    ),
    Operation("GET", "/mentions", inbox.list_mentions, query=inputs.Page),
)
