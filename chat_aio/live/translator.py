"""Changes as the database announces them, made into the events that streams are told."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from chat_aio.live.ephemeral import EphemeralDelivery, ephemeral_deliveries_from
from chat_aio.live.event import Event, ShownMessage, shown_message
from chat_aio.live.frames import Frame, event_frame, message_frame, position_frame
from chat_aio.schema.events import (
    ConversationEvent,
    NewConversationEvent,
    ReactionEvent,
    ReactionEventType,
)
from chat_aio.schema.models import Message
from chat_aio.store import conversations, messages
from chat_aio.store.change_stream import StreamChange
from chat_aio.store.clock import Clock
from chat_aio.store.database import Database
from chat_aio.store.documents import Change, ConversationDocument, MessageDocument
from chat_aio.store.mapping import Parents, conversation_from, message_from
from chat_aio.store.shapes import one_readable

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a batch of changes is told with: what was updated, what replies answer to, and who is in
    a conversation of which a message is told in a later state."""

    conversations: Mapping[str, ConversationDocument]
    messages: Mapping[str, MessageDocument]
    parents: Parents
    inside: Mapping[str, frozenset[str]]


class Translator:
    """Makes events of changes, numbering them from 1 in feed order."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock,
        extra_events: bool = False,
        keeps_messages: bool = False,
    ) -> None:
        """`keeps_messages` is for a host that is asked about each message that is shown."""
        self._keeps_messages = keeps_messages
        self._database = database
        self._clock = clock
        self._extra_events = extra_events
        self.index = 0

    async def events_from(self, changes: Sequence[StreamChange]) -> list[Event | EphemeralDelivery]:
        """The events of a batch of changes. What was updated is read once for the whole batch:
        its state may be later than the change, never earlier; what is gone meanwhile is skipped."""
        changes = [each for each in changes if self._is_sound(each)]
        fetched = await self._fetch(changes)
        told: list[Event | EphemeralDelivery] = []
        for change in changes:
            try:
                if change.collection == "signals":
                    told += ephemeral_deliveries_from(change.document, now=self._clock())
                elif event := self._event_from(change, fetched):
                    self.index = event.index
                    told.append(event)
            except Exception as error:
                log.error("%r cannot be announced: %r", change.document_id, error)
        return told

    async def _fetch(self, changes: Sequence[StreamChange]) -> Fetched:
        updated = _updated_ids(changes, "messages")
        edited = await messages.find_many(self._database, updated) if updated else []
        created = [each.document for each in changes if self._is_new_message(each)]
        find = messages.find_whole_parents if self._keeps_messages else messages.find_parents
        parents = await find(self._database, [*created, *edited])
        changed = _updated_ids(changes, "conversations")
        later = self._in_later_states(changes, edited)
        wanted = [*changed, *later]
        found = await conversations.find_many(self._database, wanted) if wanted else {}
        return Fetched(
            conversations=found,
            messages={each["_id"]: each for each in edited},
            parents=parents,
            inside={each: _inside(found[each]) if each in found else frozenset() for each in later},
        )

    def _in_later_states(
        self, changes: Sequence[StreamChange], edited: Sequence[MessageDocument]
    ) -> set[str]:
        """The conversations of messages that are told in a later state than their change's."""
        last = {
            each.document_id: _stamp(each)["id"]
            for each in reversed(changes)
            if each.operation == "update" and each.collection == "messages"
        }
        return {
            each["conversationId"]
            for each in edited
            if _change_id(each) != last[each["_id"]] and isinstance(each.get("conversationId"), str)
        }

    def _is_sound(self, change: StreamChange) -> bool:
        """Whether an update has a stamp that can be told; another program's may have none."""
        if change.operation != "update":
            return True
        if change.collection not in ("messages", "conversations"):
            return True
        stamp = change.updated["change"]
        sound = isinstance(stamp, Mapping) and {"id", "kind", "actorId"} <= stamp.keys()
        if not sound:
            log.error("%r was changed without a stamp that can be told", change.document_id)
        return sound

    def _is_new_message(self, change: StreamChange) -> bool:
        return bool(change.operation == "insert" and change.collection == "messages")

    def _event_from(self, change: StreamChange, fetched: Fetched) -> Event | None:
        collection = change.collection
        if collection not in ("messages", "conversations"):
            return None
        if self._is_new_message(change):
            found = one_readable("messages", change.document)
            return self._message_created(found, fetched) if found else None
        if change.operation == "insert":
            return self._conversation_created(change.document)
        return self._updated(collection, change, fetched)

    def _updated(self, collection: str, change: StreamChange, fetched: Fetched) -> Event | None:
        stamp = _stamp(change)
        document_id = change.document_id
        if collection == "messages":
            edited = fetched.messages.get(document_id)
            return self._message_changed(stamp, edited, fetched) if edited else None
        document = fetched.conversations.get(document_id)
        return self._conversation_changed(stamp, document) if document else None

    def _shown(self, document: MessageDocument, fetched: Fetched) -> ShownMessage | None:
        return shown_message(document, fetched.parents) if self._keeps_messages else None

    def _message_created(self, document: MessageDocument, fetched: Fetched) -> Event:
        message = message_from(document, fetched.parents)
        return Event(
            index=self.index + 1,
            conversation_id=message.conversation_id,
            frame=message_frame("message.created", message),
            seq=message.seq,
            created=True,
            position=position_frame(message.conversation_id, message.seq),
            message_id=message.id,
            sender_id=message.sender_id,
            shown=self._shown(document, fetched),
        )

    def _message_changed(
        self, change: Change, document: MessageDocument, fetched: Fetched
    ) -> Event:
        """An edit or a deletion is durable, a reaction is not."""
        message = message_from(document, fetched.parents)
        audience = fetched.inside.get(message.conversation_id)
        if "emoji" in change:
            return Event(
                index=self.index + 1,
                conversation_id=message.conversation_id,
                audience=audience,
                frame=_reaction_frame(change, message),
                seq=message.seq,
                changed_at=document.get("changedAt"),
                shown=self._shown(document, fetched),
            )
        return Event(
            index=self.index + 1,
            conversation_id=message.conversation_id,
            audience=audience,
            frame=message_frame(change["kind"], message),
            seq=message.seq,
            position=position_frame(message.conversation_id, message.seq),
            changed_at=document.get("changedAt"),
            message_id=message.id,
            shown=self._shown(document, fetched),
        )

    def _conversation_created(self, document: ConversationDocument) -> Event:
        """A group with members is told to all in it, a direct conversation as an extra event; the
        rest only lets its participants in."""
        change = document["change"]
        is_new_direct = self._extra_events and document["type"] == "direct"
        return Event(
            index=self.index + 1,
            conversation_id=document["_id"],
            frame=_membership_frame(change, document),
            delivered=change["kind"] == "participant.added" or is_new_direct,
            added=_ids(each["userId"] for each in document["participants"]),
        )

    def _conversation_changed(self, change: Change, document: ConversationDocument) -> Event:
        removed = _ids(change.get("removedUserIds", ()))
        is_later = document["change"]["id"] != change["id"]
        return Event(
            index=self.index + 1,
            conversation_id=document["_id"],
            frame=_membership_frame(change, document),
            audience=_inside(document).union(removed) if is_later else None,
            added=_ids(change.get("addedUserIds", ())),
            removed=removed,
        )


