"""The fields that name users, and queries for them: users' own data, and data about them."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

from chat_aio.store import sent_counts, slow_mode
from chat_aio.store.bans import active
from chat_aio.store.database import Database
from chat_aio.store.maintenance.progress import Progress
from chat_aio.store.maintenance.scanning import listed, scan, size_of

PLACES: dict[str, tuple[str, ...]] = {
    "counters": (),
    "conversations": (
        "participants.userId",
        "blockedBy",
        "namedBy",
        "topicBy",
        "change.actorId",
        "change.addedUserIds",
        "change.removedUserIds",
        "change.affectedUserIds",
    ),
    "messages": (
        "senderId",
        "reactions.userId",
        "mentions.userId",
        "forwardedFrom.senderId",
        "change.actorId",
    ),
    "message_versions": ("senderId", "mentions.userId", "replacedByUserId"),
    "invites": ("createdBy",),
    "join_requests": ("userId", "resolvedBy"),
    "conversation_bans": ("userId", "createdByUserId"),
    "blocks": ("blockerUserId", "blockedUserId"),
    "mutes": ("userId",),
    "thread_states": ("userId",),
    "departures": ("userId",),
    "reports": ("reporterUserId", "resolvedBy", "evidence.senderId", "evidence.participantIds"),
    "held_messages": ("senderId", "mentions", "releasedBy"),
    "bans": ("userId", "createdByUserId", "revokedByUserId"),
    "presence": ("_id",),
    "legal_holds": ("createdByUserId",),
    "audit": (
        "actorUserId",
        "targetId",
        "details.userId",
        "details.senderId",
        "details.sharedWith",
    ),
    "daily_stats": ("senderIds",),
    "notifications": ("userId",),
    "notification_settings": ("userId",),
    "notification_shown": ("userId",),
    "notification_devices": ("userId",),
    "webhook_deliveries": ("actorId", "affectedUserIds"),
    "drafts": ("senderId", "askedByUserId", "stoppedBy"),
    "attachments": ("userId",),
}
"""The fields that contain a user's id, by collection. The target of a report about a user contains
it too; and in a head it is the name of fields: the number of their messages, and the time of the
last one."""

INDEXED = {
    "mutes": "userId",
    "thread_states": "userId",
    "departures": "userId",
    "presence": "_id",
    "notifications": "userId",
    "notification_settings": "userId",
    "notification_devices": "userId",
    "attachments": "userId",
}
"""The collections in which an index on this field finds the documents that concern a user."""

SCANNED = PLACES.keys() - INDEXED.keys()
"""The collections that must be scanned entirely."""

KEPT_APART = {"terms": 0, "search": 0, "requestHash": 0, "change": 0}
"""The fields of a message that only serve searches and clients."""


def naming(collection: str, user_id: str) -> dict[str, Any]:
    """The query for the documents that name a user."""
    named: list[dict[str, Any]] = [{place: user_id} for place in PLACES[collection]]
    if collection == "reports":
        named.append({"targetType": "user", "targetId": user_id})
    if collection == "counters":
        places = (sent_counts.place_of(user_id), slow_mode.place_of(user_id))
        named += [{place: {"$exists": True}} for place in places]
    return {"$or": named}


def naming_for_good(collection: str, user_id: str, *, at: datetime) -> dict[str, Any]:
    """As `naming`, without the bans in force, which must keep the id of the banned user."""
    if collection != "bans":
        return naming(collection, user_id)
    others = [{place: user_id} for place in PLACES["bans"] if place != "userId"]
    return {"$or": [{"userId": user_id, "$nor": [active(user_id, at=at)]}, *others]}


async def concerning(
    database: Database, collection: str, user_id: str, decided: Sequence[str]
) -> AsyncIterator[tuple[int, list[Any]]]:
    """The documents of a collection that concern a user, and the number of documents passed. Those
    of the audit log include the rows about the reports and bans whose ids are in `decided`."""
    rows = database.collection(collection)
    if place := INDEXED.get(collection):
        async for found in listed(database, rows, {place: user_id}):
            yield 0, found
        return
    chosen = naming(collection, user_id)
    if collection == "audit":
        # These rows name the report or the ban, not the user.
        chosen["$or"].append({"targetId": {"$in": [*decided]}})
    shown = KEPT_APART if collection == "messages" else None
    async for passed, found in scan(database, rows, chosen, shown):
        yield passed, found


async def is_known(database: Database, user_id: str) -> bool:
    """Whether a user has ever written, or is in a conversation."""
    # Both by an index: the usual user is found without a scan.
    return bool(
        await database.read(lambda: database.messages.find_one({"senderId": user_id}, {"_id": 1}))
        or await database.read(
            lambda: database.conversations.find_one({"participants.userId": user_id}, {"_id": 1})
        )
    )


async def has_traces(database: Database, user_id: str, progress: Progress) -> bool:
    """Whether any row names a user. Only the messages are many, so they are read last, and all of
    them if the user has none and is in no conversation."""
    if await is_known(database, user_id):
        return True
    first = sorted(PLACES, key=lambda name: name == "messages")
    with progress("Looking for the user", await size_of(database, PLACES)) as advance:
        for name in first:
            rows = database.collection(name)
            async for passed, found in scan(database, rows, naming(name, user_id), {"_id": 1}):
                if found:
                    return True
                advance(passed)
    return False
