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
    found = [each for each in stored if each["deletedAt"] is None]
    ids = {each["conversationId"] for each in found}
    here = await conversations.find_many(context.database, ids) if ids else {}
    asked = [
        _unread(context, each, here[each["conversationId"]])
        for each in found
        if each["conversationId"] in here
    ]
    for leave_out in (_unbanned, _unmuted, _together):
        asked = await leave_out(context, asked)
    if context.permissions.asks_host:
        asked = [await _readable(context, each) for each in asked]
    return {each.message.id: each for each in asked}


def _unread(
    context: Context, message: MessageDocument, conversation: ConversationDocument
) -> Audience:
    """Those who have not read a message. Nobody is told of one in a blocked direct conversation."""
    inside = () if conversation.get("blockedBy") else conversation["participants"]
    return Audience(
        message=bare_message_from(message),
        mentions=frozenset(each["userId"] for each in message["mentions"]),
        conversation=conversation_from(conversation, room_controls=context.options.room_controls),
        user_ids=tuple(
            each["userId"]
            for each in inside
            if each["userId"] != message["senderId"]
            and max(each["lastReadSeq"], each.get("hiddenUpto", 0)) < message["seq"]
            and aware(each["joinedAt"]) <= aware(message["createdAt"])
        ),
    )


async def _unbanned(context: Context, asked: Sequence[Audience]) -> list[Audience]:
    if not are_enforced(context):
        return [*asked]
    users = {user_id for each in asked for user_id in each.user_ids}
    banned = await context.bans.banned_among([*users])
    return [_without(each, banned) for each in asked]


async def _unmuted(context: Context, asked: Sequence[Audience]) -> list[Audience]:
    pairs = {(user_id, each.conversation.id) for each in asked for user_id in each.user_ids}
    muted = await mutes.muted_among(context.database, [*pairs])
    by_conversation: dict[str, set[str]] = {}
    for user_id, conversation_id in muted:
        by_conversation.setdefault(conversation_id, set()).add(user_id)
    return [_without(each, by_conversation.get(each.conversation.id, ())) for each in asked]


async def _together(context: Context, asked: Sequence[Audience]) -> list[Audience]:
    """With `separate_blocked`, leave out those between whom and the sender there is a block."""
    if not context.options.separate_blocked:
        return [*asked]
    pairs = {(each.message.sender_id, user_id) for each in asked for user_id in each.user_ids}
    apart = await blocks.pairs_apart(context.database, pairs)
    by_sender: dict[str, set[str]] = {}
    for sender_id, user_id in apart:
        by_sender.setdefault(sender_id, set()).add(user_id)
    return [_without(each, by_sender.get(each.message.sender_id, ())) for each in asked]


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
    return replace(asked, user_ids=tuple(each for each in asked.user_ids if each not in gone))
