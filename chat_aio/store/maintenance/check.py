"""The reads of a check outside of a conversation's snapshot: ids, pages of messages, rows of
moderation, malformed rows, and duplicates of unique keys."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from chat_aio.store.database import COLLECTIONS, Database
from chat_aio.store.indexes import Index
from chat_aio.store.shapes import validator
from chat_aio.store.transactions import Session, transact

SECONDS = 600.0
PAGE_SECONDS = 60.0
IDS_AT_A_TIME = 1_000
MESSAGES_AT_A_TIME = 1_000
MOST_TWINS = 1_000

NAMING = {
    "conversations": "_id",
    "counters": "_id",
    "messages": "conversationId",
    "invites": "conversationId",
    "join_requests": "conversationId",
    "conversation_bans": "conversationId",
}
"""The collections whose rows name a conversation, and the field with its id."""

Row = dict[str, Any]

_MESSAGE = {
    "conversationId": 1,
    "seq": 1,
    "createdAt": 1,
    "deletedAt": 1,
    "replyToMessageId": 1,
    "threadRootMessageId": 1,
    "timelines": 1,
    "thread": 1,
    "reactions.emoji": 1,
    "reactions.userId": 1,
    "mentions.userId": 1,
    "body": {"$cond": [{"$eq": ["$body", ""]}, "", "(text)"]},
    "terms": 1,
    "search": 1,
}
"""The fields of a message that a check reads. Bodies stay on the server."""


async def count_conversations(database: Database) -> int:
    """The approximate number of conversations."""
    return int(await database.read(database.conversations.estimated_document_count))


async def is_known(database: Database, conversation_id: str) -> bool:
    """Whether any row names this conversation."""
    for collection, field in (*NAMING.items(), ("deleted_conversations", "_id")):
        rows = database.collection(collection)
        if await database.read(partial(rows.find_one, {field: conversation_id}, {"_id": 1})):
            return True
    return False


async def conversation_ids(database: Database) -> AsyncIterator[Sequence[Any]]:
    """The ids of all conversations, and then those that only other rows name, in pages."""
    last = ""
    while True:
        # `$gt` with a string finds strings only. Ids of other types are reported as malformed rows.
        rows = database.conversations.find({"_id": {"$gt": last}}, {"_id": 1})
        rows = rows.sort("_id", 1).limit(IDS_AT_A_TIME)
        found = await database.read(partial(rows.to_list, None), seconds=SECONDS)
        yield [row["_id"] for row in found]
        if len(found) < IDS_AT_A_TIME:
            break
        last = found[-1]["_id"]
    lost: set[Any] = set()
    existing = {
        "from": database.prefix + "conversations",
        "localField": "_id",
        "foreignField": "_id",
        "pipeline": [{"$project": {"_id": 1}}],
        "as": "found",
    }
    for collection in NAMING.keys() - {"conversations"}:
        stages: list[Row] = [
            # A stub of a head is no trace of a conversation: a block leaves it before there is one.
            {"$match": {"seq": {"$exists": True}} if collection == "counters" else {}},
            {"$group": {"_id": f"${NAMING[collection]}"}},
            {"$lookup": existing},
            {"$match": {"found": []}},
        ]
        naming = database.collection(collection)
        found = await database.aggregate(naming, stages, seconds=SECONDS)
        lost |= {row["_id"] for row in found if isinstance(row["_id"], str)}
    yield [*lost - await being_removed(database, [*lost])]


async def list_abandoned_removals(
    database: Database, conversation_id: str | None = None
) -> list[Row]:
    """Deleted conversations, or this one, whose rows are not all removed, and that no process works
    on."""
    chosen: Row = {"state": "removing", "$expr": {"$lte": ["$dueAt", "$$NOW"]}}
    if conversation_id is not None:
        chosen["_id"] = conversation_id
    return await _all_of(database, database.deleted_conversations.find(chosen))


async def being_removed(database: Database, conversation_ids: Sequence[Any]) -> set[Any]:
    """The conversations, among these, that are deleted and whose rows are not all removed yet."""
    chosen = {"_id": {"$in": [*conversation_ids]}, "state": "removing"}
    found = await _all_of(database, database.deleted_conversations.find(chosen, {"_id": 1}))
    return {row["_id"] for row in found}


async def page_of_messages(
    database: Database, conversation_id: object, *, after: int | None
) -> list[Row]:
    """The next MESSAGES_AT_A_TIME messages of a conversation by seq; None starts with the first."""
    chosen: Row = {"conversationId": conversation_id}
    if after is not None:
        chosen["seq"] = {"$gt": after}
    rows = database.messages.find(chosen, _MESSAGE).sort("seq", 1).limit(MESSAGES_AT_A_TIME)
    found: list[Row] = await database.read(partial(rows.to_list, None), seconds=PAGE_SECONDS)
    return found


async def find_places(database: Database, message_ids: Iterable[str]) -> dict[object, Row]:
    """The places of messages: their conversation and timelines, by id."""
    ids = [*message_ids]
    if not ids:
        return {}
    shown = {"conversationId": 1, "timelines": 1}
    found = await database.read(
        lambda: database.messages.find({"_id": {"$in": ids}}, shown).to_list(None),
        seconds=PAGE_SECONDS,
    )
    return {row["_id"]: row for row in found}


async def list_unlike_their_ids(
    database: Database, collection: str, fields: Sequence[str]
) -> list[Row]:
    """Rows whose `_id` does not have the values of these fields."""
    differs = {"$or": [{"$ne": [f"$_id.{field}", f"${field}"]} for field in fields]}
    rows = database.collection(collection).find({"$expr": differs})
    return await _all_of(database, rows)


async def list_wrong_active_bans(database: Database) -> list[Row]:
    """Bans with an `activeUserId` that is not the banned user's, or that are revoked."""
    # In an expression a missing field is not equal to null, unless `$ifNull` makes it so.
    over = {"$ne": [{"$ifNull": ["$revokedAt", None]}, None]}
    wrong = {"$or": [{"$ne": ["$activeUserId", "$userId"]}, over]}
    rows = database.bans.find({"activeUserId": {"$exists": True}, "$expr": wrong})
    return await _all_of(database, rows)


