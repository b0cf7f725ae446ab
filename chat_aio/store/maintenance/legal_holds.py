"""Legal holds: which data they keep from retention and erasure."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal, cast
from zlib import crc32

from pymongo import UpdateOne

from chat_aio.errors import ConversationNotFound, SetupError
from chat_aio.store import audit, shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import AuditEntry, ConversationDocument, LegalHoldDocument
from chat_aio.store.transactions import Session, Unchanged, transact

Target = Literal["user", "conversation"]

SECONDS = 60.0
FENCE, FENCES = "legal_holds:", 64
"""Rows of `settings`. With one for all conversations, deletions would conflict with each other: 64
at once took 20 seconds, measured against 1."""

EXPIRING = ("message_versions", "held_messages")
"""The collections whose rows a TTL index removes at `expiresAt`. Without that field it does not."""


def hold_id(target_type: Target, target_id: str) -> str:
    return f"{target_type}:{target_id}"


async def put(
    database: Database, hold: LegalHoldDocument, entry: AuditEntry
) -> tuple[LegalHoldDocument, bool]:
    """Place a hold, unless there is one on this target; returns the one that is in force, and
    whether it is new. Raises ConversationNotFound, and SetupError if that one is malformed."""

    async def body(session: Session) -> tuple[LegalHoldDocument, bool]:
        if hold["targetType"] == "conversation":
            # The head is what a deletion locks first: either it sees the hold, or this finds none.
            here, raised = {"_id": hold["targetId"]}, {"$inc": {"fence": 1}}
            head = await database.counters.update_one(here, raised, session=session)
            if not head.matched_count:
                raise ConversationNotFound
        found = await database.legal_holds.find_one({"_id": hold["_id"]}, session=session)
        if found is not None:
            kept = shapes.one_readable("legal_holds", cast(LegalHoldDocument, found))
            if kept is None:
                raise SetupError(f"the legal hold {hold['_id']} is malformed: run chat-aio check")
            raise Unchanged((kept, False))
        await database.legal_holds.insert_one(hold, session=session)
        await audit.add(database, entry, session)
        return hold, True

    placed = await transact(database, body)
    if hold["targetType"] == "user":
        # Also if it is not new: the call that has placed it may have failed before this.
        await _raise_fences(database)
    await keep_expiring(database)
    return placed


async def pass_fence(database: Database, conversation_id: str, session: Session) -> None:
    """Let a deletion that has read the holds conflict with a later hold, so that it is tried again
    and finds it: a hold on a user does not lock the heads of their conversations, which may be any
    number."""
    number = crc32(conversation_id.encode()) % FENCES
    raised = {"$inc": {"fence": 1}}
    await database.settings.update_one(
        {"_id": f"{FENCE}{number}"}, raised, upsert=True, session=session
    )


async def _raise_fences(database: Database) -> None:
    """End or outwait the deletions that have begun before a hold was committed. Not in the hold's
    own transaction, which would conflict as long as anybody deletes: these updates wait."""
    raised = {"$inc": {"fence": 1}}
    writes = [
        UpdateOne({"_id": f"{FENCE}{number}"}, raised, upsert=True) for number in range(FENCES)
    ]
    await database.write(lambda: database.settings.bulk_write(writes, ordered=False))


async def keep_expiring(database: Database) -> None:
    """Remove the expiry from rows that a hold keeps. Rows written later get an expiry: every run of
    the retention calls this again, long before they expire."""
    kept = await _kept_rows(database)
    if not kept:
        return
    chosen = {"$or": kept, "expiresAt": {"$exists": True}}
    for name in EXPIRING:
        rows = database.collection(name)
        await database.write(partial(rows.update_many, chosen, {"$unset": {"expiresAt": ""}}))


async def _kept_rows(database: Database) -> list[dict[str, Any]]:
    """The queries for the rows of EXPIRING that a hold keeps: of held users, and of all users in
    the conversations that holds keep."""
    users = await kept_users(database)
    conversations = await kept_conversations(database)
    of_users = [{"senderId": {"$in": sorted(users)}}] if users else []
    inside = [{"conversationId": {"$in": sorted(conversations)}}] if conversations else []
    return [*of_users, *inside]


async def lift(database: Database, target: str, entry: AuditEntry) -> LegalHoldDocument | None:
    """Lift a hold; returns it, or None if there is none."""

    async def body(session: Session) -> LegalHoldDocument | None:
        found = await database.legal_holds.find_one_and_delete({"_id": target}, session=session)
        if found is None:
            raise Unchanged(None)
        await audit.add(database, entry, session)
        return cast(LegalHoldDocument, found)

    return await transact(database, body)


async def let_expire(database: Database, *, at: datetime, after: timedelta) -> None:
    """Let rows that no hold keeps expire after some time."""
    still = await _kept_rows(database)
    chosen: dict[str, Any] = {"expiresAt": {"$exists": False}}
    if still:
        chosen["$nor"] = still
    for name in EXPIRING:
        expires = {"$set": {"expiresAt": at + after}}
        await database.write(partial(database.collection(name).update_many, chosen, expires))
    # Rows of a hold that was placed in the meantime have got an expiry again: remove it.
    await keep_expiring(database)


async def list_all(database: Database) -> list[LegalHoldDocument]:
    """All holds, newest first. There are few."""
    rows = database.legal_holds.find().sort("createdAt", -1)
    found = await database.read(lambda: rows.to_list(None))
    return shapes.readable("legal_holds", cast(list[LegalHoldDocument], found))


async def on_user(database: Database, user_id: str) -> list[LegalHoldDocument]:
    """The holds that keep data of a user: on them, on conversations that they are in or have
    written in, and on users who are or have written in one of these."""
    holds = await list_all(database)
    theirs = await _conversations_of(database, user_id) if holds else set[str]()
    return [
        hold
        for hold in holds
        if (hold["targetType"], hold["targetId"]) == ("user", user_id)
        or theirs & await _kept_by(database, hold)
    ]


async def kept_conversations(database: Database) -> set[str]:
    """The conversations under a hold, and the conversations that users under a hold are in or have
    written in."""
    kept: set[str] = set()
    for hold in await list_all(database):
        kept |= await _kept_by(database, hold)
    return kept


async def _kept_by(database: Database, hold: LegalHoldDocument) -> set[str]:
    """The conversations that a hold keeps."""
    if hold["targetType"] == "conversation":
        return {hold["targetId"]}
    return await _conversations_of(database, hold["targetId"])


async def _conversations_of(database: Database, user_id: str) -> set[str]:
    written = await database.read(
        lambda: database.messages.distinct("conversationId", {"senderId": user_id}),
        seconds=SECONDS,
    )
    inside = await database.read(
        lambda: database.conversations.distinct("_id", {"participants.userId": user_id}),
        seconds=SECONDS,
    )
    return {*written, *inside}


async def keeps(database: Database, conversation: ConversationDocument, session: Session) -> bool:
    """Whether a hold keeps a conversation: one on it, on a participant or on a former one with
    messages in it. As `kept_conversations`, for one conversation and within a transaction."""
    inside = {participant["userId"] for participant in conversation["participants"]}
    for hold in await database.legal_holds.find(session=session).to_list(None):
        # A malformed hold stays in force.
        kept = hold.get("targetId")
        if hold.get("targetType") != "user":
            if kept == conversation["_id"]:
                return True
            continue
        written = {"senderId": kept, "conversationId": conversation["_id"]}
        if kept in inside or await database.messages.find_one(written, {"_id": 1}, session=session):
            return True
    return False


async def kept_users(database: Database) -> set[str]:
    """The users under a hold."""
    holds = await list_all(database)
    return {hold["targetId"] for hold in holds if hold["targetType"] == "user"}