def _stamp(change: StreamChange) -> Change:
    stamp: Change = change.updated["change"]
    return stamp


def _ids(user_ids: Iterable[str]) -> tuple[str, ...]:
    """Raises ValueError for what can be nobody's id."""
    found = tuple(user_ids)
    if not all(isinstance(each, str) for each in found):
        raise ValueError("a user id is a string")
    return found


def _change_id(document: MessageDocument) -> str | None:
    change = document.get("change")
    return change.get("id") if change else None


def _inside(document: ConversationDocument) -> frozenset[str]:
    return frozenset(each["userId"] for each in document.get("participants") or ())


def _updated_ids(changes: Sequence[StreamChange], collection: str) -> list[str]:
    ids = (
        each.document_id
        for each in changes
        if each.operation == "update" and each.collection == collection
    )
    return list(dict.fromkeys(ids))


def _reaction_frame(change: Change, message: Message) -> Frame:
    return event_frame(
        ReactionEvent(
            type=cast(ReactionEventType, change["kind"]),
            conversation_id=message.conversation_id,
            actor_id=change["actorId"],
            emoji=change["emoji"],
            message=message,
        )
    )


def _membership_frame(change: Change, document: ConversationDocument) -> Frame:
    affected = (
        *change.get("addedUserIds", ()),
        *change.get("removedUserIds", ()),
        *change.get("affectedUserIds", ()),
    )
    said: dict[str, Any] = {
        "type": change["kind"],
        "conversation_id": document["_id"],
        "actor_id": change["actorId"],
        "affected_user_ids": affected,
        "conversation": conversation_from(document),
    }
    is_new = change["kind"] == "conversation.created"
    return event_frame(NewConversationEvent(**said) if is_new else ConversationEvent(**said))
