"""Conversations and their heads: finding, listing and creating them."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, cast

from pymongo.errors import DuplicateKeyError

from chat_aio.errors import ConversationNotFound, StorageUnavailable
from chat_aio.store import keyset_query, shapes
from chat_aio.store.backoff import jitter
from chat_aio.store.calls import deadline_within
from chat_aio.store.database import Database
from chat_aio.store.documents import ConversationDocument, CounterDocument, ParticipantDocument
from chat_aio.store.sent_counts import WITHOUT_COUNTS, nothing_up_to, with_counts_of
from chat_aio.store.transactions import Session, transact

SHARED_AT_A_TIME = 100


async def find(database: Database, conversation_id: str) -> ConversationDocument | None:
    """The conversation, read at majority; None if it does not exist or is malformed."""
    return shapes.one_readable("conversations", await _find(database, conversation_id))


async def _find(database: Database, conversation_id: str) -> ConversationDocument | None:
    found = await database.read(lambda: database.conversations.find_one({"_id": conversation_id}))
    return cast(ConversationDocument | None, found)


async def find_many(database: Database, ids: Iterable[str]) -> dict[str, ConversationDocument]:
    """The conversations among `ids` that exist, by id.

    Their times are naive UTC: decoding thousands of aware ones takes longer than all the rest.
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
) -> list[str]:
    """The ids of all conversations that a user is in, read from the index alone; or of those that
    have a text in their name or in the id of another participant, in whatever case, or any of some
    other participants."""
    chosen: dict[str, Any] = {"participants.userId": user_id}
    if containing is not None:
        pattern = re.escape(containing).replace("\0", r"\x00")  # MongoDB takes no NUL.
        text = {"$regex": pattern, "$options": "i"}
        other = {"$elemMatch": {"userId": {**text, "$ne": user_id}}}
        named = {"$elemMatch": {"userId": {"$in": [*with_any], "$ne": user_id}}}
        chosen["$or"] = [{"name": text}, {"participants": other}, {"participants": named}]
    found = await database.read(
        lambda: database.conversations.find(chosen, {"_id": 1}).to_list(None)
    )
    return [conversation["_id"] for conversation in found if isinstance(conversation["_id"], str)]


async def who_share(database: Database, user_id: str, others: Collection[str]) -> set[str]:
    """Those of `others` who share a conversation with a user."""
    # One query for all: MongoDB starts from whichever side has fewer conversations, while a query
    # for each of 50 users went through the user's own conversations 50 times. Each round looks at a
    # hundred shared conversations, which may all be with the same few, and asks for the rest anew.
    missing, shared = set(others) - {user_id}, set[str]()
    while missing:
        found = await _sharing(database, user_id, sorted(missing))
        shared |= {user_id for pair in found for user_id in pair}
        missing -= shared
        if len(found) < SHARED_AT_A_TIME:
            break
    return shared


async def _sharing(
    database: Database, user_id: str, others: Sequence[str]
) -> list[Collection[str]]:
    """For up to a hundred conversations of a user with any of `others`: which of them are in it."""
    both = [{"participants.userId": user_id}, {"participants.userId": {"$in": list(others)}}]
    # `$literal`: an id that begins with `$` would be read as the name of a field.
    here = {"$setIntersection": ["$participants.userId", {"$literal": list(others)}]}
    pipeline: list[dict[str, Any]] = [
        {"$match": {"$and": both}},
        {"$limit": SHARED_AT_A_TIME},
        {"$project": {"_id": 0, "here": here}},
    ]
    found = await database.aggregate(database.conversations, pipeline)
    return [row["here"] for row in found]


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
) -> ConversationDocument:
    """A new conversation: a direct one if it has a `pair_key`, else a group. `metadata` is as it is
    stored (`store/metadata.py`).

    If `roles` has members, its stamp makes the event that they were added.
    """
    members = [user_id for user_id, role in roles.items() if role == "member"]
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
        # In the order of ids, because all join at the same time (docs/behaviour.md 3.4).
        "participants": [
            new_participant(user_id, role=roles[user_id], at=at) for user_id in sorted(roles)
        ],
        "change": {
            "id": change_id,
            "at": at,
            "kind": "participant.added" if members else "conversation.created",
            "actorId": creator_id,
            "addedUserIds": members,
        },
    }
    if name is not None:
        conversation["namedBy"] = creator_id
    return conversation


def new_participant(
    user_id: str, *, role: Literal["admin", "member"], at: datetime, hidden_upto: int = 0
) -> ParticipantDocument:
    """A participant who joins now and has read nothing; what has a seq up to `hidden_upto` is not
    there for them."""
    sent = nothing_up_to(0)
    made: ParticipantDocument = {
        "userId": user_id,
        "role": role,
        "joinedAt": at,
        "lastReadMessageId": None,
        "lastReadSeq": 0,
        "sentUpto": sent["sentUpto"],
        "sentCount": sent["sentCount"],
    }
    return {**made, "hiddenUpto": hidden_upto} if hidden_upto else made


async def create(
    database: Database,
    conversation: ConversationDocument,
    *,
    allowed: Callable[[Session], Awaitable[None]] | None = None,
) -> tuple[ConversationDocument, bool]:
    """Write a conversation and its head in one transaction; returns it and whether it is new.

    If the id exists already (two users open the same direct conversation), return the stored one.
    `allowed` runs after the head is locked; what it raises aborts the transaction.
    """

    async def body(session: Session) -> tuple[ConversationDocument, bool]:
        await _make_head(database, conversation, session)
        if allowed is not None:
            await allowed(session)
        await database.conversations.insert_one(conversation, session=session)
        return conversation, True

    try:
        return await transact(database, body)
    except DuplicateKeyError:
        return await _follow(database, conversation["_id"]), False


async def _follow(database: Database, conversation_id: str) -> ConversationDocument:
    """Wait for a conversation that another request has just created. Raises StorageUnavailable,
    and ConversationNotFound if it is malformed."""
    # Its insert was a duplicate key here, but reads are at majority, which may not have it yet.
    deadline = deadline_within(database.timeout)
    tries = 0
    while (found := await _find(database, conversation_id)) is None:
        tries += 1
        if time.monotonic() >= deadline:
            raise StorageUnavailable
        await asyncio.sleep(jitter(tries))
    if not shapes.readable("conversations", [found]):
        raise ConversationNotFound
    return found


async def _make_head(
    database: Database, conversation: ConversationDocument, session: Session
) -> None:
    """Create the head, which is the first lock. If a block has left a stub, its epoch goes on."""
    # If there is a full head, nothing matches and the upsert is a duplicate key: then the
    # conversation exists already.
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
