"""Events beyond the contract, for hosts that switch them on (docs/behaviour.md 7.10)."""

from collections.abc import Iterable

from chat_aio.actions.conversations import find_viewed
from chat_aio.context import Context
from chat_aio.store.documents import JoinRequestDocument
from chat_aio.store.signals import Note
from chat_aio.store.views import join_request_from


async def tell_join_request(context: Context, name: str, request: JoinRequestDocument) -> None:
    """Tell the admins of a group of a request to join it, and whoever asked."""
    if not context.options.extra_events:
        return
    group = await context.snapshots.find(request["conversationId"])
    roles = group.conversation.roles if group else {}
    admins = {each for each, role in roles.items() if role == "admin"}
    _tell(
        context,
        name,
        admins | {request["userId"]},
        conversationId=request["conversationId"],
        joinRequest=join_request_from(request),
    )


async def tell_read(context: Context, user_id: str, conversation_id: str) -> None:
    """Tell a reader's own streams how far they have read by now."""
    if not context.options.extra_events:
        return
    viewed = await find_viewed(context, user_id, conversation_id)
    read = [each for each in viewed.participants if each.user_id == user_id] if viewed else []
    if viewed and read:
        _tell(
            context,
            "read.updated",
            [user_id],
            conversationId=conversation_id,
            messageId=read[0].last_read_message_id,
            unreadCount=viewed.unread_count,
        )


def _tell(context: Context, name: str, user_ids: Iterable[str], **data: object) -> None:
    """It never waits, and may be lost."""
    context.signals.tell(Note(name=name, data=data, user_ids=tuple(user_ids)))
