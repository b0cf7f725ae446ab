"""Translates changes of the database into the events that streams deliver."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from chat_aio.live.ephemeral import EphemeralDelivery, ephemeral_deliveries_from
from chat_aio.live.event import (
    ConversationChanged,
    Event,
    MessageChanged,
    MessageCreated,
    MessageEvent,
    ReactionChanged,
    quoted_seq,
    shown_message,
)
from chat_aio.live.frames import Frame, event_frame, message_frame
from chat_aio.store import conversations, messages
from chat_aio.store.change_stream import StreamChange
from chat_aio.store.clock import Clock
from chat_aio.store.database import Database
from chat_aio.store.documents import (
    Change,
    ConversationDocument,
    MessageDocument,
    SignalDocument,
)
from chat_aio.store.event_data import (
    affected_by,
    conversation_event,
    deletion_event,
    parts_of,
    reaction_event,
)
from chat_aio.store.hidden import by_user, seq_of
from chat_aio.store.mapping import Parents, message_from
from chat_aio.store.signals import is_deletion

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fetched:
    """The documents that a batch's events need: updated conversations and messages, the messages
    that replies quote, and the participants (`inside`) of each conversation of which a message is
    shown in a later state."""

    conversations: Mapping[str, ConversationDocument]
    messages: Mapping[str, MessageDocument]
    parents: Parents
    inside: Mapping[str, frozenset[str]]


class Translator:
    """Makes events from changes and numbers them from 1 in feed order."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock,
        extra_events: bool = False,
        keeps_messages: bool = False,
        notes_mentions: bool = False,
    ) -> None:
        """With `keeps_messages`, events carry the message they show, for a host whose `can_read` is
        asked about each message; with `notes_mentions`, the users whom it mentions."""
        self._notes_mentions = notes_mentions
        self._keeps_messages = keeps_messages
        self._database = database
        self._optional_fields = database.optional_fields
        self._clock = clock
        self._extra_events = extra_events
        self.index = 0

    async def events_from(self, changes: Sequence[StreamChange]) -> list[Event | EphemeralDelivery]:
        """The events of a batch of changes. Updated documents are read once for the whole batch:
        the state may be later than the change, never earlier. Documents that no longer exist are
        skipped."""
        changes = [change for change in changes if self._is_sound(change)]
        fetched = await self._fetch(changes)
        events: list[Event | EphemeralDelivery] = []
        for change in changes:
            try:
                if change.collection == "signals" and not is_deletion(change.document):
                    events += ephemeral_deliveries_from(change.document, now=self._clock())
                else:
                    for event in self._events_from(change, fetched):
                        self.index = event.index
                        events.append(event)
            except Exception as error:
                # One bad row of another program must not stop the feed for everybody.
                log.error("no event can be made of %r: %r", change.document_id, error)
        return events

    async def _fetch(self, changes: Sequence[StreamChange]) -> Fetched:
        updated = _updated_ids(changes, "messages")
        edited = await messages.find_many(self._database, updated) if updated else []
        created = [
            change.document
            for change in changes
            if change.operation == "insert" and change.collection == "messages"
        ]
        # The host also checks the quoted message, and gets all of it.
        find = messages.find_whole_parents if self._keeps_messages else messages.find_parents
        parents = await find(self._database, [*created, *edited])
        changed = _updated_ids(changes, "conversations")
        # Compared with the first change of the batch: any further change, in the batch or after
        # it, means that the state is a later one for the first.
        first = {
            change.document_id: change.updated["change"]["id"]
            for change in reversed(changes)
            if change.operation == "update" and change.collection == "messages"
        }
        later: set[str] = set()
        for message in edited:
            stamp, conversation_id = message.get("change"), message.get("conversationId")
            is_later = (stamp and stamp.get("id")) != first[message["_id"]]
            if is_later and isinstance(conversation_id, str):
                later.add(conversation_id)
        wanted = [*changed, *later]
        found = await conversations.find_many(self._database, wanted) if wanted else {}
        return Fetched(
            conversations=found,
            messages={message["_id"]: message for message in edited},
            parents=parents,
            # A conversation that is gone has no participants: nobody is shown its message.
            inside={
                conversation_id: _inside(found[conversation_id])
                if conversation_id in found
                else frozenset()
                for conversation_id in later
            },
        )

    def _is_sound(self, change: StreamChange) -> bool:
        """Whether an update has a complete stamp; another program's update may have none."""
        if change.operation != "update":
            return True
        if change.collection not in ("messages", "conversations"):
            return True
        stamp = change.updated["change"]
        sound = isinstance(stamp, Mapping) and {"id", "kind", "actorId"} <= stamp.keys()
        if not sound:
            log.error("%r was changed without a complete `change` stamp", change.document_id)
        return sound

    def _events_from(self, change: StreamChange, fetched: Fetched) -> Iterator[Event]:
        """The events of a change: mostly one. A generator, because each event is numbered after
        the one before it."""
        is_new = change.operation == "insert"
        if change.collection == "messages":
            if is_new:
                yield self._message_created(change.document, fetched)
            elif edited := fetched.messages.get(change.document_id):
                yield self._message_changed(change.updated["change"], edited, fetched)
        elif change.collection == "conversations":
            if is_new:
                yield self._conversation_created(change.document)
            elif document := fetched.conversations.get(change.document_id):
                for part in parts_of(change.updated["change"]):
                    yield self._conversation_changed(part, document)
        elif change.collection == "signals":
            yield self._conversation_deleted(change.document)

    def _message_created(self, document: MessageDocument, fetched: Fetched) -> Event:
        message_id, seq = document["_id"], document["seq"]
        conversation_id, sender_id = document["conversationId"], document["senderId"]
        # The rest is checked where it is encoded, which most messages are not in most processes.
        if not isinstance(seq, int) or not all(
            isinstance(text, str) for text in (message_id, conversation_id, sender_id)
        ):
            raise ValueError("not a message")
        return MessageCreated(
            index=self.index + 1,
            conversation_id=conversation_id,
            encode=partial(
                message_frame,
                "message.created",
                document,
                fetched.parents,
                self._optional_fields,
            ),
            seq=seq,
            written_at=document.get("createdAt"),
            message_id=message_id,
            sender_id=sender_id,
            quoted=quoted_seq(document, fetched.parents),
            mentioned=self._mentioned_in(document),
            shown=shown_message(document, fetched.parents) if self._keeps_messages else None,
        )

    def _message_changed(
        self, change: Change, document: MessageDocument, fetched: Fetched
    ) -> MessageEvent:
        """The event of an edit, a deletion or a reaction."""
        message = message_from(document, fetched.parents, self._optional_fields)
        conversation_id, changed_at = message.conversation_id, document.get("changedAt")
        audience = fetched.inside.get(conversation_id)
        quoted = quoted_seq(document, fetched.parents)
        shown = shown_message(document, fetched.parents) if self._keeps_messages else None
        if "emoji" in change:
            frame = event_frame(
                reaction_event(change["kind"], change["actorId"], change["emoji"], message)
            )
            return ReactionChanged(
                index=self.index + 1,
                conversation_id=conversation_id,
                audience=audience,
                encode=lambda: frame,
                seq=message.seq,
                changed_at=changed_at,
                quoted=quoted,
                shown=shown,
            )
        kind, optional = change["kind"], self._optional_fields
        frame = message_frame(kind, document, fetched.parents, optional)
        return MessageChanged(
            index=self.index + 1,
            conversation_id=conversation_id,
            audience=audience,
            encode=lambda: frame,
            seq=message.seq,
            message_id=message.id,
            changed_at=changed_at,
            quoted=quoted,
            mentioned=self._mentioned_in(document),
            shown=shown,
        )

    def _mentioned_in(self, document: MessageDocument) -> frozenset[str]:
        if not self._notes_mentions:
            return frozenset()
        return frozenset(mention["userId"] for mention in document["mentions"])

    def _conversation_created(self, document: ConversationDocument) -> ConversationChanged:
        """A new group with members is delivered to its participants, a direct conversation is an
        extra event; any other one, and an imported one, only subscribes its participants."""
        change = document["change"]
        is_new_direct = self._extra_events and document["type"] == "direct"
        is_new = "importedAt" not in document
        frame = self._membership_frame(change, document)
        return ConversationChanged(
            index=self.index + 1,
            conversation_id=document["_id"],
            encode=lambda: frame,
            delivered=is_new and (change["kind"] == "participant.added" or is_new_direct),
            added=_ids(participant["userId"] for participant in document["participants"]),
            hidden=by_user(document),
        )

    def _conversation_changed(
        self, change: Change, document: ConversationDocument
    ) -> ConversationChanged:
        removed = _ids(change.get("removedUserIds", ()))
        is_later = document["change"]["id"] != change["id"]
        frame = self._membership_frame(change, document)
        added = _ids(change.get("addedUserIds", ()))
        upto = seq_of(change.get("hiddenUpToSeq", 0))
        # Users removed by this change see it. Users removed later must not see the later state;
        # they get the event of their removal.
        return ConversationChanged(
            index=self.index + 1,
            conversation_id=document["_id"],
            encode=lambda: frame,
            audience=_inside(document).union(removed) if is_later else None,
            added=added,
            removed=removed,
            # Of the stamp: in a later state they may have left, or joined again.
            hidden=dict.fromkeys(added, upto) if upto else None,
        )

    def _conversation_deleted(self, signal: SignalDocument) -> ConversationChanged:
        """The end of a conversation for all who were in it: an extra event, or their removal."""
        user_ids = _ids(signal["userIds"])
        conversation_id, actor_id = signal["conversationId"], signal["actorId"]
        if self._extra_events:
            frame = event_frame(deletion_event(conversation_id, actor_id))
        else:
            removal: Change = {
                "id": signal["_id"],
                "at": signal["at"],
                "kind": "participant.removed",
                "actorId": actor_id,
                "removedUserIds": list(user_ids),
            }
            last_state = cast(ConversationDocument, signal["conversation"])
            frame = self._membership_frame(removal, last_state)
        return ConversationChanged(
            index=self.index + 1,
            conversation_id=conversation_id,
            encode=lambda: frame,
            removed=user_ids,
            is_deletion=True,
        )

    def _membership_frame(self, change: Change, document: ConversationDocument) -> Frame:
        affected, optional = affected_by(change), self._optional_fields
        return event_frame(
            conversation_event(change["kind"], change["actorId"], affected, document, optional)
        )


def _ids(user_ids: Iterable[str]) -> tuple[str, ...]:
    """The ids as a tuple. Raises ValueError for one that is not a string."""
    found = tuple(user_ids)
    if not all(isinstance(user_id, str) for user_id in found):
        raise ValueError("a user id is a string")
    return found


def _inside(document: ConversationDocument) -> frozenset[str]:
    return frozenset(participant["userId"] for participant in document.get("participants") or ())


def _updated_ids(changes: Sequence[StreamChange], collection: str) -> list[str]:
    ids = (
        change.document_id
        for change in changes
        if change.operation == "update" and change.collection == collection
    )
    return list(dict.fromkeys(ids))
