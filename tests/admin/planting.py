"""Putting into a chat's database what must not be there, behind the chat's back."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from chat_aio.store import indexes
from chat_aio.store.database import COLLECTIONS
from chat_aio.store.database import Database as Store
from tests.admin.world import World
from tests.conftest import Database

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
MEMBER = {"role": "member", "joinedAt": LONG_AGO, "lastReadSeq": 0, "lastReadMessageId": None}

Plant = Callable[[Database, World], Awaitable[Any]]
Update = Callable[[World], dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """`mends` says whether it can be repaired, so that people can go on in the group. Where a check
    of one conversation is enough to find it, `place` is its name in the world."""

    plant: Plant
    kinds: frozenset[str]
    mends: bool = False
    place: str | None = None

    @property
    def of_indexes(self) -> bool:
        return any(kind.startswith("index.") for kind in self.kinds)


def in_group(plant: Plant, kinds: frozenset[str], *, mends: bool = False) -> Case:
    """What is wrong within the group: a check of that conversation finds it."""
    return Case(plant, kinds, mends, place="group")


def update(collection: str, where: Update, change: Update) -> Plant:
    """One document, changed behind the chat's back."""

    async def plant(database: Database, world: World) -> None:
        done = await database[collection].update_one(
            where(world), change(world), bypass_document_validation=True
        )
        assert done.matched_count == 1, (collection, where(world))

    return plant


def head(**fields: Any) -> Plant:
    return update("counters", lambda w: {"_id": w.group}, lambda _: {"$set": fields})


def group(**fields: Any) -> Plant:
    return update("conversations", lambda w: {"_id": w.group}, lambda _: {"$set": fields})


def reader(user_id: str, change: Update) -> Plant:
    """A participant of the group."""
    return update(
        "conversations",
        lambda w: {"_id": w.group, "participants.userId": user_id},
        lambda w: {"$set": {f"participants.$.{name}": value for name, value in change(w).items()}},
    )


def message(name: str, change: Update) -> Plant:
    return update("messages", lambda w: {"_id": getattr(w, name)}, lambda w: {"$set": change(w)})


def direct(change: dict[str, Any], *, name: str = "direct") -> Plant:
    return update("conversations", lambda w: {"_id": getattr(w, name)}, lambda _: change)


def invite(**fields: Any) -> Plant:
    return update("invites", lambda w: {"_id": w.code}, lambda _: {"$set": fields})


def request(user_id: str, **fields: Any) -> Plant:
    return update(
        "join_requests",
        lambda w: {"conversationId": w.group, "userId": user_id},
        lambda _: {"$set": fields},
    )


async def ban_from_a_direct_one(database: Database, world: World) -> None:
    await database["conversation_bans"].insert_one(
        {
            "_id": "stray",
            "conversationId": world.direct,
            "userId": "troll",
            "createdByUserId": "alice",
            "reason": None,
            "createdAt": LONG_AGO,
        }
    )


def row(collection: str, where: dict[str, Any], **fields: Any) -> Plant:
    return update(collection, lambda _: where, lambda _: {"$set": fields})


async def thread_of_another(database: Database, world: World) -> None:
    of_thread = {"rootId": world.root, "conversationId": world.group}
    await database["thread_states"].insert_one(
        {
            "_id": {"userId": "alice", "rootId": world.root},
            "userId": "bob",
            "follows": True,
            "lastReadSeq": 0,
            **of_thread,
        }
    )


async def no_head(database: Database, world: World) -> None:
    await database["counters"].delete_one({"_id": world.group})


async def stub(database: Database, world: World) -> None:
    await database["counters"].replace_one({"_id": world.group}, {"epoch": 3})


async def lone_head(database: Database, _: World) -> None:
    await database["counters"].insert_one(
        {"_id": "lone", "seq": 0, "epoch": 1}, bypass_document_validation=True
    )


async def lone_message(database: Database, _: World) -> None:
    await database["messages"].insert_one(
        {"_id": "lone", "conversationId": "nowhere", "seq": 1}, bypass_document_validation=True
    )


async def lost_message(database: Database, world: World) -> None:
    await database["messages"].delete_one({"_id": world.plain})


async def removed(database: Database, world: World) -> None:
    """As retention leaves it, at its end and in between: the root and a read message are gone."""
    here = {"conversationId": world.group, "seq": {"$in": [1, 3]}}
    await database["messages"].delete_many(here)
    await database["counters"].update_one({"_id": world.group}, {"$set": {"floorSeq": 3}})


