"""Versions of a message: what it was before an edit or a deletion, for moderators alone."""

import asyncio
from datetime import timedelta

import pytest

from chat_aio import Hooks
from tests.actions.test_moderation_tools import DESK, acts, remove, restore
from tests.conftest import Database, MakePeople
from tests.support.moderating import People, is_mod


@pytest.fixture
async def desk(serve: MakePeople) -> People:
    return await serve(Hooks(can_moderate=is_mod), moderation_tools=True)


async def test_what_a_message_was_is_kept_for_moderators(desk: People, database: Database) -> None:
    alice, mod = desk("alice"), desk("mod")
    direct = await alice.direct("bob")
    group = await alice.group("bob")
    for place in (direct, group):  # The first locks the conversation, the second does not.
        message = await alice.send(place, "a threat", mentions=["bob"] if place == group else [])
        edited = await alice.edit(message["id"], "a joke")
        await alice.delete(message["id"])
        answer = await mod.get(f"{DESK}/messages/{message['id']}/versions")
        newest, oldest = answer.json["versions"]
        assert (newest["body"], newest["how"], newest["replacedByUserId"]) == (
            *("a joke", "deleted"),
            "alice",
        )
        assert newest["writtenAt"] == oldest["replacedAt"] == edited["editedAt"]
        assert (oldest["body"], oldest["how"]) == ("a threat", "edited")
        assert oldest["mentions"] == (["bob"] if place == group else [])
        assert oldest["writtenAt"] == message["createdAt"]
        assert ("mod", "look-at-versions", message["id"]) in await acts(database)
    assert (await mod.get(f"{DESK}/messages/unknown/versions")).code == "MESSAGE_NOT_FOUND"
    kept = await database["message_versions"].find().to_list(None)
    assert {row["expiresAt"] - row["replacedAt"] for row in kept} == {timedelta(days=30)}


async def test_edits_at_once_leave_each_text_once(desk: People) -> None:
    """What is kept is what was replaced, not what an edit had read before."""
    alice, mod = desk("alice"), desk("mod")
    message = await alice.send(await alice.group(), "e0")
    await asyncio.gather(*(alice.edit(message["id"], f"e{n}") for n in range(1, 9)))
    (shown,) = (await mod.get(f"{DESK}/messages/{message['id']}?before=0&after=0")).json["messages"]
    versions = (await mod.get(f"{DESK}/messages/{message['id']}/versions")).json["versions"]
    texts = [version["body"] for version in versions] + [shown["body"]]
    assert sorted(texts) == [f"e{n}" for n in range(9)]


async def test_without_a_history_nothing_is_kept(serve: MakePeople, database: Database) -> None:
    people = await serve(Hooks(can_moderate=is_mod), moderation_tools=True, message_version_days=0)
    alice, mod = people("alice"), people("mod")
    message = await alice.send(await alice.group(), "gone")
    await alice.edit(message["id"], "gone too")
    assert (await remove(mod, message["id"])).status == 200
    assert await database["message_versions"].count_documents({}) == 0
    assert (await restore(mod, message["id"])).code == "MESSAGE_NOT_RESTORABLE"
