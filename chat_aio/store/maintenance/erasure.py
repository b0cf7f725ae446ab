"""Erasing a person: a pseudonym takes their place, and what they wrote goes. Each write is guarded
by what it changes, so that it may be repeated, and be late."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pymongo import DeleteOne, UpdateOne

from chat_aio.store.bans import active
from chat_aio.store.database import Database
from chat_aio.store.documents import Change, EventName
from chat_aio.store.edits import emptied


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """Who is erased, and who stands in their place."""

    user_id: str
    pseudonym: str
    clock: Callable[[], datetime]
    new_id: Callable[[], str]

    def change(self, kind: EventName) -> Change:
        """The stamp of a change that is made now; nobody is to be known by it."""
        return {
            "id": self.new_id(),
            "at": self.clock(),
            "kind": kind,
            "actorId": self.pseudonym,
        }

    def renamed(self, user_ids: Sequence[str]) -> list[str]:
        return [self.pseudonym if each == self.user_id else each for each in user_ids]


Write = tuple[str, UpdateOne | DeleteOne]
"""What is erased, and how."""


def _message_writes(of: Erasure, message: Mapping[str, Any]) -> Iterator[Write]:
    """Their own message becomes a tombstone, which clients hear of; of others' messages go their
    reactions, which is told as well, and their mentions, which is not."""
    if message["senderId"] == of.user_id:
        yield _tombstone(of, message)
        return
    for each in message.get("reactions") or ():
        if each["userId"] == of.user_id:
            yield "reactions", _without_reaction(of, message["_id"], each["emoji"])
    if any(each["userId"] == of.user_id for each in message.get("mentions") or ()):
        mine = {"mentions": {"userId": of.user_id}}
        here = {"_id": message["_id"], "mentions.userId": of.user_id}
        yield "mentions", UpdateOne(here, {"$pull": mine})
    yield from _renaming(
        of, message, {"forwardedFrom.senderId": "forwards", "change.actorId": "stamps"}
    )


def _tombstone(of: Erasure, message: Mapping[str, Any]) -> Write:
    here = {"_id": message["_id"], "senderId": of.user_id}
    update: dict[str, Any] = {
        "$set": {"senderId": of.pseudonym, "metadata": {}, "forwardedFrom": None},
        "$unset": {"clientMessageId": "", "requestHash": "", "terms": "", "search": ""},
        "$pull": {"reactions": {"userId": of.user_id}, "mentions": {"userId": of.user_id}},
    }
    if message.get("deletedAt"):
        if (message.get("change") or {}).get("actorId") == of.user_id:
            update["$set"]["change.actorId"] = of.pseudonym
        return "tombstones", UpdateOne({**here, "deletedAt": {"$ne": None}}, update)
    update["$set"] |= emptied(of.change("message.deleted"))["$set"]
    return "messages", UpdateOne({**here, "deletedAt": None}, update)


def _without_reaction(of: Erasure, message_id: str, emoji: str) -> UpdateOne:
    reaction = {"emoji": emoji, "userId": of.user_id}
    change = {**of.change("reaction.removed"), "emoji": emoji}
    return UpdateOne(
        {"_id": message_id, "reactions": {"$elemMatch": reaction}},
        {"$pull": {"reactions": reaction}, "$set": {"change": change}},
    )


def _renaming(of: Erasure, document: Any, places: Mapping[str, str]) -> Iterator[Write]:
    """The pseudonym in the place of the id, quietly; `places` says for each what stands there."""
    for place, what in places.items():
        if value_at(document, place) == of.user_id:
            here = {"_id": document["_id"], place: of.user_id}
            yield what, UpdateOne(here, {"$set": {place: of.pseudonym}})


def value_at(document: Any, place: str) -> Any:
    """What stands at a place; None where nothing does."""
    for name in place.split("."):
        document = document.get(name) if isinstance(document, Mapping) else None
    return document


def _invite_writes(of: Erasure, invite: Any) -> Iterator[Write]:
    yield "invites", DeleteOne({"_id": invite["_id"], "createdBy": of.user_id})


def _join_request_writes(of: Erasure, request: Any) -> Iterator[Write]:
    """Their own goes; what they decided stays."""
    if request["userId"] == of.user_id:
        yield "joinRequests", DeleteOne({"_id": request["_id"], "userId": of.user_id})
    else:
        yield from _renaming(of, request, {"resolvedBy": "joinRequestDecisions"})


def _mute_writes(_: Erasure, mute: Any) -> Iterator[Write]:
    yield "mutes", DeleteOne({"_id": mute["_id"]})


def _presence_writes(of: Erasure, _: Any) -> Iterator[Write]:
    yield "presence", DeleteOne({"_id": of.user_id})


def _ban_writes(of: Erasure, ban: Any) -> Iterator[Write]:
    """One that is over; one in force goes on to name whom it keeps out."""
    if ban.get("userId") == of.user_id:
        over = {"_id": ban["_id"], "userId": of.user_id}
        over["$nor"] = [active(of.user_id, at=of.clock())]
        update = {"$set": {"userId": of.pseudonym}, "$unset": {"activeUserId": ""}}
        yield "bans", UpdateOne(over, update)
    decided = ("createdByUserId", "revokedByUserId")
    yield from _renaming(of, ban, dict.fromkeys(decided, "banDecisions"))


def _audit_writes(of: Erasure, row: Any) -> Iterator[Write]:
    """Who acted, and upon whom; what was decided stays."""
    places = ("actorUserId", "targetId", "details.userId", "details.senderId")
    yield from _renaming(of, row, dict.fromkeys(places, "audit"))


WRITES: Mapping[str, Callable[[Erasure, Any], Iterator[Write]]] = {
    "messages": _message_writes,
    "invites": _invite_writes,
    "join_requests": _join_request_writes,
    "mutes": _mute_writes,
    "presence": _presence_writes,
    "bans": _ban_writes,
    "audit": _audit_writes,
}
"""What is written about a document, by its collection; the others need more than that."""


async def write(database: Database, collection: str, writes: Sequence[Write]) -> None:
    operations = [operation for _, operation in writes]
    await database.write(
        lambda: database.collection(collection).bulk_write(operations, ordered=False)
    )
