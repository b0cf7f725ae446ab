"""The routes of the inbox, which a chat has with the option `inbox`."""

from chat_aio import errors
from chat_aio.actions import inbox, thread_inbox, unread, views
from chat_aio.schema import inputs
from chat_aio.web.operations import Operation
from chat_aio.web.refusals import READING

THREAD = "/conversations/{conversation_id}/threads/{root_id}"
OF_THREAD = (*READING, errors.MessageNotFound, errors.ThreadsUnsupported)

INBOX_ROUTES: tuple[Operation, ...] = (
    Operation(
        "POST",
        "/conversations/{conversation_id}/unread",
        inbox.mark_unread,
        body=inputs.MessageChoice,
        errors=(*READING, errors.MessageNotFound),
    ),
    Operation(
        "PATCH",
        "/conversations/{conversation_id}/view",
        views.change_view,
        body=inputs.ViewChange,
        envelope="conversation",
        errors=READING,
    ),
    Operation("GET", "/unread", unread.count_unread),
    Operation("GET", "/mentions", inbox.list_mentions, query=inputs.Page),
    Operation(
        "GET",
        "/threads",
        thread_inbox.list_threads,
        query=inputs.Page,
        errors=(errors.ThreadsUnsupported,),
    ),
    Operation("POST", f"{THREAD}/follow", thread_inbox.follow_thread, errors=OF_THREAD),
    Operation("DELETE", f"{THREAD}/follow", thread_inbox.unfollow_thread, errors=OF_THREAD),
    Operation(
        "POST",
        f"{THREAD}/read",
        thread_inbox.mark_thread_read,
        body=inputs.MessageChoice,
        errors=OF_THREAD,
    ),
)
