"""A user's view of a conversation: archive, favourite, hide until the next message, clear. Needs
the option `inbox` (specification 15.6)."""

from chat_aio.actions.context import Context
from chat_aio.actions.conversations import load_viewed
from chat_aio.actions.guards import load_readable
from chat_aio.actions.optional_events import publish_view
from chat_aio.errors import ConversationNotFound, ForbiddenRead, InvalidInput
from chat_aio.schema import inputs
from chat_aio.schema.models import ConversationWithUnread
from chat_aio.store import conversations, views
from chat_aio.store.documents import ViewDocument


async def change_view(
    context: Context,
    user_id: str,
    conversation_id: str,
    *,
    archived: bool | None = None,
    favourite: bool | None = None,
    hidden: bool | None = None,
    clear: bool | None = None,
) -> ConversationWithUnread:
    """Change the user's own view of a conversation that they are in; nobody else sees it.

    With `clear` no message up to now is shown to the user again. Raises InvalidInput,
    ConversationNotFound, and ForbiddenRead, also for users who are not in the conversation
    (specification 15.6).
    """
    given = inputs.read(
        inputs.ViewChange, archived=archived, favourite=favourite, hidden=hidden, clear=clear
    )
    if given in (inputs.ViewChange(), inputs.ViewChange(clear=False)):
        raise InvalidInput("at least one of archived, favourite, hidden and clear is required")
    await load_readable(context, user_id, conversation_id)
    # The head first: a message that is sent from here on is listed, and shown.
    head = await conversations.find_head(context.database, conversation_id)
    if head is None:
        raise ConversationNotFound
    upto = head["seq"] if given.clear else None
    fields: ViewDocument = {}
    if given.archived is not None:
        fields["archived"] = given.archived
    if given.favourite is not None:
        fields["favourite"] = given.favourite
    if given.hidden is not None:
        # A newer message lists it again.
        fields["unlistedUpToSeq"] = head["seq"] if given.hidden else -1
    at = context.clock() if context.options.extra_events else None
    if not await views.change(
        context.database, conversation_id, user_id, fields, hidden_up_to_seq=upto, at=at
    ):
        raise ForbiddenRead
    context.snapshots.forget(conversation_id)
    context.unread_tallies.outdate(user_id, conversation_id)
    # Other processes and open streams keep the border of hidden messages in memory.
    await context.signals.note_own(user_id, conversation_id, hidden_up_to_seq=upto or 0)
    viewed = await load_viewed(context, user_id, conversation_id)
    publish_view(context, user_id, viewed)
    return viewed
