"""Changes as the database announces them, made into the events that streams are told."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chat_aio.live.frames import Frame, event_frame, position_frame
from chat_aio.store.change_stream import RawChange
from chat_aio.store.database import Database
from chat_aio.store.documents import Change, ConversationDocument, MessageDocument
from chat_aio.store.views import conversation_from, message_from

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event for everyone in a conversation; `index` is its place in this process's feed.

    Durable message events have a `position`, which clients resume from. `added` and `removed`
    are the users that this event lets in and out; `told` is False where that is all it does.
    """

    index: int
    conversation_id: str
    frame: Frame
    told: bool = True
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    seq: int = 0
    created: bool = False
    position: Frame | None = None

    @property
    def name(self) -> tuple[str, int]:
        """Of a durable event: the message it is about."""
        return self.conversation_id, self.seq


class Translator:
    """Makes events of changes, numbering them from 1 in feed order."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._conversations = database.conversations.name
        self._messages = database.messages.name
        self.index = 0

    async def events_from(self, changes: Sequence[RawChange]) -> list[Event]:
        """The events of a batch of changes. What was updated is read once for the whole batch:
        its state may be later than the change, never earlier; what is gone meanwhile is skipped."""
        updated = [each for each in changes if each["operationType"] == "update"]
        conversations = await self._fetch(self._conversations, updated)
        events = []
        for change in changes:
            try:
                event = self._event_from(change, conversations)
            except Exception as error:
                log.error("%r cannot be announced: %r", change.get("documentKey"), error)
                continue
            if event:
                self.index = event.index
                events.append(event)
        return events

    def _event_from(
        self, change: RawChange, conversations: Mapping[str, ConversationDocument]
    ) -> Event | None:
        inserted = change["operationType"] == "insert"
        match change["ns"]["coll"]:
            case self._messages if inserted:
                return self._message_created(change["fullDocument"])
            case self._conversations if inserted:
                return self._conversation_created(change["fullDocument"])
            case self._conversations:
                return self._conversation_changed(
                    change["updateDescription"]["updatedFields"]["change"],
                    conversations.get(change["documentKey"]["_id"]),
                )
        return None

    def _message_created(self, document: MessageDocument) -> Event:
        message = message_from(document)
        event_id = f"{message.conversation_id}:{message.seq}"
        data = {"conversationId": message.conversation_id, "message": message}
        return Event(
            index=self.index + 1,
            conversation_id=message.conversation_id,
            frame=event_frame("message.created", data, event_id=event_id),
            seq=message.seq,
            created=True,
            position=position_frame(event_id),
        )

    def _conversation_created(self, document: ConversationDocument) -> Event:
        """A group with members is told to all in it; the rest only lets its participants in."""
        change = document["change"]
        return Event(
            index=self.index + 1,
            conversation_id=document["_id"],
            frame=_membership_frame(change, document),
            told=change["kind"] == "participant.added",
            added=tuple(each["userId"] for each in document["participants"]),
        )

    def _conversation_changed(
        self, change: Change, document: ConversationDocument | None
    ) -> Event | None:
        if document is None:
            return None
        return Event(
            index=self.index + 1,
            conversation_id=document["_id"],
            frame=_membership_frame(change, document),
            added=tuple(change.get("addedUserIds", ())),
            removed=tuple(change.get("removedUserIds", ())),
        )

    async def _fetch(self, collection: str, updated: Iterable[RawChange]) -> dict[str, Any]:
        ids = {each["documentKey"]["_id"] for each in updated if each["ns"]["coll"] == collection}
        if not ids:
            return {}
        with self._database.reading():
            found = (
                await self._database.handle[collection]
                .find({"_id": {"$in": list(ids)}})
                .to_list(None)
            )
        return {each["_id"]: each for each in found}


def _membership_frame(change: Change, document: ConversationDocument) -> Frame:
    affected = [*change.get("addedUserIds", ()), *change.get("removedUserIds", ())]
    return event_frame(
        change["kind"],
        {
            "conversationId": document["_id"],
            "actorId": change["actorId"],
            "affectedUserIds": affected,
            "conversation": conversation_from(document),
        },
    )
