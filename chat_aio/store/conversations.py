"""Conversations and their heads: finding, listing and creating them."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, cast

from pymongo.errors import DuplicateKeyError, OperationFailure

from chat_aio.errors import ConversationNotFound, SetupError, StorageUnavailable
from chat_aio.schema.fields import Scalar, meanings_of
from chat_aio.store import keyset_query, shapes
from chat_aio.store.backoff import jitter
from chat_aio.store.calls import deadline_within
from chat_aio.store.database import Database
from chat_aio.store.deleted_conversations import require_unused
from chat_aio.store.documents import ConversationDocument, CounterDocument, ParticipantDocument
from chat_aio.store.metadata import metadata_index, metadata_path
from chat_aio.store.sent_counts import WITHOUT_COUNTS, nothing_up_to, with_counts_of
from chat_aio.store.transactions import Session, transact

SHARED_AT_A_TIME = 100

IDS_AT_ONCE = 10_000
"""In one batch: by default MongoDB puts 101 rows into the first one."""

_BAD_HINT = 2


async def find(database: Database, conversation_id: str) -> ConversationDocument | None:
    """The conversation, read at majority; None if it does not exist or is malformed."""
    return shapes.one_readable("conversations", await _find(database, {"_id": conversation_id}))


async def _find(database: Database, chosen: Mapping[str, Any]) -> ConversationDocument | None:
    found = await database.read(lambda: database.conversations.find_one(chosen))
    return cast(ConversationDocument | None, found)


async def id_of_key(database: Database, key: str) -> str | None:
    """The id of the group with a key of the host, read at majority; None if there is none."""
    found = await database.read(lambda: database.conversations.find_one(_by_key(key), {"_id": 1}))
    return found["_id"] if found and isinstance(found["_id"], str) else None


def _by_key(key: str) -> dict[str, Any]:
    # The `$type` is that of the partial index, without which the planner does not use it.
    return {"key": {"$eq": key, "$type": "string"}}


async def find_many(database: Database, ids: Iterable[str]) -> dict[str, ConversationDocument]:
    """The conversations among `ids` that exist, by id.

    Their times are naive UTC: decoding thousands of aware times takes longer than everything else.
    """
    found = await database.read(
        lambda: database.plain_conversations.find({"_id": {"$in": list(ids)}}).to_list(None)
    )
    return {
        conversation["_id"]: conversation
        for conversation in shapes.readable("conversations", found)
    }


async def find_head(
    database: Database, conversation_id: str, *, counts_of: Iterable[str] = ()
) -> CounterDocument | None:
    """The head of a conversation (its counter document), with the counts of some users; None if it
    does not exist, is a stub, or is malformed."""
    shown = with_counts_of(counts_of)
    found = await database.read(lambda: database.counters.find_one({"_id": conversation_id}, shown))
    full = cast(CounterDocument | None, found if found and "seq" in found else None)
    return shapes.one_readable("counters", full)


async def ids_of_user(
    database: Database,
    user_id: str,
    *,
    containing: str | None = None,
    with_any: Collection[str] = (),
    among: Collection[str] | None = None,
    key: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> list[str]:
    """The ids of all conversations that a user is in, read from the index alone; or of those that
    contain a text in their name or in the id of another participant, ignoring case, or that have
    any of some other participants; only those `among` some, the group that has a `key`, and those
    with such `metadata`."""
    chosen: dict[str, Any] = {"participants.userId": user_id}
    if among is not None:
        chosen["_id"] = {"$in": list(among)}
    if key is not None:
        chosen |= _by_key(key)
    if metadata:
        chosen |= _with_metadata(metadata)
    if containing is not None:
        text = with_text(containing)
        # One element must meet both conditions: the user's own id is in every conversation.
        other = {"$elemMatch": {"userId": {**text, "$ne": user_id}}}
        named = {"$elemMatch": {"userId": {"$in": [*with_any], "$ne": user_id}}}
        chosen["$or"] = [{"name": text}, {"participants": other}, {"participants": named}]
    found = await database.read(
        lambda: database.conversations.find(chosen, {"_id": 1}, batch_size=IDS_AT_ONCE).to_list(
            None
        )
    )
    return [conversation["_id"] for conversation in found if isinstance(conversation["_id"], str)]


def with_text(text: str) -> dict[str, Any]:
    """The condition that a field contains a text, ignoring case."""
    pattern = re.escape(text).replace("\0", r"\x00")  # MongoDB accepts no NUL.
    return {"$regex": pattern, "$options": "i"}


async def ids_with_metadata(
    database: Database,
    metadata: Mapping[str, Any],
    *,
    user_id: str | None,
    after: str,
    limit: int,
) -> list[str]:
    """The ids of conversations with these values in their metadata, in order behind `after`, which
    is empty for the first ones; those of a user, or all. Raises SetupError if the index is missing:
    all conversations would be read."""
    # Only texts, as `$gt` compares values of one type: without them, a page would seem the last.
    chosen = {**_with_metadata(metadata), "_id": {"$gt": after}}
    if user_id is not None:
        chosen["participants.userId"] = user_id
    rows = database.conversations.find(chosen, {"_id": 1}).sort("_id", 1).limit(limit)
    if user_id is None:
        rows = rows.hint(metadata_index(next(iter(metadata))))
    try:
        found = await database.read(lambda: rows.to_list(None))
    except OperationFailure as error:
        if error.code != _BAD_HINT:
            raise
        raise SetupError(
            f"an index of the metadata {', '.join(metadata)} is missing: run chat-aio indexes apply"
        ) from error
    return [conversation["_id"] for conversation in found]


def _with_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The condition that metadata have these values. A list that contains a value is not equal to
    it, although MongoDB finds it by the index."""
    return {
        metadata_path(name): {**_one_of(meanings_of(value)), "$not": {"$type": "array"}}
        for name, value in metadata.items()
    }


