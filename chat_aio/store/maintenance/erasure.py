"""The writes of an erasure. Every write applies only while the document still names the user, so it
may be repeated, or come late. `actions/maintenance/erasure.py` decides on the writes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, cast

from pymongo import DeleteOne, UpdateOne

from chat_aio.store import reports, sent_counts, slow_mode
from chat_aio.store.attachments import ATTACHMENT_GRACE_PERIOD
from chat_aio.store.bans import active
from chat_aio.store.database import Database
from chat_aio.store.documents import Change, ChangeKind, ReportDocument
from chat_aio.store.edits import emptied, reacted
from chat_aio.store.transactions import Session, Unchanged, transact_unique

Write = UpdateOne | DeleteOne
SHARED_SECONDS = 600.0
STAMPED = ("addedUserIds", "removedUserIds", "affectedUserIds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """The user who is erased, and the pseudonym that replaces their id."""

    user_id: str
    pseudonym: str
    clock: Callable[[], datetime]
    new_id: Callable[[], str]

    def change(self, kind: ChangeKind) -> Change:
        """The stamp of a change that is made now. It names the pseudonym."""
        return {
            "id": self.new_id(),
            "at": self.clock(),
            "kind": kind,
            "actorId": self.pseudonym,
        }

    def renamed(self, user_ids: Sequence[str]) -> list[str]:
        return [self.pseudonym if user_id == self.user_id else user_id for user_id in user_ids]


class Traces(NamedTuple):
    """The fields that a message loses with its sender: some get an empty value, others are removed,
    as `actions/maintenance/erasure.py` decides."""

    emptied: Mapping[str, Any]
    removed: Sequence[str]


def empty_message(of: Erasure, message: Mapping[str, Any], traces: Traces) -> UpdateOne:
    """Turn a message of the user into a tombstone; clients get an event."""
    update = _without_sender(of, traces)
    update["$set"] |= emptied(of.change("message.deleted"))["$set"]
    theirs = {"_id": message["_id"], "senderId": of.user_id}
    return UpdateOne({**theirs, "deletedAt": None}, update)


def scrub_tombstone(of: Erasure, message: Mapping[str, Any], traces: Traces) -> UpdateOne:
    """Remove the sender's data from a tombstone; clients get no event."""
    update = _without_sender(of, traces)
    if value_at(message, "change.actorId") == of.user_id:
        # One field of `change`: the feed follows only writes of the whole `change`.
        update["$set"]["change.actorId"] = of.pseudonym
    theirs = {"_id": message["_id"], "senderId": of.user_id}
    return UpdateOne({**theirs, "deletedAt": {"$ne": None}}, update)


def _without_sender(of: Erasure, traces: Traces) -> dict[str, Any]:
    return {
        "$set": {"senderId": of.pseudonym, **traces.emptied},
        "$unset": dict.fromkeys(traces.removed, ""),
        "$pull": {"reactions": {"userId": of.user_id}, "mentions": {"userId": of.user_id}},
    }


def remove_reaction(of: Erasure, message_id: str, emoji: str) -> UpdateOne:
    """Remove a reaction of the user; clients get an event."""
    reaction = {"emoji": emoji, "userId": of.user_id}
    change = cast(Change, {**of.change("reaction.removed"), "emoji": emoji})
    return UpdateOne(
        {"_id": message_id, "reactions": {"$elemMatch": reaction}},
        {"$pull": {"reactions": reaction}, "$set": reacted(change, dated=True)},
    )


def remove_mention(of: Erasure, message_id: str) -> UpdateOne:
    """Remove a mention of the user; clients get no event."""
    here = {"_id": message_id, "mentions.userId": of.user_id}
    return UpdateOne(here, {"$pull": {"mentions": {"userId": of.user_id}}})


def remove_held_mention(of: Erasure, held_id: str) -> UpdateOne:
    """Remove the user from the mentions of a held message."""
    return UpdateOne({"_id": held_id, "mentions": of.user_id}, {"$pull": {"mentions": of.user_id}})


def remove_count(of: Erasure, conversation_id: str) -> UpdateOne:
    """Remove from a head the number of the user's messages, and the time of the last one."""
    places = (sent_counts.place_of(of.user_id), slow_mode.place_of(of.user_id))
    return UpdateOne({"_id": conversation_id}, {"$unset": dict.fromkeys(places, "")})


def rename_at(of: Erasure, document_id: object, place: str) -> UpdateOne:
    """Replace the id by the pseudonym in one field; clients get no event."""
    return UpdateOne({"_id": document_id, place: of.user_id}, {"$set": {place: of.pseudonym}})


