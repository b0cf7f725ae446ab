"""The role of docs/operations/mongodb.md: enough for everything the chat does, and no more."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any, cast

import pytest
from aiohttp import ClientSession
from pymongo.errors import OperationFailure

from chat_aio import Chat, Hooks, Options, SetupError
from chat_aio.plugin_types.base import DeliveredMessage, PluginRequest
from chat_aio.plugins.notifications.rows import Rows
from chat_aio.plugins.webhooks.rows import DeadLetters
from chat_aio.store import indexes
from chat_aio.store.database import Database
from tests.admin.running import run
from tests.plugins.notifications.pushing import a_browser, make_push
from tests.plugins.notifications.telling import Told, all_told, quick, ready
from tests.plugins.webhooks.receiving import all_posted, receiving
from tests.plugins.webhooks.receiving import quick as webhooks_to
from tests.plugins.webhooks.receiving import ready as webhooks_ready
from tests.support.guarded import Client, Guarded, administered, guarding
from tests.support.mongods import shared
from tests.support.orphans import killed_amid_transaction
from tests.support.people import Tab
from tests.support.processes import Service


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a mongod that asks for passwords."""
    with shared(guarding(tmp_path_factory.mktemp("guarded"))) as found:
        yield found


@pytest.fixture
async def mongod(port: int) -> AsyncIterator[Guarded]:
    """Without databases; the users of each test are those of its databases."""
    async with administered(port) as found:
        yield found
        users = (await found.admin.admin.command("usersInfo", {"forAllDBs": True}))["users"]
        for name in {*await found.admin.list_database_names(), *(user["db"] for user in users)}:
            if name.startswith("chat"):
                await found.admin[name].command("dropAllUsersFromDatabase")
                await found.admin[name].command("dropAllRolesFromDatabase")
                await found.admin.drop_database(name)


@pytest.fixture
async def service(mongod: Guarded) -> AsyncIterator[Client]:
    """A client that has the role and nothing else, on a mongod that asks for it."""
    await indexes.apply(Database(mongod.admin["chat"]))
    async with Client(await mongod.add_chat("chat")) as client:
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


async def test_the_role_is_enough_for_notifications(service: Client) -> None:
    """Also to read from storage what the oplog no longer has."""
    told, push = Told(), make_push()
    notifications = quick(told, channels=[push], max_attempts=2, max_devices_per_user=1)
    database = service["chat"]
    options = Options(manage_indexes=False)
    lost = {"_id": "notifications", "token": None, "at": datetime.now(UTC)}
    await database["settings"].insert_one(lost)
    async with Chat(database, plugins=[notifications], options=options) as chat:
        await ready(database)
        group = await chat.api.create_group_conversation("alice", user_ids=["bob"])
        request = partial(PluginRequest, user_id="bob", query={})
        own = {"conversation_id": group.id}
        await notifications._set_level(request(path=own, body={"level": "mentions"}))
        await notifications._set_level(request(path=own, body={"level": "all"}))
        await notifications._set_settings(request(path={}, body={}))
        for _ in range(2):
            made = await notifications._register_device(request(path={}, body=a_browser()))
        gone = {"deviceId": cast(Any, made["device"]).id}
        await notifications._remove_device(request(path={}, body=gone))
        seen = DeliveredMessage("m", group.id, 7, "alice")
        notifications.stream_opened("bob")
        notifications.message_delivered("bob", seen)
        told.failures["bob"] = 1
        await chat.api.send_message("alice", group.id, "hello")
        await all_told(database, 1)
        rows = Rows(notifications.api)
        assert (await rows.backlog()).dead == 0
        assert await rows.retry() == 0
    assert told.of("bob") == ["hello"]
    assert await database["notification_shown"].count_documents({"last": 7}) == 1


async def test_the_role_is_enough_for_webhooks(service: Client) -> None:
    database = service["chat"]
    lost = {"_id": "webhooks:default", "token": None, "at": datetime.now(UTC)}
    await database["settings"].insert_one(lost)
    async with receiving() as receiver:
        plugins = [webhooks_to(receiver.url)]
        options = Options(manage_indexes=False)
        async with Chat(database, plugins=plugins, options=options) as chat:
            await webhooks_ready(database)
            group = await chat.api.create_group_conversation("alice", user_ids=["bob"])
            await chat.api.send_message("alice", group.id, "hello")
            await all_posted(database, 3)
            assert await DeadLetters(plugins[0].api).retry() == 0
        assert receiver.texts(group.id) == ["hello"]


async def test_what_a_killed_process_has_locked_is_free_soon(service: Client) -> None:
    """Its transaction is of the same user, who may end it."""
    host, port = await service.address or ("", 0)
    # Far less than a minute, and enough on a busy machine.
    options = Options(manage_indexes=False, storage_timeout_seconds=20)
    async with Chat(service["chat"], options=options) as chat:
        group = await chat.api.create_group_conversation("alice")
        url = f"mongodb://chat:secret@{host}:{port}/?authSource=chat&directConnection=true"
        await killed_amid_transaction(url, "chat", group.id)
        assert (await chat.api.send_message("alice", group.id, "hello")).seq == 1


async def test_serve_says_what_to_do_where_there_are_no_indexes(mongod: Guarded) -> None:
    """And starts once that is done, by a user with the rights that it names."""
    url = await mongod.add_chat("chat")
    service = Service(url, "chat", "--auth-header", "X-User")
    with pytest.raises(AssertionError) as failed:
        async with service.running():
            pass
    (line,) = str(failed.value).splitlines()
    assert "has no right to it. Run `chat-aio indexes apply` once" in line
    roles = [{"role": name, "db": "chat"} for name in ("readWrite", "dbAdmin")]
    maker = await mongod.add_user("maker", "admin", *roles)
    made = await run("indexes", "apply", "--mongo-url", maker, "--database", "chat")
    assert made.code == 0, made
    async with (
        service.running(),
        ClientSession() as session,
        session.get(f"{service.base}/conversations") as response,
    ):
        assert response.status == 401


async def test_missing_rights_name_the_role(mongod: Guarded) -> None:
    for lacking in ("find", "listCollections", "listIndexes"):
        name = f"chat_without_{lacking}"
        await indexes.apply(Database(mongod.admin[name]))
        async with Client(await mongod.add_chat(name, without=[lacking])) as client:
            with pytest.raises(SetupError) as failed:
                await Chat(client[name]).open()
            assert "the role of docs/operations/mongodb.md" in str(failed.value), lacking
    with pytest.raises(AssertionError) as ended:
        async with Service(mongod.url("chat", name), name, "--auth-header", "X-User").running():
            pass
    (line,) = str(ended.value).splitlines()
    assert line == f"Error: {failed.value}"


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
    await chat._live.feed.catch_up(seconds=30)
