"""Mutes: a hint for the user's own clients. They change neither unread counts nor delivery."""

from functools import partial

from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_readable, withdraw_if_deleted
from chat_aio.capabilities import Capability, require
from chat_aio.schema import inputs, pagination
from chat_aio.schema.models import Mute, MutePage
from chat_aio.store import mutes
from chat_aio.store.mapping import mute_from
from chat_aio.store.shapes import readable


async def mute_conversation(context: Context, user_id: str, conversation_id: str) -> Mute:
    """Mute a conversation; muting it a second time changes nothing (specification 11.2).

    Raises InvalidInput, ModerationUnsupported, ConversationNotFound and ForbiddenRead.
    """
    given = inputs.read(inputs.MutedConversation, conversation_id=conversation_id)
    require(context, Capability.MODERATION)
    # Not in `unmute_conversation`, which must still work after the user has left.
    await load_readable(context, user_id, given.conversation_id)
    mute = await mutes.put(
        context.database,
        {
            "_id": mutes.mute_id(user_id, given.conversation_id),
            "userId": user_id,
            "conversationId": given.conversation_id,
            "createdAt": context.clock(),
        },
    )
    withdraw = partial(mutes.remove, context.database, user_id, given.conversation_id)
    await withdraw_if_deleted(context, given.conversation_id, withdraw)
    await _note(context, user_id, given.conversation_id)
    return mute_from(mute)


async def unmute_conversation(context: Context, user_id: str, conversation_id: str) -> None:
    """Unmute a conversation, also one that the user may no longer read. Repeating it is allowed.

    Raises InvalidInput and ModerationUnsupported.
    """
    given = inputs.read(inputs.MutedConversation, conversation_id=conversation_id)
    require(context, Capability.MODERATION)
    await mutes.remove(context.database, user_id, given.conversation_id)
    await _note(context, user_id, given.conversation_id)


async def _note(context: Context, user_id: str, conversation_id: str) -> None:
    """Have the user's number of unread messages follow (specification 15.7)."""
    if context.options.sends_unread:
        context.unread_tallies.outdate(user_id, conversation_id)
        await context.signals.note_own(user_id, conversation_id)


async def list_muted_conversations(
    context: Context, user_id: str, *, limit: int | None = None, cursor: str | None = None
) -> MutePage:
    """List the conversations that the user has muted, newest first.

    Raises InvalidInput and ModerationUnsupported.
    """
    size = pagination.limit_from(limit)
    position = pagination.after_from("mutes", cursor)
    require(context, Capability.MODERATION)
    found = await mutes.list_newest(context.database, user_id, position=position, limit=size + 1)
    page, last = pagination.cut(found, size)
    return MutePage(
        mutes=tuple(map(mute_from, readable("mutes", page))),
        next_cursor=last
        and pagination.cursor_after("mutes", last["createdAt"], last["conversationId"]),
    )
