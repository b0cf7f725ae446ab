"""Metadata that change: over HTTP and in process, with versions, live, and under storms."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Changed, Chat, Hooks, MessageRejected
from chat_aio.errors import (
    DirectInteractionBlocked,
    InvalidInput,
    MetadataConflict,
    NotConversationAdmin,
)
from chat_aio.hooks import BeforeMessageSend
from chat_aio.store import edits
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.people import Answer, Person
from tests.support.saboteurs import prove
from tests.support.verify import verify_action

People = Callable[[str], Person]


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(editable_metadata=True)


@pytest.fixture
async def editable(make_chat: MakeChat) -> Chat:
    return await make_chat(editable_metadata=True)


def refusal(answer: Answer) -> tuple[int, str | None]:
    return answer.status, answer.code


async def update(who: Person, group: str, **given: Any) -> Answer:
    return await who.call("PATCH", f"/conversations/{group}", json=given)


async def edit(who: Person, message_id: str, **given: Any) -> Answer:
    return await who.call("PATCH", f"/messages/{message_id}", json=given)


async def test_without_the_option_metadata_in_a_change_is_refused(serve: MakePeople) -> None:
    alice = (await serve())("alice")
    group = await alice.group("bob")
    message = await alice.send(group, "hello", metadata={"n": 1})
    refused: list[Any] = [{"metadata": {}}, {"name": "n", "metadata": {"n": 2}}, {"metadata": 7}]
    for given in refused:
        assert refusal(await update(alice, group, **given)) == (400, "INVALID_INPUT")
        more = await edit(alice, message["id"], body="new", **given)
        assert refusal(more) == (400, "INVALID_INPUT")
    shown = (await alice.get(f"/conversations/{group}")).json["conversation"]
    assert (shown["name"], shown["metadata"]) == (None, {})
    assert "metadataVersion" not in shown
    assert "metadataVersion" not in message
    # Null means absent, and a version is an unknown field.
    assert (await update(alice, group, name="n", metadata=None, metadataVersion=9)).status == 200
    with pytest.raises(InvalidInput):
        await alice.chat.api.edit_message("alice", message["id"], metadata={})
    with pytest.raises(RuntimeError, match="editable_metadata"):
        await alice.chat.conversations.set_metadata("alice", group, {})


async def test_metadata_of_a_group_are_replaced_and_told(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    answer = await alice.post("/conversations/group", {"userIds": ["bob"], "metadata": {"a": 1}})
    group = answer.json["conversation"]["id"]
    assert answer.json["conversation"]["metadataVersion"] == 1

    async def change() -> None:
        for _ in range(2):  # The second time nothing changes.
            shown = (await update(alice, group, metadata={"b": {"$c": [1.0]}})).json["conversation"]
            assert (shown["metadata"], shown["metadataVersion"]) == ({"b": {"$c": [1.0]}}, 2)

    (event,) = await verify_action(bob, change, "conversation.updated")
    assert event.data["affectedUserIds"] == []
    assert event.data["conversation"]["metadataVersion"] == 2
    both = (await update(alice, group, name="Order", metadata={})).json["conversation"]
    assert (both["name"], both["metadata"], both["metadataVersion"]) == ("Order", {}, 3)
    renamed = (await update(alice, group, name="Other")).json["conversation"]
    assert (renamed["metadata"], renamed["metadataVersion"]) == ({}, 3)


async def test_metadata_of_a_message_are_replaced_and_told(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    message = await alice.send(group, "pay 9", mentions=["bob"], metadata={"paid": False})
    assert message["metadataVersion"] == 1

    async def pay() -> None:
        for _ in range(2):
            shown = (await edit(alice, message["id"], metadata={"paid": True})).json["message"]
            assert (shown["metadata"], shown["metadataVersion"]) == ({"paid": True}, 2)
            assert (shown["body"], shown["mentions"]) == ("pay 9", ["bob"])
            assert shown["editedAt"] is None

    (event,) = await verify_action(bob, pay, "message.updated")
    assert event.id == f"{group}:{message['seq']}"
    both = (await edit(alice, message["id"], body="paid", metadata={"by": 1})).json["message"]
    assert (both["body"], both["metadata"], both["metadataVersion"]) == ("paid", {"by": 1}, 3)
    assert both["editedAt"] is not None
    again = (await edit(alice, message["id"], body="paid!")).json["message"]
    assert (again["metadata"], again["metadataVersion"]) == ({"by": 1}, 3)
    found = (await bob.get("/search/messages?q=paid")).json["messages"]
    assert [hit["id"] for hit in found] == [message["id"]]


async def test_a_message_stays_findable(person: People) -> None:
    alice = person("alice")
    message = await alice.send(await alice.group(), "a needle")
    await edit(alice, message["id"], metadata={"n": 1})
    found = (await alice.get("/search/messages?q=needle")).json["messages"]
    assert [hit["metadataVersion"] for hit in found] == [2]


async def test_a_reader_who_was_away_gets_the_change(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    message = await alice.send(group, "pay 9")
    async with bob.tab() as tab:
        await alice.send(group, "later")
        await tab.bodies(1)
        seen = tab.last_event_id
    await edit(alice, message["id"], metadata={"paid": True})
    async with bob.tab(seen) as tab:
        shown = (await tab.event("message.updated"))["message"]
        assert (shown["metadata"], shown["metadataVersion"]) == ({"paid": True}, 2)


@pytest.mark.parametrize(
    "given",
    [
        {"metadata": []},
        {"metadata": {"a": 2**64}},
        {"metadata": {"a": "x" * 20_000}},
        {"metadata": {}, "metadataVersion": 0},
        {"metadata": {}, "metadataVersion": "1"},
        {"metadata": {}, "metadataVersion": 1.5},
        {"metadataVersion": 1},
        {},
    ],
)
async def test_what_is_no_change(person: People, given: dict[str, Any]) -> None:
    alice = person("alice")
    group = await alice.group("bob")
    message = await alice.send(group, "hello")
    assert refusal(await update(alice, group, **given)) == (400, "INVALID_INPUT")
    assert refusal(await edit(alice, message["id"], **given)) == (400, "INVALID_INPUT")


async def test_a_version_without_metadata_is_refused(person: People) -> None:
    alice = person("alice")
    group = await alice.group("bob")
    message = await alice.send(group, "hello")
    answer = await update(alice, group, name="new", metadataVersion=1)
    assert refusal(answer) == (400, "INVALID_INPUT")
    answer = await edit(alice, message["id"], body="new", metadataVersion=1)
    assert refusal(answer) == (400, "INVALID_INPUT")
    shown = (await alice.get(f"/conversations/{group}")).json["conversation"]
    assert shown["name"] is None


async def test_a_version_without_metadata_is_refused_before_anything_else(person: People) -> None:
    alice, mallory = person("alice"), person("mallory")
    group = await alice.group("bob")
    message = await alice.send(group, "hello")
    for answer in (
        await update(mallory, group, name="new", metadataVersion=1),
        await update(alice, "nowhere", name="new", metadataVersion=1),
        await edit(mallory, message["id"], body="new", metadataVersion=1),
        await edit(alice, "nowhere", body="new", metadataVersion=1),
    ):
        assert refusal(answer) == (400, "INVALID_INPUT")


async def test_another_version_is_a_conflict_and_changes_nothing(person: People) -> None:
    alice = person("alice")
    group = await alice.group("bob")
    message = await alice.send(group, "hello")
    conflict = (409, "METADATA_CONFLICT")
    # Also with the same content, and with other fields: nothing of it is written.
    contents: list[Any] = [{"metadata": {}}, {"metadata": {"a": 1}}]
    for given in contents:
        answer = await update(alice, group, name="n", metadataVersion=2, **given)
        assert refusal(answer) == conflict
        answer = await edit(alice, message["id"], body="b", metadataVersion=2, **given)
        assert refusal(answer) == conflict
    shown = (await alice.get(f"/conversations/{group}")).json["conversation"]
    assert (shown["name"], shown["metadata"], shown["metadataVersion"]) == (None, {}, 1)
    kept = (await alice.get(f"/conversations/{group}/messages/{message['id']}")).json["message"]
    assert kept == message
    assert (await update(alice, group, metadata={"a": 1}, metadataVersion=1)).status == 200
    assert (await edit(alice, message["id"], metadata={"a": 1}, metadataVersion=1)).status == 200
    answer = await update(alice, group, metadata={"a": 2}, metadataVersion=1)
    assert refusal(answer) == conflict
    answer = await edit(alice, message["id"], metadata={"a": 2}, metadataVersion=1)
    assert refusal(answer) == conflict


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (1, 1.0), (0, False), ({"a": 1}, {"a": 1.0})]
)
async def test_values_that_python_takes_for_equal_are_not(
    editable: Chat, one: Any, other: Any
) -> None:
    group = await editable.api.create_group_conversation("alice", metadata={"v": one})
    message = await editable.api.send_message("alice", group.id, "hello", metadata={"v": one})
    for version, value in ((2, other), (2, other), (3, one)):
        changed = await editable.api.update_conversation("alice", group.id, metadata={"v": value})
        said = await editable.api.edit_message("alice", message.id, metadata={"v": value})
        assert (changed.metadata_version, said.metadata_version) == (version, version)
        assert repr((changed.metadata, said.metadata)) == repr(({"v": value},) * 2)


async def test_who_may(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, direct = await alice.group("bob"), await alice.direct("bob")
    message = await alice.send(group, "hello")
    assert (await update(bob, group, metadata={})).code == "NOT_CONVERSATION_ADMIN"
    assert (await update(alice, direct, metadata={})).code == "NOT_GROUP_CONVERSATION"
    assert (await edit(bob, message["id"], metadata={"a": 1})).code == "NOT_MESSAGE_SENDER"
    await alice.call("DELETE", f"/messages/{message['id']}")
    assert (await edit(alice, message["id"], metadata={"a": 1})).code == "MESSAGE_DELETED"


async def test_metadata_of_a_direct_conversation_change_in_process(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    direct = await alice.direct("bob")
    chat = alice.chat

    async def change() -> None:
        await chat.conversations.set_metadata("alice", direct, {"order": 7}, metadata_version=1)

    (event,) = await verify_action(bob, change, "conversation.updated")
    assert event.data["conversation"]["metadata"] == {"order": 7}
    with pytest.raises(MetadataConflict):
        await chat.conversations.set_metadata("bob", direct, {}, metadata_version=1)
    with pytest.raises(NotConversationAdmin):
        await chat.conversations.set_metadata("eve", direct, {})
    await chat.api.moderation.block_user("bob", target_user_id="alice")
    for user_id in ("alice", "bob"):
        with pytest.raises(DirectInteractionBlocked):
            await chat.conversations.set_metadata(user_id, direct, {})
    group = await chat.api.create_group_conversation("alice")
    changed = await chat.conversations.set_metadata("alice", group.id, {"order": 8})
    assert (changed.metadata, changed.metadata_version) == ({"order": 8}, 2)


async def test_the_hosts_hooks_are_called_as_for_an_edit(make_chat: MakeChat) -> None:
    asked: list[tuple[str, str, Any]] = []
    after: list[Any] = []

    def before(message: BeforeMessageSend) -> Changed | None:
        asked.append((message.kind, message.body, message.metadata))
        if message.metadata.get("bad"):
            raise MessageRejected("no")
        return Changed(metadata={**message.metadata, "seen": True})

    chat = await make_chat(
        Hooks(before_message_send=before, after_message_mutation=after.append),
        editable_metadata=True,
    )
    group = await chat.api.create_group_conversation("alice", user_ids=["bob"])
    message = await chat.api.send_message("alice", group.id, "hello")
    changed = await chat.api.edit_message("alice", message.id, metadata={"n": 1})
    assert asked[-1] == ("edit", "hello", {"n": 1})
    assert (changed.metadata, changed.metadata_version) == ({"n": 1, "seen": True}, 2)
    assert (after[-1].kind, after[-1].message) == ("updated", changed)
    with pytest.raises(MessageRejected):
        await chat.api.edit_message("alice", message.id, metadata={"bad": 1})
    edited = await chat.api.edit_message("alice", message.id, "hello!")
    assert (edited.metadata, edited.metadata_version) == ({"n": 1, "seen": True}, 2)


async def test_moderators_see_earlier_metadata(serve: MakePeople) -> None:
    people = await serve(
        Hooks(can_moderate=lambda _: True), editable_metadata=True, moderation_tools=True
    )
    alice = people("alice")
    message = await alice.send(await alice.group("bob"), "hello", metadata={"n": 1})
    await edit(alice, message["id"], metadata={"n": 2})
    kept = await alice.chat.moderation_tools.list_versions("mod", message["id"])
    assert [(version.body, version.metadata, version.how) for version in kept] == [
        ("hello", {"n": 1}, "edited")
    ]


async def count_up(chat: Chat, target: str, number: int) -> None:
    """One more by compare and set, for as long as it takes."""
    while True:
        now = await chat.api.get_conversation("alice", target)
        wanted = {"n": now.metadata.get("n", 0) + 1, f"by{number}": True}
        try:
            await chat.api.update_conversation(
                "alice",
                target,
                metadata={**now.metadata, **wanted},
                metadata_version=now.metadata_version,
            )
        except MetadataConflict:
            continue
        return


async def test_thirty_two_writers_of_one_group_lose_no_update(make_chat: MakeChat) -> None:
    chats = [await make_chat(editable_metadata=True) for _ in range(2)]

    async def storm() -> None:
        group = await chats[0].api.create_group_conversation("alice")
        await asyncio.gather(*(count_up(chats[n % 2], group.id, n) for n in range(32)))
        after = await chats[0].api.get_conversation("alice", group.id)
        assert after.metadata["n"] == 32
        assert after.metadata_version == 33
        assert len(after.metadata) == 33

    ignored = patch("chat_aio.actions.metadata.require_version", lambda *_: None)
    await prove(storm, sabotage=ignored)


async def test_thirty_two_writers_of_one_message_lose_no_update(
    make_chat: MakeChat, database: Database
) -> None:
    chats = [await make_chat(editable_metadata=True) for _ in range(2)]

    async def add(chat: Chat, group: str, message_id: str, number: int) -> None:
        while True:
            (now,) = (await chat.api.list_messages("alice", group)).messages
            try:
                await chat.api.edit_message(
                    "alice",
                    message_id,
                    metadata={**now.metadata, f"by{number}": True},
                    metadata_version=now.metadata_version,
                )
            except MetadataConflict:
                continue
            return

    async def storm() -> None:
        group = (await chats[0].api.create_group_conversation("alice")).id
        message = await chats[0].api.send_message("alice", group, "count")
        await asyncio.gather(*(add(chats[n % 2], group, message.id, n) for n in range(32)))
        (after,) = (await chats[0].api.list_messages("alice", group)).messages
        assert (len(after.metadata), after.metadata_version) == (32, 33)

    # Without the guard of the update, writers overwrite each other between check and write.
    await prove(storm, sabotage=patch.object(edits, "having_version", lambda _: {}))


async def test_an_edit_of_the_text_does_not_set_metadata_back(editable: Chat) -> None:
    """They change between the reading of the message and its writing, which is tried again."""
    group = (await editable.api.create_group_conversation("alice", user_ids=["bob"])).id
    message = await editable.api.send_message("alice", group, "hello")
    write, metadata, tries = edits.change_live, {"paid": True}, 0

    async def late(*args: Any, **kwargs: Any) -> Any:
        nonlocal tries
        tries += 1
        if tries == 1:
            await editable.api.edit_message("alice", message.id, metadata=metadata)
            await editable.api.edit_message("alice", message.id, "other", mentions=["bob"])
        return await write(*args, **kwargs)

    with patch.object(edits, "change_live", late):
        edited = await editable.api.edit_message("alice", message.id, "hello!")
    assert (edited.body, edited.metadata, edited.metadata_version) == ("hello!", metadata, 2)


async def test_writers_without_a_version_all_count(make_chat: MakeChat) -> None:
    """The last one wins, and each change has a version of its own."""
    chats = [await make_chat(editable_metadata=True) for _ in range(2)]
    group = (await chats[0].api.create_group_conversation("alice")).id
    message = await chats[0].api.send_message("alice", group, "hello")
    changed = await asyncio.gather(
        *(chats[n % 2].api.edit_message("alice", message.id, metadata={"n": n}) for n in range(32))
    )
    assert sorted(edited.metadata_version or 0 for edited in changed) == list(range(2, 34))
    of_group = await asyncio.gather(
        *(
            chats[n % 2].api.update_conversation("alice", group, metadata={"n": n})
            for n in range(32)
        )
    )
    assert sorted(edited.metadata_version or 0 for edited in of_group) == list(range(2, 34))


async def test_versions_grow_where_the_option_is_off(make_chat: MakeChat) -> None:
    """A hook may change metadata in an edit: who switches the option on later is not deceived."""
    hooks = Hooks(before_message_send=lambda asked: Changed(metadata={"body": asked.body}))
    without, with_it = await make_chat(hooks), await make_chat(editable_metadata=True)
    group = (await without.api.create_group_conversation("alice")).id
    message = await without.api.send_message("alice", group, "one")
    assert message.metadata_version is None
    await without.api.edit_message("alice", message.id, "two")
    (after,) = (await with_it.api.list_messages("alice", group)).messages
    assert (after.metadata, after.metadata_version) == ({"body": "two"}, 2)


async def test_times_of_a_message_never_fall(editable: Chat) -> None:
    group = (await editable.api.create_group_conversation("alice")).id
    message = await editable.api.send_message("alice", group, "hello")
    first = await editable.api.edit_message("alice", message.id, "hi")
    changed = await editable.api.edit_message("alice", message.id, metadata={"n": 1})
    assert changed.edited_at == first.edited_at
    deleted = await editable.api.delete_message("alice", message.id)
    assert deleted.deleted_at is not None
    assert first.edited_at is not None
    assert deleted.deleted_at - first.edited_at >= timedelta(0)
    assert (deleted.metadata, deleted.metadata_version) == ({"n": 1}, 2)


async def test_new_mentions_do_not_set_the_text_back(make_chat: MakeChat) -> None:
    """The text changes while the host's hook runs for an edit that does not give any."""

    async def before(asked: BeforeMessageSend) -> None:
        if asked.kind == "edit" and asked.metadata == {"n": 1} and asked.body == "older":
            await chat.api.edit_message("alice", message.id, "newer")

    chat = await make_chat(Hooks(before_message_send=before), editable_metadata=True)
    group = await chat.api.create_group_conversation("alice", user_ids=["bob"])
    message = await chat.api.send_message("alice", group.id, "older")
    edited = await chat.api.edit_message("alice", message.id, mentions=["bob"], metadata={"n": 1})
    assert (edited.body, edited.metadata) == ("newer", {"n": 1})
    assert [*edited.mentions] == ["bob"]
    found = await chat.api.search_messages("alice", "newer")
    assert [shown.id for shown in found.messages] == [message.id]
