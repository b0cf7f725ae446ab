"""Reactions: set and taken back by whoever may write; once per user and emoji."""

from typing import Literal

from chat_aio import inputs
from chat_aio.actions.access import acting, load_message, load_writable, require_unblocked
from chat_aio.context import Context
from chat_aio.errors import ReactionLimitExceeded
from chat_aio.models import Message
from chat_aio.store import edits, messages
from chat_aio.store.documents import Change
from chat_aio.store.views import bare_message_from, message_from


@acting
async def add_reaction(context: Context, user_id: str, message_id: str, emoji: str) -> Message:
    """React to a message, a deleted one too; returns it with all its reactions.

    Reacting again changes nothing. Raises InvalidInput, MessageNotFound, ConversationNotFound (for
    one that cannot be read), ForbiddenWrite, DirectInteractionBlocked and ReactionLimitExceeded
    (docs/behaviour.md 4.5).
    """
    given = inputs.read(inputs.Reaction, emoji=emoji)
    found = await load_message(context, message_id)
    bare = bare_message_from(found)
    snapshot = await load_writable(context, user_id, found["conversationId"], bare)
    await require_unblocked(context, snapshot)
    parents = await messages.find_parents(context.database, [found])
    changed = await edits.add_reaction(
        context.database,
        message_id,
        given.emoji,
        change=_change(context, "reaction.added", user_id, given.emoji),
        most=context.options.max_emoji_per_message,
        most_of_user=context.options.max_emoji_per_user,
    )
    if changed is None:
        changed = await load_message(context, message_id)
        if not any(
            (each["userId"], each["emoji"]) == (user_id, given.emoji)
            for each in changed["reactions"]
        ):
            raise ReactionLimitExceeded
    return message_from(changed, parents)


@acting
async def remove_reaction(context: Context, user_id: str, message_id: str, emoji: str) -> Message:
    """Take a reaction back; returns the message with all its reactions.

    Where there is none nothing changes. Raises InvalidInput, MessageNotFound, ConversationNotFound
    (for one that cannot be read), ForbiddenWrite and DirectInteractionBlocked.
    """
    given = inputs.read(inputs.Reaction, emoji=emoji)
    found = await load_message(context, message_id)
    bare = bare_message_from(found)
    snapshot = await load_writable(context, user_id, found["conversationId"], bare)
    await require_unblocked(context, snapshot)
    parents = await messages.find_parents(context.database, [found])
    change = _change(context, "reaction.removed", user_id, given.emoji)
    changed = await edits.remove_reaction(context.database, message_id, given.emoji, change=change)
    return message_from(changed or await load_message(context, message_id), parents)


def _change(
    context: Context,
    kind: Literal["reaction.added", "reaction.removed"],
    user_id: str,
    emoji: str,
) -> Change:
    return {
        "id": context.new_id(),
        "at": context.clock(),
        "kind": kind,
        "actorId": user_id,
        "emoji": emoji,
    }