def _one_of(values: Sequence[Scalar]) -> dict[str, Any]:
    # One value by `$eq`: only then does the index also have the order by id.
    return {"$eq": values[0]} if len(values) == 1 else {"$in": list(values)}


async def users_sharing_conversation(
    database: Database, user_id: str, others: Collection[str]
) -> set[str]:
    """The users among `others` who share a conversation with a user."""
    # One query for all: MongoDB starts from whichever side has fewer conversations, while a query
    # for each of 50 users read the user's own conversations 50 times. A round examines a hundred
    # shared conversations, which may all be with the same few users; the next one queries the rest.
    missing, shared = set(others) - {user_id}, set[str]()
    while missing:
        wanted = sorted(missing)
        both = [{"participants.userId": user_id}, {"participants.userId": {"$in": wanted}}]
        # `$literal`: an id that starts with `$` would be read as the name of a field.
        here = {"$setIntersection": ["$participants.userId", {"$literal": wanted}]}
        pipeline: list[dict[str, Any]] = [
            {"$match": {"$and": both}},
            {"$limit": SHARED_AT_A_TIME},
            {"$project": {"_id": 0, "here": here}},
        ]
        found = await database.aggregate(database.conversations, pipeline)
        shared |= {sharing for row in found for sharing in row["here"]}
        missing -= shared
        if len(found) < SHARED_AT_A_TIME:
            break
    return shared


async def list_heads(
    database: Database,
    ids: Sequence[str],
    *,
    limit: int,
    position: keyset_query.After | None = None,
    spoken: bool = False,
    counts_of: Iterable[str] = (),
) -> list[CounterDocument]:
    """Heads among `ids` behind a position, most recently active first, ties by id descending, with
    the counts of some users.

    `spoken` leaves out conversations without a message.
    """
    chosen: dict[str, object] = {"_id": {"$in": list(ids)}}
    if spoken:
        chosen["seq"] = {"$gt": 0}
    return await find_heads(
        database, chosen, limit=limit, position=position, shown=with_counts_of(counts_of)
    )


async def find_heads(
    database: Database,
    chosen: Mapping[str, object],
    *,
    limit: int,
    position: keyset_query.After | None,
    shown: Mapping[str, int] = WITHOUT_COUNTS,
) -> list[CounterDocument]:
    """The heads that are `chosen`, behind a position, in the order of `list_heads`."""
    found = await database.read(
        lambda: keyset_query.page(
            database.counters, chosen, position, limit=limit, at="activityAt", shown=shown
        )
    )
    return cast(list[CounterDocument], found)


