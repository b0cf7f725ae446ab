"""The events of a chat that have a stored source, for a reader that must not miss any: references
first, and their data as of the time when they are wanted (decision 0087)."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple, cast

from chat_aio.schema.events import STORED_EVENTS
from chat_aio.schema.wire import json_from
from chat_aio.store import conversations, messages
from chat_aio.store.created_messages import CreatedMessage, created_from
from chat_aio.store.database import Database
from chat_aio.store.documents import Change
from chat_aio.store.event_data import (
    affected_by,
    conversation_event,
    deletion_event,
    message_event_json,
    parts_of,
    reaction_event,
)
from chat_aio.store.following import Changes, Followed, Source
from chat_aio.store.mapping import message_from
from chat_aio.store.signals import DELETED

log = logging.getLogger(__name__)


class StoredEvent(NamedTuple):
    """A reference to an event. `id` is always the same for one change; `order` is a text, larger
    for a later event. Only reactions and changes of conversations have an `actor_id`."""

    id: str
    type: str
    conversation_id: str
    at: datetime
    order: str
    message_id: str | None = None
    actor_id: str | None = None
    affected_user_ids: tuple[str, ...] = ()
    emoji: str | None = None


StoredEvents = Followed[StoredEvent]


def event_of_created(message: CreatedMessage, order: str) -> StoredEvent:
    """The event that a message was created."""
    return StoredEvent(
        _id_of("message.created", message.message_id),
        "message.created",
        message.conversation_id,
        message.created_at,
        order,
        message_id=message.message_id,
    )


async def data_of(database: Database, events: Sequence[StoredEvent]) -> dict[str, bytes]:
    """The JSON of events as streams deliver them, by event id, with the current state of their
    messages and conversations; without events of removed ones."""
    about_messages = {event.message_id for event in events if event.message_id}
    found = await messages.find_many(database, [*about_messages]) if about_messages else []
    parents = await messages.find_parents(database, found)
    by_id = {message["_id"]: message for message in found}
    changed = {event.conversation_id for event in events if not event.message_id}
    groups = await conversations.find_many(database, changed) if changed else {}
    optional = database.optional_fields
    data: dict[str, bytes] = {}
    for event in events:
        actor_id = event.actor_id or ""
        if event.type == "conversation.deleted":
            data[event.id] = json_from(deletion_event(event.conversation_id, actor_id))
        elif event.message_id is None:
            if group := groups.get(event.conversation_id):
                affected = event.affected_user_ids
                about = conversation_event(event.type, actor_id, affected, group, optional)
                data[event.id] = json_from(about)
        elif message := by_id.get(event.message_id):
            if event.emoji is None:
                data[event.id] = message_event_json(event.type, message, parents, optional)
            else:
                shown = message_from(message, parents, optional)
                reaction = reaction_event(event.type, actor_id, event.emoji, shown)
                data[event.id] = json_from(reaction)
    return data


async def _read(database: Database, changes: Changes) -> list[StoredEvent]:
    updated = [
        change["documentKey"]["_id"]
        for change in changes
        if change["operationType"] == "update" and change["ns"]["coll"] == database.messages.name
    ]
    places = await _conversations_of(database, updated) if updated else {}
    found: list[StoredEvent] = []
    for change in changes:
        try:
            found += _events_from(database, change, places)
        except (KeyError, TypeError, ValueError) as error:
            # One bad row of another program must not stop the reader.
            log.error("no event can be made of %r: %r", change.get("documentKey"), error)
    return found


async def _conversations_of(database: Database, ids: Iterable[str]) -> dict[str, str]:
    """The conversations of messages: an update does not contain them."""
    chosen = {"_id": {"$in": [*ids]}, "conversationId": {"$type": "string"}}
    found = await database.read(
        lambda: database.messages.find(chosen, {"conversationId": 1}).to_list(None)
    )
    return {message["_id"]: message["conversationId"] for message in found}


def _events_from(
    database: Database, change: Mapping[str, Any], places: Mapping[str, str]
) -> Iterator[StoredEvent]:
    collection, order = change["ns"]["coll"], str(change["_id"]["_data"])
    document = change.get("fullDocument") or {}
    if change["operationType"] == "update":
        stamp = change["updateDescription"]["updatedFields"]["change"]
        if collection == database.conversations.name:
            yield from _conversation_events(stamp, change["documentKey"]["_id"], order)
        # Without a conversation, the message is gone.
        elif place := places.get(change["documentKey"]["_id"]):
            yield _message_event(stamp, change["documentKey"]["_id"], place, order)
    elif collection == database.messages.name:
        if (created := created_from(document)) is None:
            raise ValueError("not a message")
        yield event_of_created(created, order)
    elif collection == database.conversations.name:
        # Streams deliver a new group as `participant.added`. A receiver of everything gets
        # `conversation.created`, as for a direct conversation.
        yield from _conversation_events(
            {**document["change"], "kind": "conversation.created"}, document["_id"], order
        )
    else:
        actor_id = _text(document["actorId"])
        yield StoredEvent(
            _id_of("conversation.deleted", document["_id"]),
            "conversation.deleted",
            _text(document["conversationId"]),
            _time(document["at"]),
            order,
            actor_id=actor_id,
        )


def _message_event(stamp: Any, message_id: str, place: str, order: str) -> StoredEvent:
    emoji = stamp.get("emoji")
    return StoredEvent(
        _id_of(stamp["kind"], stamp["id"]),
        _kind(stamp["kind"]),
        place,
        _time(stamp["at"]),
        order,
        message_id=message_id,
        actor_id=None if emoji is None else _text(stamp["actorId"]),
        emoji=None if emoji is None else _text(emoji),
    )


def _conversation_events(stamp: Any, conversation_id: str, order: str) -> Iterator[StoredEvent]:
    for number, part in enumerate(parts_of(cast(Change, stamp))):
        yield StoredEvent(
            _id_of(part["kind"], part["id"]),
            _kind(part["kind"]),
            _text(conversation_id),
            _time(part["at"]),
            # `.` is before all hexadecimal digits, so the parts are before the next change.
            f"{order}.{number}",
            actor_id=_text(part["actorId"]),
            affected_user_ids=tuple(map(_text, affected_by(part))),
        )


def _id_of(kind: str, source: str) -> str:
    """The id of an event: short, and without a dot, which separates the parts of a signature."""
    return sha256(f"{kind}\0{source}".encode()).hexdigest()[:32]


def _kind(kind: Any) -> str:
    if kind not in STORED_EVENTS:
        raise ValueError(f"an unknown kind: {kind!r}")
    return str(kind)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("not a text")
    return value


def _time(value: Any) -> datetime:
    if not isinstance(value, datetime):
        raise ValueError("not a time")
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _pipeline(database: Database) -> list[dict[str, Any]]:
    """It must always be the same: a stream cannot be resumed with another pipeline."""
    stamped = [database.messages.name, database.conversations.name]
    ours = [*stamped, database.signals.name]
    return [
        {
            "$match": {
                "$or": [
                    {
                        "operationType": "insert",
                        "ns.coll": {"$in": stamped},
                        "fullDocument.importedAt": {"$exists": False},
                    },
                    {
                        "operationType": "insert",
                        "ns.coll": database.signals.name,
                        "fullDocument.kind": DELETED,
                    },
                    {
                        "operationType": "update",
                        "ns.coll": {"$in": stamped},
                        "updateDescription.updatedFields.change": {"$exists": True},
                    },
                    {"operationType": {"$in": ["drop", "rename"]}, "ns.coll": {"$in": ours}},
                    {"operationType": {"$in": ["dropDatabase", "invalidate"]}},
                ]
            }
        },
        {
            "$project": {
                "operationType": 1,
                "ns.coll": 1,
                "documentKey": 1,
                "updateDescription.updatedFields.change": 1,
                **{f"fullDocument.{field}": 1 for field in _FIELDS},
            }
        },
    ]


_FIELDS = (
    *("_id", "conversationId", "seq", "senderId", "createdAt"),
    *("change", "kind", "actorId", "at"),
)

SOURCE = Source(
    name="stored events",
    collection=None,
    pipeline=_pipeline,
    read=_read,
    time_of=lambda event: event.at,
)
