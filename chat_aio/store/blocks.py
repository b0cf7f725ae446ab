"""Blocks between two users. Every change also raises the epoch of their direct conversation."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, TypeVar, cast

from chat_aio.errors import StorageUnavailable
from chat_aio.store import keyset_query, shapes
from chat_aio.store.backoff import jitter
from chat_aio.store.calls import deadline_within
from chat_aio.store.database import Database
from chat_aio.store.deleted_conversations import IdDeleted, require_unused
from chat_aio.store.direct_conversations import direct_conversation_id
from chat_aio.store.documents import BlockDocument
from chat_aio.store.membership import Membership
from chat_aio.store.settings import Settings
from chat_aio.store.transactions import Session, Unchanged, transact_unique

PAIRS_AT_A_TIME = 500

T = TypeVar("T")


async def put(
    database: Database, membership: Membership, settings: Settings, block: BlockDocument
) -> BlockDocument:
    """Insert a block unless there is one; returns the stored block.

    The new epoch invalidates the checks of earlier sends. If the two have no conversation yet, its
    head is created as a stub, so that opening the conversation takes the same lock.
    """

    async def body(direct_id: str, session: Session) -> BlockDocument:
        # Before any read: rows that are read after the lock cannot change until the end.
        epoch = await _lock(database, direct_id, session)
        found = await database.blocks.find_one({"_id": block["_id"]}, session=session)
        existing = shapes.one_readable("blocks", found)
        direct = await database.conversations.find_one({"_id": direct_id}, session=session)
        blockers = _blockers(direct)
        if existing and (direct is None or block["blockerUserId"] in blockers):
            raise Unchanged(existing)
        # A row that cannot be read is replaced. Not by `replace_one`: a chat's role may insert and
        # remove blocks, not update them.
        if not existing:
            await database.blocks.delete_one({"_id": block["_id"]}, session=session)
            await database.blocks.insert_one(block, session=session)
        blocked_by = [*dict.fromkeys([*blockers, block["blockerUserId"]])]
        await database.conversations.update_one(
            {"_id": direct_id},
            {"$set": {"epoch": epoch, "blockedBy": blocked_by}},
            session=session,
        )
        return cast(BlockDocument, existing or block)

    return await _in_direct(database, membership, settings, block["_id"], body)


async def remove(
    database: Database, membership: Membership, settings: Settings, block_id: dict[str, str]
) -> None:
    """Remove a block, if there is one."""

    async def body(direct_id: str, session: Session) -> None:
        epoch = await _lock(database, direct_id, session)
        deleted = await database.blocks.delete_one({"_id": block_id}, session=session)
        direct = await database.conversations.find_one({"_id": direct_id}, session=session)
        blockers = _blockers(direct)
        if not deleted.deleted_count and block_id["blockerUserId"] not in blockers:
            raise Unchanged(None)
        left = [user_id for user_id in blockers if user_id != block_id["blockerUserId"]]
        await database.conversations.update_one(
            {"_id": direct_id}, {"$set": {"epoch": epoch, "blockedBy": left}}, session=session
        )

    await _in_direct(database, membership, settings, block_id, body)


async def _in_direct(
    database: Database,
    membership: Membership,
    settings: Settings,
    block_id: dict[str, str],
    body: Callable[[str, Session], Awaitable[T]],
) -> T:
    """Run a transaction about the direct conversation of a pair. If that is deleted before the
    transaction has its lock, run it again with the pair's new id: a block under the old one would
    not keep the next conversation from being opened."""
    until = deadline_within(database.timeout)
    tries = 0
    while True:
        direct_id = await direct_conversation_id(settings, *block_id.values())
        async with membership.hold(direct_id) as deadline:
            with suppress(IdDeleted):
                return await transact_unique(database, partial(body, direct_id), deadline=deadline)
        tries += 1
        if time.monotonic() >= until:
            raise StorageUnavailable
        await asyncio.sleep(jitter(tries))


async def is_blocked(database: Database, user_ids: list[str], session: Session) -> bool:
    """Whether one of two users has blocked the other."""
    one, other = user_ids
    pairs = [block_id(one, other), block_id(other, one)]
    found = await database.blocks.find_one({"_id": {"$in": pairs}}, session=session)
    return found is not None


async def pairs_apart(
    database: Database, pairs: Collection[tuple[str, str]], session: Session = None
) -> set[tuple[str, str]]:
    """The pairs of which one user has blocked the other. Reads only the `_id` index."""
    found: set[tuple[str, str]] = set()
    left = iter(pairs)
    while together := tuple(islice(left, PAIRS_AT_A_TIME)):
        ids = [block_id(*pair) for one, other in together for pair in ((one, other), (other, one))]
        cursor = database.blocks.find({"_id": {"$in": ids}}, {"_id": 1}, session=session)
        read = partial(cursor.to_list, None)
        # The transaction of a session has its own timeout and its own retry.
        rows = await (read() if session is not None else database.read(read))
        blocked = {pair_of(block["_id"]) for block in rows}
        found |= {pair for pair in together if pair in blocked or pair[::-1] in blocked}
    return found


async def list_newest(
    database: Database, user_id: str, *, position: keyset_query.After | None, limit: int
) -> list[BlockDocument]:
    """The blocks of a user, newest first."""
    found = await database.read(
        lambda: keyset_query.page(
            database.blocks,
            {"blockerUserId": user_id},
            position,
            limit=limit,
            key="blockedUserId",
        )
    )
    return cast(list[BlockDocument], found)


def block_id(blocker_id: str, blocked_id: str) -> dict[str, str]:
    """A block's `_id`. It has both users, because a deletion in the change stream has only it."""
    return {"blockerUserId": blocker_id, "blockedUserId": blocked_id}


def pair_of(found: object) -> tuple[str, str] | None:
    """The (blocker, blocked) of a block's `_id`; None if another program wrote something else."""
    match found:
        case {"blockerUserId": str(one), "blockedUserId": str(other)}:
            return one, other
    return None


def _blockers(direct: Mapping[str, Any] | None) -> list[str]:
    """The users of a direct conversation who have blocked the other one. If another program has
    corrupted `blockedBy`, both have: messages stay blocked until both have unblocked the other."""
    found = (direct or {}).get("blockedBy", [])
    if isinstance(found, list) and all(isinstance(user_id, str) for user_id in found):
        return found
    return [participant["userId"] for participant in (direct or {}).get("participants", ())]


async def _lock(database: Database, direct_id: str, session: Session) -> int:
    # Repair an epoch that another program has corrupted: `$inc` fails on anything but a number.
    await database.counters.update_one(
        {"_id": direct_id, "epoch": {"$exists": True, "$not": {"$type": shapes.WHOLE}}},
        {"$set": {"epoch": 0}},
        session=session,
    )
    head = await database.counters.find_one_and_update(
        {"_id": direct_id},
        {"$inc": {"epoch": 1}},
        upsert=True,
        return_document=True,
        session=session,
    )
    await require_unused(database, [direct_id], session)
    return cast(int, head["epoch"])