def new_conversation(
    conversation_id: str,
    *,
    creator_id: str,
    roles: Mapping[str, Literal["admin", "member"]],
    at: datetime,
    change_id: str,
    pair_key: str | None = None,
    name: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    visibility: Literal["private", "public"] = "private",
    join_policy: Literal["open", "approval"] = "approval",
    key: str | None = None,
) -> ConversationDocument:
    """A new conversation: a direct one if it has a `pair_key`, else a group, which may have a `key`
    of the host. `metadata` is in its stored form (`store/metadata.py`).

    If `roles` has others than the creator of a group, its stamp causes the event that they were
    added.
    """
    others = [user_id for user_id in roles if user_id != creator_id] if pair_key is None else []
    conversation: ConversationDocument = {
        "_id": conversation_id,
        "type": "group" if pair_key is None else "direct",
        "pairKey": pair_key,
        "name": name,
        "createdAt": at,
        "metadata": dict(metadata or {}),
        "visibility": visibility,
        "joinPolicy": join_policy,
        "epoch": 0,
        # In the order of ids, because all join at the same time (specification 3.4).
        "participants": [
            new_participant(user_id, role=roles[user_id], at=at) for user_id in sorted(roles)
        ],
        "change": {
            "id": change_id,
            "at": at,
            "kind": "participant.added" if others else "conversation.created",
            "actorId": creator_id,
            "addedUserIds": others,
        },
    }
    if name is not None:
        conversation["namedBy"] = creator_id
    if key is not None:
        conversation["key"] = key
    return conversation


def new_participant(
    user_id: str, *, role: Literal["admin", "member"], at: datetime, hidden_up_to_seq: int = 0
) -> ParticipantDocument:
    """A participant who joins now and has read nothing; messages with a seq up to
    `hidden_up_to_seq` are hidden from them."""
    sent = nothing_up_to(0)
    # `lastReadSeq` is 0, never null or missing: `$lt` in the filter of a mark matches neither.
    made: ParticipantDocument = {
        "userId": user_id,
        "role": role,
        "joinedAt": at,
        "lastReadMessageId": None,
        "lastReadSeq": 0,
        "sentUpToSeq": sent["sentUpToSeq"],
        "sentCount": sent["sentCount"],
    }
    return {**made, "hiddenUpToSeq": hidden_up_to_seq} if hidden_up_to_seq else made


async def create(
    database: Database,
    conversation: ConversationDocument,
    *,
    allowed: Callable[[Session], Awaitable[None]] | None = None,
) -> tuple[ConversationDocument, bool]:
    """Write a conversation and its head in one transaction; returns it and whether it is new.

    If its key or id exists already (two users open the same direct conversation), return the stored
    one. `allowed` runs after the head is locked; an error that it raises aborts the transaction.
    Raises StorageUnavailable, ConversationNotFound if the stored one is malformed, and IdDeleted if
    the id is that of a deleted conversation.
    """

    async def body(session: Session) -> tuple[ConversationDocument, bool]:
        # The head first, as the lock. If a block has left a stub, its epoch is kept. A full head
        # does not match, and the upsert is a duplicate key: the conversation exists already.
        head = await database.counters.find_one_and_update(
            {"_id": conversation["_id"], "seq": {"$exists": False}},
            {
                "$inc": {"epoch": 1},
                "$set": {
                    "seq": 0,
                    "activityAt": conversation["createdAt"],
                    "fence": 0,
                    "public": conversation["visibility"] == "public",
                    "floorSeq": 0,
                    "counted": 0,
                    "sent": {},
                },
            },
            upsert=True,
            return_document=True,
            session=session,
        )
        conversation["epoch"] = head["epoch"]
        if conversation["type"] == "direct":  # The ids of groups are random.
            await require_unused(database, [conversation["_id"]], session)
        if allowed is not None:
            await allowed(session)
        await database.conversations.insert_one(conversation, session=session)
        return conversation, True

    deadline = deadline_within(database.timeout)
    tries = 0
    while True:
        try:
            return await transact(database, body, deadline=deadline)
        except DuplicateKeyError:
            if found := await _created_by_another(database, conversation):
                return found, False
        # The majority does not have it yet, or it was deleted: then the next try creates it, or
        # finds the id of a pair deleted.
        tries += 1
        if time.monotonic() >= deadline:
            raise StorageUnavailable
        await asyncio.sleep(jitter(tries))


async def _created_by_another(
    database: Database, conversation: ConversationDocument
) -> ConversationDocument | None:
    """The conversation that another request has created; None if it cannot be read at majority.
    Raises ConversationNotFound if it is malformed."""
    # An id is random or that of a pair, so with a key the key exists already.
    key = conversation.get("key")
    found = await _find(database, {"_id": conversation["_id"]} if key is None else _by_key(key))
    if found and not shapes.readable("conversations", [found]):
        raise ConversationNotFound
    return found
