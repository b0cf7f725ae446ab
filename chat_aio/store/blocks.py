"""Blocks between two users. Each change also raises the epoch of their direct conversation."""

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any, cast

from chat_aio.store import keyset_query, shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import BlockDocument
from chat_aio.store.membership import Membership
from chat_aio.store.transactions import Session, Unchanged, transact_unique

PAIRS_AT_A_TIME = 500


async def put(
    database: Database, membership: Membership, direct_id: str, block: BlockDocument
) -> BlockDocument:
    """Insert a block unless there is one; returns the stored block.

    The new epoch makes sends that were checked before fail their check. If the two have no
    conversation yet, its head is made as a stub, so that opening one meets the same lock.
    """

    async def body(session: Session) -> BlockDocument:
        epoch = await _lock(database, direct_id, session)
        found = await database.blocks.find_one({"_id": block["_id"]}, session=session)
        existing = shapes.one_readable("blocks", found)
        direct = await database.conversations.find_one({"_id": direct_id}, session=session)
        blockers = _blockers(direct)
        if existing and (direct is None or block["blockerUserId"] in blockers):
            raise Unchanged(existing)
        # A row that cannot be read is replaced.
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

    async with membership.hold(direct_id) as deadline:
        return await transact_unique(database, body, deadline=deadline)


async def remove(
    database: Database, membership: Membership, direct_id: str, block_id: dict[str, str]
) -> None:
    """Remove a block, if there is one."""

    async def body(session: Session) -> None:
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

    async with membership.hold(direct_id) as deadline:
        await transact_unique(database, body, deadline=deadline)


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
        blocked = await _list_pairs(database, ids, session)
        found |= {pair for pair in together if pair in blocked or pair[::-1] in blocked}
    return found


async def _list_pairs(
    database: Database, ids: list[dict[str, str]], session: Session
) -> set[tuple[str, str] | None]:
    """The blocks among `ids`, as (blocker, blocked)."""
    chosen, shown = {"_id": {"$in": ids}}, {"_id": 1}
    if session is not None:
        rows = await database.blocks.find(chosen, shown, session=session).to_list(None)
    else:
        rows = await database.read(lambda: database.blocks.find(chosen, shown).to_list(None))
    return {pair_of(block["_id"]) for block in rows}


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
    """The users of a direct conversation who have blocked the other. If another program has spoilt
    `blockedBy`, both have: messages stay blocked until both have unblocked the other."""
    found = (direct or {}).get("blockedBy", [])
    if isinstance(found, list) and all(isinstance(user_id, str) for user_id in found):
        return found
    return [participant["userId"] for participant in (direct or {}).get("participants", ())]


async def _lock(database: Database, direct_id: str, session: Session) -> int:
    # Mend an epoch that another program has spoilt: `$inc` fails on anything but a number.
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
    return cast(int, head["epoch"])