def give_up_attachment(of: Erasure, attachment_id: object) -> UpdateOne:
    """Replace the id of a file's uploader, for whom the file need no longer be kept; a forward in
    progress may still keep it."""
    given_up = {"userId": of.pseudonym, "keepUntil": of.clock() + ATTACHMENT_GRACE_PERIOD}
    return UpdateOne({"_id": attachment_id, "userId": of.user_id}, {"$set": given_up})


def rename_in_list(of: Erasure, document_id: object, place: str) -> UpdateOne:
    """Replace the id by the pseudonym in a list that contains it once."""
    return UpdateOne(
        {"_id": document_id, place: of.user_id}, {"$set": {f"{place}.$": of.pseudonym}}
    )


def rename_banned(of: Erasure, ban_id: object) -> UpdateOne:
    """Replace the id in a ban that is over. A ban in force must keep the id of the banned user."""
    over = {"_id": ban_id, "userId": of.user_id, "$nor": [active(of.user_id, at=of.clock())]}
    return UpdateOne(over, {"$set": {"userId": of.pseudonym}, "$unset": {"activeUserId": ""}})


def delete_row(document_id: object, **guards: str) -> DeleteOne:
    return DeleteOne({"_id": document_id, **guards})


async def write(database: Database, collection: str, writes: Sequence[Write]) -> None:
    rows = database.collection(collection)
    # Unordered: a failing write must not prevent those after it.
    await database.write(lambda: rows.bulk_write([*writes], ordered=False))


def is_in_stamp(of: Erasure, conversation: Mapping[str, Any]) -> bool:
    """Whether the last change of a conversation names the user."""
    change: Mapping[str, Any] = conversation.get("change") or {}
    named = [name for place in STAMPED for name in change.get(place) or ()]
    return of.user_id in (change.get("actorId"), *named)


async def rename_in_stamp(database: Database, of: Erasure, conversation: Mapping[str, Any]) -> None:
    """Replace the id in the last change of a conversation. It is written field by field, so that
    clients get no event."""
    change: Mapping[str, Any] = conversation.get("change") or {}
    fields: dict[str, Any] = {
        f"change.{name}": of.renamed(change[name])
        for name in STAMPED
        if of.user_id in (change.get(name) or ())
    }
    if change.get("actorId") == of.user_id:
        fields["change.actorId"] = of.pseudonym
    if not fields:
        return
    await database.write(
        lambda: database.conversations.update_one(
            {"_id": conversation["_id"], "change.id": change.get("id")}, {"$set": fields}
        )
    )


async def rename_in_report(
    database: Database, report_id: str, fields_of: Callable[[ReportDocument], dict[str, Any]]
) -> None:
    """Set the fields of a report that `fields_of` returns, if any. An `openKey` is renewed for the
    new ids, or removed if another report has that key."""

    async def body(session: Session) -> None:
        found = await database.reports.find_one({"_id": report_id}, session=session)
        fields = fields_of(found) if found else {}
        if not fields:
            raise Unchanged(None)
        update: dict[str, Any] = {"$set": fields}
        if "openKey" in found:
            named = cast(ReportDocument, {**found, **fields})
            if key := await reports.free_key(database, named, session):
                fields["openKey"] = key
            else:
                update["$unset"] = {"openKey": ""}
        await database.reports.update_one({"_id": report_id}, update, session=session)

    await transact_unique(database, body)


async def list_bans_in_force(database: Database, user_id: str, *, at: datetime) -> list[str]:
    """The ids of the bans that keep a user out now."""
    chosen = active(user_id, at=at)
    found = await database.read(lambda: database.bans.find(chosen, {"_id": 1}).to_list(None))
    return [str(row["_id"]) for row in found]


async def count_shared_files(database: Database, user_id: str) -> int:
    """The number of a user's files that other users' messages carry."""
    carried = {
        "from": database.messages.name,
        "localField": "_id",
        "foreignField": "attachments.id",
        "pipeline": [
            {"$match": {"senderId": {"$ne": user_id}, "deletedAt": None}},
            {"$limit": 1},
            {"$project": {"_id": 1}},
        ],
        "as": "carriers",
    }
    stages: list[dict[str, Any]] = [
        {"$match": {"userId": user_id, "state": "stored"}},
        {"$lookup": carried},
        {"$match": {"carriers": {"$ne": []}}},
        {"$count": "count"},
    ]
    found = await database.aggregate(
        database.collection("attachments"), stages, seconds=SHARED_SECONDS
    )
    return int(found[0]["count"]) if found else 0


def value_at(document: Any, place: str) -> Any:
    """The value at a place such as `change.actorId`; None if there is none."""
    for name in place.split("."):
        document = document.get(name) if isinstance(document, Mapping) else None
    return document