async def list_keyed_reports(database: Database, unresolved: Sequence[str]) -> list[Row]:
    """Reports in one of the `unresolved` statuses, and those that have an `openKey`."""
    chosen = {"$or": [{"openKey": {"$exists": True}}, {"status": {"$in": list(unresolved)}}]}
    shown = {"status": 1, "openKey": 1, "reporterUserId": 1, "targetType": 1, "targetId": 1}
    return await _all_of(database, database.reports.find(chosen, shown))


async def find_report_and_holder(
    database: Database, report_id: object, key_of: Callable[[Row], str | None]
) -> tuple[Row | None, bool]:
    """A report, and whether any report has the key that `key_of` returns; in one snapshot."""

    # One snapshot: a key may pass from one report to another between two reads.
    async def body(session: Session) -> tuple[Row | None, bool]:
        report = await database.reports.find_one({"_id": report_id}, session=session)
        key = report and key_of(report)
        held = key and await database.reports.find_one(
            {"openKey": {"$eq": key, "$type": "string"}}, {"_id": 1}, session=session
        )
        return report, bool(held)

    return await transact(database, body)


async def count_rows(database: Database, collection: str) -> int:
    """The approximate number of rows of a collection."""
    rows = database.collection(collection)
    return int(await database.read(rows.estimated_document_count))


async def list_misshapen(
    database: Database, conversation_id: str | None, *, limit: int
) -> AsyncIterator[tuple[str, list[Row]]]:
    """Rows that their collection's validator would refuse, in all collections or of one
    conversation. The server compares, so that valid rows are not sent."""
    for collection in COLLECTIONS if conversation_id is None else NAMING:
        chosen: Row = {"$nor": [validator(collection)]}
        if conversation_id is not None:
            chosen[NAMING[collection]] = conversation_id
        rows = database.collection(collection).find(chosen).limit(limit)
        yield collection, await _all_of(database, rows)


async def list_twins(database: Database, index: Index) -> list[Mapping[str, Any]]:
    """The keys that several documents have, which prevent creating the unique index."""
    key = {field: f"${field}" for field, _ in index.keys}
    stages: list[Row] = [
        # Only the rows that the index has: others may share a key.
        {"$match": index.options.get("partialFilterExpression", {})},
        {"$group": {"_id": key, "count": {"$sum": 1}}},
        {"$match": {"count": {"$gt": 1}}},
        {"$limit": MOST_TWINS},
    ]
    rows = database.collection(index.collection)
    return await database.aggregate(rows, stages, seconds=SECONDS, allowDiskUse=True)


async def _all_of(database: Database, rows: Any) -> list[Row]:
    found: list[Row] = await database.read(partial(rows.to_list, None), seconds=SECONDS)
    return found
