"""Whom a message still concerns: who has not read it and may be told of it.

Every question is asked once for all messages and users together.
"""

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from chat_aio import hooks
from chat_aio.actions.bans import are_enforced
from chat_aio.actions.context import Context
from chat_aio.schema.models import BareMessage, Conversation
from chat_aio.schema.wire import aware
from chat_aio.store import blocks, conversations, messages, mutes
from chat_aio.store.documents import ConversationDocument, MessageDocument
from chat_aio.store.mapping import bare_message_from, conversation_from

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """A message, its conversation, and the users who have not read it and may be notified."""

    message: BareMessage
    mentions: frozenset[str]
    conversation: Conversation
    user_ids: tuple[str, ...]


async def audiences_of(context: Context, message_ids: Collection[str]) -> dict[str, Audience]:
    """The audiences of some messages, by message id, without deleted messages.

    They are the participants who have not read it, who were there when it was sent, may read it,
    are not banned and have not muted the conversation; never its sender, nor anybody in a direct
    conversation with a block.
    """
    stored = await messages.find_many(context.database, [*message_ids])
    found = [message for message in stored if message["deletedAt"] is None]
    ids = {message["conversationId"] for message in found}
    here = await conversations.find_many(context.database, ids) if ids else {}
    asked = [
        _unread(context, message, here[message["conversationId"]])
        for message in found
        if message["conversationId"] in here
    ]
    for leave_out in (_unbanned, _unmuted, _together):
        asked = await leave_out(context, asked)
    if context.permissions.asks_host:
        asked = [await _readable(context, audience) for audience in asked]
    return {audience.message.id: audience for audience in asked}


def _unread(
    context: Context, message: MessageDocument, conversation: ConversationDocument
) -> Audience:
    """Those who have not read a message. Nobody is told of one in a blocked direct conversation."""
    inside = () if conversation.get("blockedBy") else conversation["participants"]
    return Audience(
        message=bare_message_from(message),
        mentions=frozenset(mention["userId"] for mention in message["mentions"]),
        conversation=conversation_from(conversation, room_controls=context.options.room_controls),
        user_ids=tuple(
            participant["userId"]
            for participant in inside
            if participant["userId"] != message["senderId"]
            and max(participant["lastReadSeq"], participant.get("hiddenUpto", 0)) < message["seq"]
            and aware(participant["joinedAt"]) <= aware(message["createdAt"])
        ),
    )


async def _unbanned(context: Context, asked: Sequence[Audience]) -> list[Audience]:
    if not are_enforced(context):
        return [*asked]
    users = {user_id for audience in asked for user_id in audience.user_ids}
    banned = await context.bans.banned_among([*users])
    return [_without(audience, banned) for audience in asked]


async def _unmuted(context: Context, asked: Sequence[Audience]) -> list[Audience]:
    pairs = {
        (user_id, audience.conversation.id) for audience in asked for user_id in audience.user_ids
    }
    muted = await mutes.muted_among(context.database, [*pairs])
    by_conversation: dict[str, set[str]] = {}
    for user_id, conversation_id in muted:
        by_conversation.setdefault(conversation_id, set()).add(user_id)
    return [
        _without(audience, by_conversation.get(audience.conversation.id, ())) for audience in asked
    ]


async def _together(context: Context, asked: Sequence[Audience]) -> list[Audience]:
    """With `separate_blocked`, leave out those between whom and the sender there is a block."""
    if not context.options.separate_blocked:
        return [*asked]
    pairs = {
        (audience.message.sender_id, user_id) for audience in asked for user_id in audience.user_ids
    }
    apart = await blocks.pairs_apart(context.database, pairs)
    by_sender: dict[str, set[str]] = {}
    for sender_id, user_id in apart:
        by_sender.setdefault(sender_id, set()).add(user_id)
    return [_without(audience, by_sender.get(audience.message.sender_id, ())) for audience in asked]


async def _readable(context: Context, asked: Audience) -> Audience:
    """Leave out those whom the host's `can_read` refuses. A hook that fails counts as a refusal."""

    async def may(user_id: str) -> bool:
        try:
            return await context.permissions.may_read(user_id, asked.conversation, asked.message)
        except Exception as error:
            log.warning("can_read failed, so somebody is not told of a message: %r", error)
            return False

    return replace(asked, user_ids=tuple(await hooks.those(may, asked.user_ids)))


def _without(asked: Audience, left_out: Iterable[str]) -> Audience:
    gone = {*left_out}
    return replace(
        asked, user_ids=tuple(user_id for user_id in asked.user_ids if user_id not in gone)
    )
