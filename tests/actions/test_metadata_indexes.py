"""Conversations found by their metadata."""

from collections.abc import Callable
from typing import Any

import pytest

from chat_aio import Chat, Hooks, Options, SetupError
from chat_aio.errors import InvalidInput
from chat_aio.hooks import PermissionContext
from chat_aio.store import indexes
from chat_aio.store.database import database_over
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.people import Person

People = Callable[[str], Person]

FIELDS = ("orderId", "status", "50% off")


async def made(database: Database, **options: Any) -> None:
    """Create the indexes, as `chat-aio indexes apply` does it."""
    await indexes.apply(database_over(database, Options(metadata_indexes=FIELDS, **options)))


async def listed(who: Person, query: str) -> list[str]:
    answer = await who.get(f"/conversations?{query}")
    assert answer.status == 200, answer
    return [conversation["id"] for conversation in answer.json["conversations"]]


async def found(chat: Chat, user_id: str, **metadata: Any) -> list[str]:
    page = await chat.conversations.find_conversations(user_id, metadata=metadata)
    return [conversation.id for conversation in page.conversations]


@pytest.mark.parametrize(
    "names", ["orderId", ["a.b"], ["$a"], [""], ["a\0"], ["x" * 101], [*"abcdefghi"]]
)
def test_what_cannot_be_indexed(names: Any) -> None:
    with pytest.raises(ValueError, match="metadata_indexes"):
        Options(metadata_indexes=names)


async def test_own_conversations_by_metadata_over_http(
    serve: MakePeople, database: Database
) -> None:
    await made(database)
    people = await serve(metadata_indexes=FIELDS)
    alice, bob = people("alice"), people("bob")

    async def group(who: Person, **metadata: Any) -> str:
        answer = await who.post("/conversations/group", {"metadata": metadata})
        return str(answer.json["conversation"]["id"])

    seven, text = await group(alice, orderId=7), await group(alice, orderId="7")
    both = await group(alice, orderId=7, status="open", **{"50% off": True})
    others = await group(alice, orderId=[7], status="7.50"), await group(alice, status=None)
    await group(bob, orderId=7)
    assert await listed(alice, "metadata.orderId=7") == [both, text, seven]
    assert await listed(alice, "metadata.orderId=7&metadata.status=open") == [both]
    assert await listed(alice, "metadata.status=7.50") == [others[0]]
    assert await listed(alice, "metadata.50%25%20off=true") == [both]
    assert await listed(alice, "metadata.status=closed") == []
    assert await listed(alice, "metadata.status=null") == []
    page = (await alice.get("/conversations?metadata.orderId=7&limit=2")).json
    assert [conversation["id"] for conversation in page["conversations"]] == [both, text]
    rest = await listed(alice, f"metadata.orderId=7&cursor={page['nextCursor']}")
    assert rest == [seven]
    for query in ("metadata.other=7", "metadata.=7", "metadata.orderId.x=7", "metadata.$where=1"):
        answer = await alice.get(f"/conversations?{query}")
        assert (answer.status, answer.code) == (400, "INVALID_INPUT")


async def test_without_fields_a_filter_is_refused(person: People) -> None:
    answer = await person("alice").get("/conversations?metadata.orderId=7")
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")


async def test_in_process_values_have_their_types(make_chat: MakeChat, database: Database) -> None:
    await made(database)
    chat = await make_chat(metadata_indexes=FIELDS)
    ids = {}
    for value in (7, "7", True, 1, 2.5, "$x", "a.b"):
        group = await chat.api.create_group_conversation("alice", metadata={"orderId": value})
        ids[repr(value)] = group.id
    for value in (7, "7", True, 1, 2.5, "$x", "a.b"):
        assert await found(chat, "alice", orderId=value) == [ids[repr(value)]]
        page = await chat.api.list_conversations("alice", metadata={"orderId": value})
        assert [conversation.id for conversation in page.conversations] == [ids[repr(value)]]
    assert await found(chat, "alice", orderId=7.0) == [ids["7"]]
    wrong: list[Any] = [{}, {"other": 1}, {"orderId": None}, {"orderId": [7]}, {"orderId": {}}, 7]
    for metadata in [*wrong, {"orderId": 2**64}, {"orderId": float("nan")}, {"orderId": "\ud800"}]:
        with pytest.raises(InvalidInput):
            await chat.conversations.find_conversations("alice", metadata=metadata)


async def test_who_finds_what(make_chat: MakeChat, database: Database) -> None:
    """With the default rule one's own; with the host's `can_read` what that allows."""
    await made(database)

    def can_read(asked: PermissionContext) -> bool:
        return asked.user_id == "shop" or asked.user_id in asked.conversation.roles

    plain = await make_chat(metadata_indexes=FIELDS)
    asking = await make_chat(Hooks(can_read=can_read), metadata_indexes=FIELDS)
    groups = []
    for owner in ("ann", "bob", "ann"):
        group = await plain.api.create_group_conversation(owner, metadata={"orderId": 7})
        groups.append((owner, group.id))
    of_ann = sorted(name for owner, name in groups if owner == "ann")
    assert await found(plain, "ann", orderId=7) == of_ann
    assert await found(plain, "shop", orderId=7) == []
    assert await found(asking, "shop", orderId=7) == sorted(name for _, name in groups)
    assert await found(asking, "ann", orderId=7) == of_ann
    assert await found(asking, "shop", orderId=8) == []


