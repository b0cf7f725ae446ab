"""Reactions: added and removed by users who may write; one per user and emoji, up to limits."""

from collections.abc import Sequence
from typing import Literal

from chat_aio.actions.context import Context
from chat_aio.actions.guards import (
    load_message,
    load_shown,
    require_readable,
    require_writable,
    within,
)
from chat_aio.actions.reading import load_parents
from chat_aio.actions.write_rule import require_open
from chat_aio.errors import ReactionLimitExceeded, StorageUnavailable
from chat_aio.schema import inputs
from chat_aio.schema.models import Message
from chat_aio.store import edits
from chat_aio.store.documents import Change, MessageDocument, ReactionDocument
from chat_aio.store.edits import MostReactions
from chat_aio.store.mapping import bare_message_from, message_from


async def add_reaction(context: Context, user_id: str, message_id: str, emoji: str) -> Message:
    """React to a message, even a deleted one; returns it with all its reactions.

    Reacting again changes nothing. Raises InvalidInput, MessageNotFound, ConversationNotFound (for
    one that cannot be read), ForbiddenWrite, ForbiddenRead, DirectInteractionBlocked,
    ReactionLimitExceeded and ConversationFrozen (with `room_controls`) (specification 4.5).
    """
    given = inputs.read(inputs.Reaction, emoji=emoji)
    found, snapshot = await load_shown(context, user_id, message_id)
    bare = bare_message_from(found)
    snapshot = await require_writable(context, user_id, snapshot, bare)
    await require_readable(context, user_id, snapshot, bare)
    await require_open(context, user_id, snapshot, message=bare)
    parents = await load_parents(context, user_id, [found], snapshot.hidden_from(user_id))
    return message_from(
        await _add(context, user_id, message_id, given.emoji),
        parents,
        context.database.optional_fields,
    )


async def _add(context: Context, user_id: str, message_id: str, emoji: str) -> MessageDocument:
    """Add the reaction and return the message. Raises ReactionLimitExceeded."""
    options = context.options
    most = MostReactions(
        emoji=options.max_emoji_per_message,
        of_user=options.max_emoji_per_user,
        in_all=options.max_reactions_per_message,
    )
    for _ in within(context):
        change = _change(context, "reaction.added", user_id, emoji)
        if changed := await edits.add_reaction(
            context.database, message_id, emoji, change=change, most=most
        ):
            return changed
        # The update matched nothing: the reaction existed, or a limit was reached. If neither is
        # true of the message read now, another user removed a reaction in between: try again.
        found = await load_message(context, message_id)
        if any(
            (reaction["userId"], reaction["emoji"]) == (user_id, emoji)
            for reaction in found["reactions"]
        ):
            return found
        if not _is_room(found["reactions"], emoji, user_id, most):
            raise ReactionLimitExceeded
    raise StorageUnavailable


def _is_room(
    reactions: Sequence[ReactionDocument], emoji: str, user_id: str, most: MostReactions
) -> bool:
    """Whether one more reaction fits on a message. The store guards its update with the same
    rule."""
    known = {reaction["emoji"] for reaction in reactions}
    mine = sum(reaction["userId"] == user_id for reaction in reactions)
    return (
        len(reactions) < most.in_all
        and mine < most.of_user
        and (emoji in known or len(known) < most.emoji)
    )


async def remove_reaction(context: Context, user_id: str, message_id: str, emoji: str) -> Message:
    """Remove a reaction; returns the message with all its reactions.

    If there is no such reaction, nothing changes. Raises InvalidInput, MessageNotFound,
    ConversationNotFound (for one that cannot be read), ForbiddenWrite, ForbiddenRead and
    DirectInteractionBlocked.
    """
    given = inputs.read(inputs.Reaction, emoji=emoji)
    found, snapshot = await load_shown(context, user_id, message_id)
    bare = bare_message_from(found)
    snapshot = await require_writable(context, user_id, snapshot, bare)
    await require_readable(context, user_id, snapshot, bare)
    await require_open(context, user_id, snapshot, message=bare, takes_back=True)
    parents = await load_parents(context, user_id, [found], snapshot.hidden_from(user_id))
    change = _change(context, "reaction.removed", user_id, given.emoji)
    changed = await edits.remove_reaction(context.database, message_id, given.emoji, change=change)
    return message_from(
        changed or await load_message(context, message_id),
        parents,
        context.database.optional_fields,
    )


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
