"""The queries behind `stream.changed`: what changed in some conversations since a moment
(decision 0083).

The times of changes are written with `extra_events`, and always by operators, in the update that
makes the change.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple, NotRequired, cast

from typing_extensions import TypedDict

from chat_aio.store.database import Database
from chat_aio.store.documents import ConversationPart, DepartureDocument
from chat_aio.store.shapes import readable

MOST_DEPARTURES = 20_000

_UNDATED: Mapping[str, tuple[ConversationPart, ...]] = {
    "conversation.created": ("members",),
    "participant.added": ("members",),
    "participant.removed": ("members",),
    "participants.changed": ("members",),
    "conversation.updated": ("members", "name", "metadata", "pins"),
}
"""The kinds that a change without times may have, by the kind of its stamp."""


class _Stamp(TypedDict):
    at: datetime
    kind: NotRequired[str]


class ParticipantTimes(TypedDict):
    """When a participant joined, and when their read state last changed."""

    userId: str
    joinedAt: NotRequired[datetime]
    markedAt: NotRequired[datetime]


class ConversationChanges(TypedDict):
    """The times of a conversation's changes; of its participants only those who have joined or
    marked since the moment."""

    _id: str
    changedAt: NotRequired[dict[ConversationPart, datetime]]
    change: NotRequired[_Stamp]
    participants: list[ParticipantTimes]


class Reacted(NamedTuple):
    """When reactions in a conversation last changed, and the highest seq of such a message."""

    at: datetime
    seq: int


def kinds_since(row: ConversationChanges, since: datetime) -> Iterator[ConversationPart]:
    """The kinds of a conversation's changes since then. A change of another program, which has only
    its stamp, counts as each kind that it may have."""
    times = row.get("changedAt", {})
    yield from (kind for kind, at in times.items() if at >= since)
    stamp = row.get("change")
    if stamp and stamp["at"] >= since and stamp["at"] not in times.values():
        yield from _UNDATED.get(stamp.get("kind", ""), ())


async def list_changed(
    database: Database, ids: Collection[str], *, since: datetime
) -> dict[str, ConversationChanges]:
    """The conversations, among `ids`, that have changed since then or in which somebody has marked
    messages as read or unread."""
    recent = {"$gte": since}
    chosen = {
        "_id": {"$in": list(ids)},
        # `$filter` fails for another program's row that has no array.
        "participants": {"$type": "array"},
        "$or": [{"change.at": recent}, {"participants.markedAt": recent}],
    }
    times = ("$$this.joinedAt", "$$this.markedAt")
    active = {"$or": [{"$gte": [time, since]} for time in times]}
    people = {
        "$map": {
            "input": {"$filter": {"input": "$participants", "cond": active}},
            "in": {field: f"$$this.{field}" for field in ParticipantTimes.__annotations__},
        }
    }
    shown = {"changedAt": 1, "change.at": 1, "change.kind": 1, "participants": people}
    found = await database.aggregate(
        database.conversations, [{"$match": chosen}, {"$project": shown}], hint={"_id": 1}
    )
    rows = cast(list[ConversationChanges], found)
    return {row["_id"]: row for row in readable("conversations", rows, shape=ConversationChanges)}


async def list_reacted(
    database: Database, ids: Collection[str], *, since: datetime
) -> dict[str, Reacted]:
    """The conversations, among `ids`, in which reactions were added or removed since then."""
    # With `$type`, as in the filter of the partial index.
    recent = {"$gte": since, "$type": "date"}
    latest = {"_id": "$conversationId", "at": {"$max": "$reactedAt"}, "seq": {"$max": "$seq"}}
    stages: list[Mapping[str, Any]] = [
        {"$match": {"conversationId": {"$in": list(ids)}, "reactedAt": recent}},
        {"$group": latest},
    ]
    found = await database.aggregate(database.messages, stages, hint="conversation_reacted")
    return {row["_id"]: Reacted(row["at"], row["seq"]) for row in found}


async def list_departures(
    database: Database, user_ids: Iterable[str], *, since: datetime
) -> list[DepartureDocument] | None:
    """The conversations that these users are no longer in, since then; None if they are too
    many."""
    chosen = {"userId": {"$in": list(user_ids)}, "at": {"$gte": since}}
    found = await database.read(
        lambda: database.departures.find(chosen).limit(MOST_DEPARTURES + 1).to_list(None)
    )
    if len(found) > MOST_DEPARTURES:
        return None
    return readable("departures", cast(list[DepartureDocument], found))
