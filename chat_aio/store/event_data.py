"""The data of events about stored changes: what streams deliver and webhooks post."""

from collections.abc import Iterator, Mapping
from typing import Any, cast, get_args

import orjson

from chat_aio.schema.events import (
    ConversationDeletedEvent,
    ConversationEvent,
    MessageEventType,
    NewConversationEvent,
    ReactionEvent,
    ReactionEventType,
)
from chat_aio.schema.models import Message, OptionalFields
from chat_aio.store.documents import Change, ChangeKind, ConversationDocument, MessageDocument
from chat_aio.store.mapping import Parents, conversation_from, message_json
from chat_aio.store.shapes import one_readable

MESSAGE_EVENTS = frozenset(get_args(MessageEventType))

PARTS: Mapping[ChangeKind, str] = {
    "participant.removed": "removedUserIds",
    "participant.added": "addedUserIds",
    "conversation.updated": "affectedUserIds",
}
"""The events of a change of all participants, in their order, with the field of their users.
Removed users are unsubscribed first, so they get no event about added users; these are subscribed
before new roles are published."""


def parts_of(stamp: Change) -> Iterator[Change]:
    """The stamp, or if it is about all participants, a stamp for each event that it causes."""
    if stamp["kind"] != "participants.changed":
        yield stamp
        return
    whole: dict[str, Any] = {**stamp}
    common = {name: value for name, value in whole.items() if name not in PARTS.values()}
    for kind, name in PARTS.items():
        if whole.get(name):
            yield cast(Change, {**common, "kind": kind, name: whole[name]})


def affected_by(change: Change) -> tuple[str, ...]:
    """The users whom a change of a conversation concerns."""
    return (
        *change.get("addedUserIds", ()),
        *change.get("removedUserIds", ()),
        *change.get("affectedUserIds", ()),
    )


def message_event_json(
    name: str, document: MessageDocument, parents: Parents, optional: OptionalFields
) -> bytes:
    """The JSON of `MessageEvent`. Raises ValueError for an unknown event name and a malformed
    document."""
    if name not in MESSAGE_EVENTS or one_readable("messages", document) is None:
        raise ValueError(f"not a message event: {name!r}")
    fields = {
        "type": name,
        "conversationId": document["conversationId"],
        "message": orjson.Fragment(message_json(document, parents, optional)),
    }
    return orjson.dumps(fields)


def reaction_event(kind: str, actor_id: str, emoji: str, message: Message) -> ReactionEvent:
    return ReactionEvent(
        type=cast(ReactionEventType, kind),
        conversation_id=message.conversation_id,
        actor_id=actor_id,
        emoji=emoji,
        message=message,
    )


def conversation_event(
    kind: str,
    actor_id: str,
    affected: tuple[str, ...],
    document: ConversationDocument,
    optional: OptionalFields,
) -> ConversationEvent | NewConversationEvent:
    fields: dict[str, Any] = {
        "type": kind,
        "conversation_id": document["_id"],
        "actor_id": actor_id,
        "affected_user_ids": affected,
        "conversation": conversation_from(document, optional),
    }
    is_new = kind == "conversation.created"
    return NewConversationEvent(**fields) if is_new else ConversationEvent(**fields)


def deletion_event(conversation_id: str, actor_id: str) -> ConversationDeletedEvent:
    return ConversationDeletedEvent(
        type="conversation.deleted", conversation_id=conversation_id, actor_id=actor_id
    )