async def test_pages_are_in_the_order_of_ids(make_chat: MakeChat, database: Database) -> None:
    await made(database)
    chat = await make_chat(Hooks(can_read=lambda _: True), metadata_indexes=FIELDS)
    groups = [
        await chat.api.create_group_conversation(f"u{n}", metadata={"status": "open"})
        for n in range(7)
    ]
    seen: list[str] = []
    cursor: str | None = None
    for expected in (3, 3, 1):
        page = await chat.conversations.find_conversations(
            "shop", metadata={"status": "open"}, limit=3, cursor=cursor
        )
        assert len(page.conversations) == expected
        seen += [conversation.id for conversation in page.conversations]
        cursor = page.next_cursor
    assert cursor is None
    assert seen == sorted(group.id for group in groups)
    with pytest.raises(InvalidInput):
        await chat.conversations.find_conversations("shop", metadata={"status": "open"}, cursor="x")


async def test_pages_are_full_though_the_host_allows_few(
    make_chat: MakeChat, database: Database
) -> None:
    await made(database)
    hooks = Hooks(can_read=lambda asked: asked.conversation.name == "shown")
    chat = await make_chat(hooks, metadata_indexes=FIELDS)
    groups = [
        await chat.api.create_group_conversation("ann", metadata={"status": "open"})
        for _ in range(30)
    ]
    ids = sorted(group.id for group in groups)
    for conversation_id in ids[9::10]:
        await chat.api.update_conversation("ann", conversation_id, name="shown")
    page = await chat.conversations.find_conversations("shop", metadata={"status": "open"}, limit=2)
    assert [conversation.id for conversation in page.conversations] == [ids[9], ids[19]]
    rest = await chat.conversations.find_conversations(
        "shop", metadata={"status": "open"}, limit=2, cursor=page.next_cursor
    )
    assert [conversation.id for conversation in rest.conversations] == [ids[29]]
    assert rest.next_cursor is None


@pytest.mark.parametrize("hooks", [Hooks(), Hooks(can_read=lambda _: True)])
async def test_rows_of_another_program_do_not_end_the_pages(
    make_chat: MakeChat, database: Database, hooks: Hooks
) -> None:
    """Conversations without a head, and with an id of another type."""
    await made(database)
    chat = await make_chat(hooks, metadata_indexes=FIELDS)
    groups = [
        await chat.api.create_group_conversation("ann", metadata={"status": "open"})
        for _ in range(5)
    ]
    ids = sorted(group.id for group in groups)
    await database["counters"].delete_many({"_id": {"$in": ids[:3]}})
    await database.command("collMod", "conversations", validator={})
    one = await database["conversations"].find_one({"_id": ids[4]})
    assert one is not None
    await database["conversations"].insert_many([{**one, "_id": number} for number in range(3)])
    page = await chat.conversations.find_conversations("ann", metadata={"status": "open"}, limit=1)
    assert [conversation.id for conversation in page.conversations] == [ids[3]]
    rest = await chat.conversations.find_conversations(
        "ann", metadata={"status": "open"}, limit=1, cursor=page.next_cursor
    )
    assert [conversation.id for conversation in rest.conversations] == [ids[4]]
    assert rest.next_cursor is None


async def test_a_start_does_not_create_them_and_a_lookup_reads_no_more_than_it_finds(
    make_chat: MakeChat, database: Database
) -> None:
    hooks = Hooks(can_read=lambda _: True)
    chat = await make_chat(hooks, metadata_indexes=FIELDS)
    names = {f"metadata.{name}" for name in ("orderId", "status", "50%25 off")}
    assert not names & set(await database["conversations"].index_information())
    group = await chat.api.create_group_conversation("ann", metadata={"orderId": 7})
    with pytest.raises(SetupError, match="indexes apply"):
        await found(chat, "ann", orderId=7)
    # Among one's own conversations no index is needed.
    page = await chat.api.list_conversations("ann", metadata={"orderId": 7})
    assert [conversation.id for conversation in page.conversations] == [group.id]
    over = database_over(database, Options(metadata_indexes=FIELDS))
    missing = {
        difference.index
        for difference in await indexes.differences(over)
        if difference.state == "missing"
    }
    assert missing == names
    await made(database)
    assert await found(chat, "ann", orderId=7) == [group.id]
    kept = await indexes.differences(over)
    assert [difference for difference in kept if difference.state != "surplus"] == []
    plan = (
        await database["conversations"]
        .find({"metadata.orderId": {"$eq": 7, "$not": {"$type": "array"}}, "_id": {"$gt": "0"}})
        .sort("_id", 1)
        .hint("metadata.orderId")
        .explain()
    )
    winning = plan["queryPlanner"]["winningPlan"]
    assert (winning["stage"], winning["inputStage"]["stage"]) == ("FETCH", "IXSCAN")
