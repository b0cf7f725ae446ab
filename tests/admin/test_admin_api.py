"""`chat.admin`: what operators' commands do, in the host's process, by the same rules."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from chat_aio import AdminUnavailable, Chat, Hooks, SetupError
from chat_aio.actions.admin_api import ErasureIncomplete
from chat_aio.actions.maintenance.erasure import Erased
from chat_aio.errors import ConversationNotFound, InvalidInput, UserBanned, UserNotFound
from chat_aio.store import indexes, privileges
from chat_aio.store.database import Database as Store
from tests.admin.test_rights import a_user, grant, needed
from tests.conftest import Database, MakeChat
from tests.support.guarded import Client, guarded
from tests.support.people import Frame, Person, picked_by_header


@pytest.fixture
async def chat(database: Database) -> AsyncIterator[Chat]:
    async with Chat(
        database, admin=database, hooks=Hooks(can_moderate=lambda asked: asked.user_id == "mod")
    ) as opened:
        yield opened


async def audited(database: Database, action: str) -> list[dict[str, Any]]:
    return await database["audit"].find({"action": action}).to_list(None)


async def talked(chat: Chat) -> str:
    """A group in which bob has written."""
    group = await chat.api.create_group_conversation("ann", user_ids=["bob"])
    await chat.api.send_message("bob", group.id, "a secret of bob")
    return group.id


async def test_an_erasure_is_that_of_the_command(chat: Chat, database: Database) -> None:
    group = await talked(chat)
    would = await chat.admin.erase_user("bob", by="shop", dry_run=True)
    assert would.counts["messages"] == 1
    assert (await chat.api.list_messages("ann", group)).messages[0].body == "a secret of bob"
    erased = await chat.admin.erase_user("bob", by="shop")
    assert erased.is_over
    page = await chat.api.list_messages("ann", group)
    assert [(message.body, message.sender_id) for message in page.messages] == [
        ("", erased.pseudonym)
    ]
    (row,) = await audited(database, "erase-user")
    assert (row["actorUserId"], row["targetId"]) == ("shop", erased.pseudonym)
    # A second run finds nothing, and is no mistake.
    assert (await chat.admin.erase_user("bob", by="shop")).counts == {}


async def test_the_streams_of_an_erased_user_end(database: Database, aiohttp_client: Any) -> None:
    app = web.Application()
    served = Chat(database, auth=picked_by_header, admin=database)
    served.mount(app)
    client = await aiohttp_client(app)
    bob, eve = (Person(name, client, served) for name in ("bob", "eve"))
    here = await eve.group("bob")
    async with bob.tab() as tab, eve.tab() as others:
        await served.admin.erase_user("bob", by="shop", dry_run=True)
        await eve.send(here, "bob still hears this")
        await tab.until(lambda frame: frame.event == "message.created")
        await served.admin.erase_user("bob", by="shop")
        await tab.end()
        await eve.send(here, "for eve")

        def is_hers(frame: Frame) -> bool:
            return bool(frame.data) and frame.data.get("message", {}).get("body") == "for eve"

        await others.until(is_hers)


async def test_what_cannot_be_erased(chat: Chat, database: Database) -> None:
    group = await talked(chat)
    with pytest.raises(InvalidInput):
        await chat.admin.erase_user("bob", by="bob")
    with pytest.raises(InvalidInput):
        await chat.admin.erase_user("", by="shop")
    with pytest.raises(InvalidInput):
        await chat.admin.erase_user("bob", by="")
    with pytest.raises(UserNotFound):
        await chat.admin.erase_user("bbo", by="shop")
    assert (await chat.admin.erase_user("bbo", by="shop", allow_unknown=True)).counts == {}
    await chat.admin.place_legal_hold("conversation", group, by="shop", reason="case 12")
    with pytest.raises(InvalidInput, match="legal hold"):
        await chat.admin.erase_user("bob", by="shop")
    await chat.api.moderation.ban_user("mod", "shop")
    with pytest.raises(UserBanned):
        await chat.admin.lift_legal_hold("conversation", group, by="shop")
    assert (await chat.api.list_messages("ann", group)).messages[0].body == "a secret of bob"


async def test_an_erasure_that_does_not_end_is_no_success(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talked(chat)
    unfinished = Erased("erased-1", {"messages": 1}, [], 0, False)

    async def erase_user(*_: object, **__: object) -> Erased:
        return unfinished

    monkeypatch.setattr("chat_aio.actions.maintenance.erasure.erase_user", erase_user)
    with pytest.raises(ErasureIncomplete) as incomplete:
        await chat.admin.erase_user("bob", by="shop")
    assert incomplete.value.erased is unfinished


async def test_a_malformed_hold_is_not_returned(chat: Chat, database: Database) -> None:
    await talked(chat)
    await database.command("collMod", "legal_holds", validator={})
    malformed = {"_id": "user:bob", "targetType": "user", "targetId": "bob"}
    await database["legal_holds"].insert_one(malformed)
    with pytest.raises(SetupError, match="malformed"):
        await chat.admin.place_legal_hold("user", "bob", by="shop", reason="case 12")
    assert await audited(database, "legal-hold") == []


async def test_holds_are_placed_listed_and_lifted(chat: Chat, database: Database) -> None:
    group = await talked(chat)
    hold = await chat.admin.place_legal_hold("user", "bob", by="shop", reason="case 12")
    again = await chat.admin.place_legal_hold("user", "bob", by="other", reason="case 13")
    assert (again.created_by_user_id, again.reason) == ("shop", "case 12")
    there = await chat.admin.place_legal_hold("conversation", group, by="shop", reason="case 14")
    assert await chat.admin.list_legal_holds() == [there, again]
    assert hold.target_id == "bob"
    assert await chat.admin.lift_legal_hold("user", "bob", by="shop") == again
    assert await chat.admin.lift_legal_hold("user", "bob", by="shop") is None
    assert await chat.admin.list_legal_holds() == [there]
    assert [row["actorUserId"] for row in await audited(database, "legal-hold")] == ["shop", "shop"]
    assert [row["actorUserId"] for row in await audited(database, "lift-legal-hold")] == ["shop"]
    for target, kind, reason, refusal in (
        ("nowhere", "conversation", "x", ConversationNotFound),
        ("bbo", "user", "x", UserNotFound),
        ("bob", "user", " ", InvalidInput),
        ("bob", "group", "x", InvalidInput),
        ("", "user", "x", InvalidInput),
    ):
        wrong: Any = kind
        with pytest.raises(refusal):
            await chat.admin.place_legal_hold(wrong, target, by="shop", reason=reason)
    assert await chat.admin.list_legal_holds() == [there]


async def test_an_export_has_all_data_of_the_user(chat: Chat) -> None:
    await talked(chat)
    lines: list[Any] = []
    counts = await chat.admin.export_user("bob", lines.append, by="shop")
    assert counts["message"] == 1
    assert sum(counts.values()) == len(lines)
    assert [line["body"] for line in lines if line["kind"] == "message"] == ["a secret of bob"]
    with pytest.raises(UserNotFound):
        await chat.admin.export_user("bbo", lines.append, by="shop")


async def test_without_another_database_nothing_is_done(
    make_chat: MakeChat, database: Database
) -> None:
    chat = await make_chat()
    await talked(chat)
    for call in (
        chat.admin.erase_user("bob", by="shop"),
        chat.admin.export_user("bob", print, by="shop"),
        chat.admin.place_legal_hold("user", "bob", by="shop", reason="x"),
        chat.admin.lift_legal_hold("user", "bob", by="shop"),
        chat.admin.list_legal_holds(),
    ):
        with pytest.raises(AdminUnavailable, match=r"Chat\(admin=\.\.\.\)"):
            await call
    assert await audited(database, "erase-user") == []
    await chat.close()
    with pytest.raises(RuntimeError):
        _ = chat.admin


async def test_the_rights_that_lack_are_named(tmp_path: Path) -> None:
    """Of the chat's own user without `admin`, and of the operator's: then nothing is written, and
    with the rights of the command it works."""
    async with guarded(tmp_path) as mongod:
        ours: Database = mongod.admin["chat"]
        await indexes.apply(Store(ours))
        url = await a_user(mongod, "service", privileges.needed("chat"))
        rights = needed("users erase")
        rights[-1]["actions"].pop()
        operators = await a_user(mongod, "operator", rights)
        async with Client(url) as client, Client(operators) as more:
            plain = Chat(client["chat"])
            async with plain:
                await talked(plain)
                with pytest.raises(AdminUnavailable, match="legal_holds"):
                    await plain.admin.place_legal_hold("user", "bob", by="shop", reason="x")
            async with Chat(client["chat"], admin=more["chat"]) as chat:
                with pytest.raises(AdminUnavailable, match="nothing was done") as refused:
                    await chat.admin.erase_user("bob", by="shop")
                assert await ours["audit"].count_documents({}) == 0
                await grant(mongod, str(refused.value), "operatorRole")
                assert (await chat.admin.erase_user("bob", by="shop")).is_over
                with pytest.raises(AdminUnavailable, match="legal_holds"):
                    await chat.admin.place_legal_hold("user", "ann", by="shop", reason="x")
