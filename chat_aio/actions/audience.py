"""The audience of a message: the users who have not read it and may be notified of it.

Each query is made once for all messages and users together.
"""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
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
    """A message, its conversation, and the users who have not read it and may be notified.
    `read_seqs` contains the seq up to which they have read, by user."""

    message: BareMessage
    mentions: frozenset[str]
    conversation: Conversation
    user_ids: tuple[str, ...]
    read_seqs: Mapping[str, int]


async def get_recipients(context: Context, message_ids: Collection[str]) -> dict[str, Audience]:
    """The audiences of some messages, by message id, without deleted messages.

    They are the participants who have not read it, were there when it was sent, may read it, are
    not banned and have not muted the conversation. The sender is never among them, nor is anybody
    in a direct conversation with a block.
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
    # The host is asked last: each question is a separate call, and the others need one query.
    for leave_out in (_unbanned, _unmuted, _together):
        asked = await leave_out(context, asked)
    if context.permissions.asks_host:
        asked = [await _readable(context, audience) for audience in asked]
    return {audience.message.id: audience for audience in asked}


def _unread(
    context: Context, message: MessageDocument, conversation: ConversationDocument
) -> Audience:
    """The users who have not read a message; nobody if it is in a blocked direct conversation."""
    # A block keeps the two apart from then on, also for messages that were sent before it.
    inside = () if conversation.get("blockedBy") else conversation["participants"]
    read_seqs = {
        participant["userId"]: read
        for participant in inside
        if participant["userId"] != message["senderId"]
        and (read := max(participant["lastReadSeq"], participant.get("hiddenUpToSeq", 0)))
        < message["seq"]
        # Not those who joined later: for them the message is history.
        and aware(participant["joinedAt"]) <= aware(message["createdAt"])
    }
    return Audience(
        message=bare_message_from(message),
        mentions=frozenset(mention["userId"] for mention in message["mentions"]),
        conversation=conversation_from(conversation, context.database.optional_fields),
        user_ids=tuple(read_seqs),
        read_seqs=read_seqs,
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
    # One query for all pairs; a query for each message would grow with the backlog.
    by_conversation: dict[str, set[str]] = {}
    for user_id, conversation_id in muted:
        by_conversation.setdefault(conversation_id, set()).add(user_id)
    return [
        _without(audience, by_conversation.get(audience.conversation.id, ())) for audience in asked
    ]


async def _together(context: Context, asked: Sequence[Audience]) -> list[Audience]:
    """With `hide_blocked_users`, leave out users who have blocked the sender or are blocked by
    them."""
    if not context.options.hide_blocked_users:
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
            log.warning("can_read failed, so a user is not notified of a message: %r", error)
            return False

    readers = await hooks.filter_async(
        may, asked.user_ids, at_once=context.permissions.read_at_once
    )
    return replace(asked, user_ids=tuple(readers))


def _without(asked: Audience, left_out: Iterable[str]) -> Audience:
    gone = {*left_out}
    return replace(
        asked, user_ids=tuple(user_id for user_id in asked.user_ids if user_id not in gone)
    )
