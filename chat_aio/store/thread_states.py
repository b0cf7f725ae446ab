"""Threads that concern a user: those they wrote in, are mentioned in, or follow; and their read
states, which are separate from the contract's read state."""

from collections.abc import Collection, Mapping
from typing import Any, cast

from chat_aio.store import keyset_query, shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import MessageDocument, ThreadStateDocument
from chat_aio.store.hidden import Hidden, unless_hidden
from chat_aio.store.messages import READ
from chat_aio.store.pipelines import IS_TEXT, union
from chat_aio.store.rows import MOST_BYTES, Rows, read_rows

ROOTS_INDEX, REPLIES_INDEX = "sender_thread_roots", "sender_thread_replies"
MENTIONS_INDEX = "mentioned_threads"
"""Named as hints: other indexes cover all messages that the user wrote, or is mentioned in."""

MOST_COUNTED = 100
"""Unread replies of a thread are counted up to this number."""

LAST_REPLY = "thread.lastReplyAt"


def state_id(user_id: str, root_id: str) -> dict[str, str]:
    return {"userId": user_id, "rootId": root_id}


async def written_in(database: Database, user_id: str) -> dict[str, int]:
    """The roots of threads that a user has written in, and the seq of their newest message there;
    their own message counts if it is the root."""
    whole = {"senderId": user_id, "seq": {"$type": shapes.WHOLE}}
    replies = await database.aggregate(
        database.messages,
        [
            {"$match": {**whole, "threadRootMessageId": {"$type": "string"}}},
            {"$group": {"_id": "$threadRootMessageId", "seq": {"$max": "$seq"}}},
            IS_TEXT,
        ],
        hint=REPLIES_INDEX,
    )
    own = {**whole, "_id": {"$type": "string"}, LAST_REPLY: {"$type": "date"}}
    roots = await database.read(
        lambda: database.messages.find(own, {"seq": 1}).hint(ROOTS_INDEX).to_list(None)
    )
    found = {root["_id"]: root["seq"] for root in roots}
    return found | {reply["_id"]: reply["seq"] for reply in replies}


async def mentioned_in(database: Database, user_id: str) -> set[str]:
    """The roots of threads in which others mention a user."""
    rows = await database.aggregate(
        database.messages,
        [
            {
                "$match": {
                    "mentions.userId": user_id,
                    "threadRootMessageId": {"$type": "string"},
                    "senderId": {"$ne": user_id},
                    "deletedAt": None,
                }
            },
            {"$group": {"_id": "$threadRootMessageId"}},
            IS_TEXT,
        ],
        hint=MENTIONS_INDEX,
    )
    return {row["_id"] for row in rows}


async def of_user(database: Database, user_id: str) -> dict[str, ThreadStateDocument]:
    """The stored thread states of a user, by root."""
    found = await database.read(
        lambda: database.thread_states.find({"userId": user_id}).to_list(None)
    )
    rows = shapes.readable("thread_states", cast(list[ThreadStateDocument], found))
    return {row["rootId"]: row for row in rows}


async def put(
    database: Database,
    user_id: str,
    conversation_id: str,
    root_id: str,
    *,
    follows: bool | None = None,
    read_to: int = 0,
) -> None:
    """Store whether a user follows a thread, if it is given, or up to which seq they have read it,
    which never falls."""
    new: dict[str, Any] = {"conversationId": conversation_id, **state_id(user_id, root_id)}
    if follows is None:
        new["follows"] = None
    # `$max`: a read state never falls, whichever process is faster.
    update: dict[str, Any] = {"$setOnInsert": new, "$max": {"lastReadSeq": read_to}}
    if follows is not None:
        update["$set"] = {"follows": follows}
    here = {"_id": state_id(user_id, root_id)}
    await database.write(lambda: database.thread_states.update_one(here, update, upsert=True))


async def remove(database: Database, user_id: str, root_id: str) -> None:
    """Remove the state of a thread, if there is one."""
    here = {"_id": state_id(user_id, root_id)}
    await database.write(lambda: database.thread_states.delete_one(here))


async def list_roots(
    database: Database,
    root_ids: Collection[str],
    position: keyset_query.After | None,
    *,
    hidden: Hidden,
    limit: int,
) -> Rows[MessageDocument]:
    """The roots, among these, that have replies and are not hidden, behind a position, the latest
    reply first. Their times are naive UTC."""
    behind = keyset_query.behind(position, at=LAST_REPLY)
    these = {"_id": {"$in": list(root_ids)}, LAST_REPLY: {"$type": "date"}}
    chosen = {"$and": [these, behind, *unless_hidden(hidden)]}
    plain = database.plain_messages

    def opened() -> Any:
        found = plain.find_raw_batches(chosen, READ, batch_size=limit)
        return found.sort(keyset_query.newest(at=LAST_REPLY)).limit(limit)

    return await read_rows(database, plain, opened, most=MOST_BYTES)


async def count_unread(
    database: Database, user_id: str, starts: Mapping[str, int]
) -> dict[str, int]:
    """How many replies of others each thread has behind a seq, up to 100."""
    if not starts:
        return {}
    pipelines: list[list[dict[str, Any]]] = []
    for root_id, start in starts.items():
        behind = {"$type": shapes.WHOLE, "$gt": start}
        pipelines.append(
            [
                {"$match": {"timelines": root_id, "seq": behind, "senderId": {"$ne": user_id}}},
                {"$limit": MOST_COUNTED},
                {"$count": "count"},
                # `$literal`: an id that starts with `$` would be read as the name of a field.
                {"$set": {"rootId": {"$literal": root_id}}},
            ]
        )
    rows = await database.aggregate(database.messages, union(database.messages, pipelines))
    return {row["rootId"]: row["count"] for row in rows}
