"""Where the data name a person: what is theirs, and what is about them."""

from datetime import datetime
from typing import Any

from chat_aio.store.bans import active

PLACES: dict[str, tuple[str, ...]] = {
    "conversations": (
        "participants.userId",
        "blockedBy",
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
    "invites": ("createdBy",),
    "join_requests": ("userId", "resolvedBy"),
    "blocks": ("blockerUserId", "blockedUserId"),
    "mutes": ("userId",),
    "reports": ("reporterUserId", "resolvedBy", "evidence.senderId", "evidence.participantIds"),
    "bans": ("userId", "createdByUserId", "revokedByUserId"),
    "presence": ("_id",),
    "audit": ("actorUserId", "targetId", "details.userId", "details.senderId"),
}
"""The fields that hold a user's id, by collection; a report's target is one where it is a user."""


def naming(collection: str, user_id: str) -> dict[str, Any]:
    """The query for the documents that name a user."""
    named: list[dict[str, Any]] = [{each: user_id} for each in PLACES[collection]]
    if collection == "reports":
        named.append({"targetType": "user", "targetId": user_id})
    return {"$or": named}


def naming_for_good(collection: str, user_id: str, *, at: datetime) -> dict[str, Any]:
    """The same without the bans in force, which name whom they keep out."""
    if collection != "bans":
        return naming(collection, user_id)
    others = [{each: user_id} for each in PLACES["bans"][1:]]
    return {"$or": [{"userId": user_id, "$nor": [active(user_id, at=at)]}, *others]}
