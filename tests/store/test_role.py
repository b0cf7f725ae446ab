"""The role of docs/operations.md: enough for everything the chat does, and no more."""

import json
import re
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from pymongo import AsyncMongoClient
from pymongo.errors import OperationFailure

from chat_aio import Chat, Hooks, Options
from chat_aio.embedded import Mongod
from chat_aio.store import indexes
from chat_aio.store.database import Database
from tests.support.orphans import killed_amid_transaction
from tests.support.people import Tab
from tests.support.processes import Service

ROOT = Path(__file__).parents[2]
ROLE = re.search(r"createRole\((\{.*?\n\})\)", (ROOT / "docs" / "operations.md").read_text(), re.S)
Client = AsyncMongoClient[dict[str, Any]]


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Client]:
    """A client that has the role and nothing else, on a mongod that asks for it."""
    key = tmp_path / "key"
    key.write_text(secrets.token_hex(32))
    key.chmod(0o600)
    async with Mongod(tmp_path / "data", options=("--keyFile", str(key))) as mongod:
        async with Client(mongod.url) as first:
            await first.admin.command("createUser", "root", pwd="secret", roles=["root"])
        async with Client(
            mongod.url, username="root", password="secret", authSource="admin"
        ) as admin:
            assert ROLE is not None
            role = json.loads(ROLE[1])
            name = role.pop("role")
            await admin["chat"].command("createRole", name, **role)
            await admin["chat"].command("createUser", "chat", pwd="secret", roles=[name])
            await indexes.apply(Database(admin["chat"]))
        async with Client(
            mongod.url, username="chat", password="secret", authSource="chat"
        ) as client:
            yield client


async def test_the_role_is_enough_and_no_more(service: Client) -> None:
    hooks = Hooks(can_moderate=lambda _: True)
    async with Chat(service["chat"], hooks=hooks, options=Options(manage_indexes=False)) as chat:
        await use_everything(chat)
    database = service["chat"]
    for refused in (
        database["messages"].drop(),
        service.drop_database("chat"),
        database["messages"].delete_many({}),
        database["audit"].update_many({}, {"$set": {"actorUserId": "nobody"}}),
        database["audit"].delete_many({}),
        database.create_collection("other"),
        database["messages"].create_index("body"),
        service["other"]["x"].insert_one({}),
    ):
        with pytest.raises(OperationFailure, match="not authorized"):
            await refused
    assert await database["audit"].count_documents({}) == 4


async def test_what_a_killed_process_has_locked_is_free_soon(service: Client) -> None:
    """Its transaction is of the same user, who may end it."""
    host, port = await service.address or ("", 0)
    options = Options(manage_indexes=False, storage_timeout_seconds=5)
    async with Chat(service["chat"], options=options) as chat:
        group = await chat.api.create_group_conversation("alice")
        url = f"mongodb://chat:secret@{host}:{port}/?authSource=chat&directConnection=true"
        await killed_amid_transaction(url, "chat", group.id)
        assert (await chat.api.send_message("alice", group.id, "hello")).seq == 1


async def test_serve_starts_as_it_and_enforces_bans(service: Client) -> None:
    """With indexes managed, as `chat-aio serve` has them: what is there is not asked for again. A
    ban that another program makes keeps its user out, and ends their streams."""
    host, port = await service.address or ("", 0)
    url = f"mongodb://chat:secret@{host}:{port}/?authSource=chat&directConnection=true"
    options = ("--auth-header", "X-User", "--plugins", "presence,receipts,typing")
    served = Service(url, "chat", *options)
    async with served.running(), ClientSession(served.origin) as session:

        async def ask(user_id: str, path: str) -> int:
            headers = {"X-User": user_id}
            async with session.get(f"/api/chat{path}", headers=headers) as response:
                return response.status

        assert await ask("mallory", "/conversations") == 200
        headers = {"X-User": "mallory"}
        async with session.get("/api/chat/stream", headers=headers) as stream:
            row = {"_id": "b", "userId": "mallory", "revokedAt": None, "expiresAt": None}
            await service["chat"]["bans"].insert_one(row)
            await Tab(stream).end()
        for path in ("/conversations", "/stream"):
            assert await ask("mallory", path) == 403
        assert await ask("ada", "/conversations") == 200
    assert "could not" not in served.log


async def use_everything(chat: Chat) -> None:
    api, moderation = chat.api, chat.api.moderation
    direct = await api.get_or_create_conversation("alice", "bob")
    root = await api.send_message("alice", direct.id, "hello", client_message_id="k")
    await api.send_message("bob", direct.id, "a reply", thread_root_message_id=root.id)
    await api.edit_message("alice", root.id, "hello, bob", mentions=["bob"])
    await api.add_reaction("bob", root.id, "👋")
    await api.remove_reaction("bob", root.id, "👋")
    await api.mark_read("bob", direct.id, root.id)
    assert len((await api.search_messages("bob", "hello")).messages) == 1
    group = await api.create_group_conversation("alice", visibility="public", join_policy="open")
    await api.forward_message("alice", root.id, group.id)
    await api.delete_message("alice", root.id)
    await api.join_conversation("carol", group.id)
    await api.set_participant_role("alice", group.id, "carol", "admin")
    link = await api.create_invite("carol", group.id, max_uses=1)
    await api.accept_invite("dave", link.code)
    await api.revoke_invite("carol", link.code)
    await api.update_conversation("alice", group.id, name="Tea", join_policy="approval")
    await api.join_conversation("eve", group.id)
    await api.resolve_join_request("alice", group.id, "eve", "deny")
    await api.join_conversation("eve", group.id)
    await api.remove_participant("alice", group.id, "dave")
    assert len((await api.list_public_conversations("bob")).channels) == 1
    assert len((await api.list_conversations("alice")).conversations) == 2
    await moderation.block_user("alice", "bob")
    await moderation.unblock_user("alice", "bob")
    await moderation.mute_conversation("alice", group.id)
    await moderation.unmute_conversation("alice", group.id)
    report = await moderation.report("alice", "user", "bob", "spam")
    await moderation.update_report("mod", report.id, "triaged")
    await moderation.update_report("mod", report.id, "resolved")
    ban = await moderation.ban_user("mod", "bob")
    await moderation.unban_user("mod", ban.id)
    await chat._live.feed.catch_up(seconds=5)