async def erased(database: Database, world: World) -> None:
    await database["conversations"].update_one(
        {"_id": world.direct, "participants.userId": "bob"},
        {"$set": {"participants.$.userId": "erased-0", "pairKey": "alice:erased-0"}},
    )


async def reply_to_a_reply(database: Database, world: World) -> None:
    plain = await database["messages"].find_one({"_id": world.plain})
    assert plain is not None
    given = {"threadRootMessageId": world.gone, "timelines": [world.gone]}
    await message("plain", lambda _: given)(database, world)
    summary = {"replyCount": 1, "lastReplyAt": plain["createdAt"]}
    await message("gone", lambda _: {"thread": summary})(database, world)


async def another_direct(database: Database, world: World) -> None:
    for collection in ("conversations", "counters"):
        found = await database[collection].find_one({"_id": world.direct})
        assert found is not None
        readers = [{**MEMBER, "userId": name, "role": "admin"} for name in ("alice", "bob")]
        empty = {"seq": 0, "counted": 0} if collection == "counters" else {"participants": readers}
        await database[collection].insert_one(
            {**found, **empty, "_id": "another"}, bypass_document_validation=True
        )


async def no_key(database: Database, _: World) -> None:
    await database["settings"].delete_many({})


async def no_block(database: Database, _: World) -> None:
    await database["blocks"].delete_one({"blockerUserId": "mallory"})


async def many_invites(database: Database, world: World) -> None:
    await database["invites"].insert_many(
        [{"_id": f"i{n}", "conversationId": world.group, "uses": 0} for n in range(49)],
        bypass_document_validation=True,
    )


async def closed_place(database: Database, _: World) -> None:
    """The open report that has the key loses it; the triaged one without waits for it as well."""
    await database["reports"].update_many({"targetType": "user"}, {"$unset": {"openKey": ""}})


async def no_index(database: Database, _: World) -> None:
    await database["bans"].drop_index("active_user")


async def other_index(database: Database, _: World) -> None:
    await database["mutes"].drop_index("user_newest")
    await database["mutes"].create_index("userId", name="user_newest")


async def twin_requests(database: Database, world: World) -> None:
    await database["join_requests"].drop_index("conversation_user")
    found = await database["join_requests"].find_one({"conversationId": world.group})
    await database["join_requests"].insert_one(
        {**(found or {}), "_id": "twin"}, bypass_document_validation=True
    )
    await database["invites"].update_one({"_id": world.code}, {"$inc": {"uses": 1}})


async def twin_messages(database: Database, world: World) -> None:
    await database["messages"].drop_index("conversation_seq")
    found = await database["messages"].find_one({"_id": world.plain})
    await database["messages"].insert_one(
        {**(found or {}), "_id": "twin"}, bypass_document_validation=True
    )


def people(count: int) -> list[dict[str, str]]:
    return [{"userId": f"user {number}"} for number in range(count)]


def reactions(emoji: int, users: int) -> list[dict[str, str]]:
    return [{"emoji": f"e{n}", "userId": f"user {n % users}"} for n in range(emoji)]


KEPT = [collection for collection in COLLECTIONS if collection != "signals"]


async def all_of(database: Database) -> dict[str, list[Any]]:
    """All rows by collection, read at once."""
    first, *others = (
        (collection, {"$project": {"_id": collection, "row": "$$ROOT"}}) for collection in KEPT
    )
    joined = [
        {"$unionWith": {"coll": collection, "pipeline": [rows]}} for collection, rows in others
    ]
    found: dict[str, list[Any]] = {collection: [] for collection in KEPT}
    async for entry in await database[first[0]].aggregate([first[1], *joined]):
        found[entry["_id"]].append(entry["row"])
    return found


async def restore(database: Database, before: dict[str, list[Any]], case: Case) -> None:
    """All as it was, changing no more than was changed."""
    for name, rows in (await all_of(database)).items():
        there = {str(entry["_id"]): entry for entry in rows}
        for entry in before[name]:
            if there.pop(str(entry["_id"]), None) != entry:
                await database[name].replace_one({"_id": entry["_id"]}, entry, upsert=True)
        await database[name].delete_many(
            {"_id": {"$in": [entry["_id"] for entry in there.values()]}}
        )
    if case.of_indexes:
        await database["mutes"].drop_index("user_newest")
        await indexes.apply(Store(database))
