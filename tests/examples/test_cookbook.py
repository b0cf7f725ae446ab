"""The recipes of the cookbook: each does what it promises."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from chat_aio import Chat, ChatError
from chat_aio.plugins import Notification, Notifications
from tests.conftest import Database, MakeChat, MakePeople
from tests.examples.test_documents import names_of
from tests.plugins.notifications.telling import QUICK, all_told, ready
from tests.support.people import picked_by_header
from tests.support.processes import ROOT

COOKBOOK = (ROOT / "docs" / "guides" / "cookbook.md").read_text()
ALL = "guides/cookbook.md"


async def bodies(chat: Chat, user_id: str, conversation_id: str) -> list[str]:
    page = await chat.api.list_messages(user_id, conversation_id)
    return [message.body for message in page.messages]


async def test_an_order_has_one_conversation(make_chat: MakeChat, database: Database) -> None:
    chat = await make_chat(conversation_keys=True)
    orders = database["orders"]
    await orders.insert_one({"_id": "7", "customer": "ann", "seller": "bob"})
    conversation_of = names_of(ALL)["conversation_of"]
    found = await asyncio.gather(*(conversation_of(chat, orders, "7") for _ in range(16)))
    assert len({*found}) == 1
    for user_id in ("ann", "bob"):
        (listed,) = (await chat.api.list_conversations(user_id)).conversations
        assert (listed.id, listed.name, listed.key) == (found[0], "Order 7", "order:7")
    assert not (await chat.api.list_conversations("shop")).conversations


async def test_lines_and_welcomes_are_sent_once(chat: Chat) -> None:
    names = names_of(ALL)
    for user_id in ("ann", "bob", "ann"):
        await names["welcome"](chat, user_id)
    for user_id in ("ann", "bob"):
        (direct,) = (await chat.api.list_conversations(user_id)).conversations
        for _ in range(2):
            await names["note"](chat, direct.id, f"7-{user_id}", "Your parcel was sent.")
        page = await chat.api.list_messages(user_id, direct.id)
        assert [(message.role, message.body) for message in page.messages] == [
            ("system", "Your parcel was sent."),
            ("user", "Welcome! Ask us anything."),
        ]
    assert names["HOOKS"].allowed_roles("ann") == {"user"}


async def test_unread_messages_are_counted(make_chat: MakeChat) -> None:
    chat = await make_chat(inbox=True)
    for sender in ("bob", "cleo"):
        direct = await chat.api.get_or_create_conversation(sender, "ann")
        for number in range(3):
            await chat.api.send_message(sender, direct.id, str(number))
    count_unread = names_of(ALL)["count_unread"]
    assert [await count_unread(chat, user_id) for user_id in ("ann", "bob")] == [6, 0]


@pytest.mark.new_database
async def test_an_account_is_deleted(
    chat: Chat, database: Database, mongo_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CHAT_AIO_MONGO_URL", mongo_url)
    monkeypatch.setenv("CHAT_AIO_DATABASE", database.name)
    direct = await chat.api.get_or_create_conversation("ann", "bob")
    await chat.api.send_message("ann", direct.id, "my secret")
    delete_account = names_of(ALL)["delete_account"]
    for user_id in ("ann", "nobody"):
        await delete_account(chat, user_id)
    shown = await database["messages"].find_one({"conversationId": direct.id})
    assert shown is not None
    assert "my secret" not in str(shown)
    assert "ann" not in str(shown)


async def test_tenants_are_apart(database: Database) -> None:
    async def auth(request: web.Request) -> dict[str, str] | None:
        user_id = request.headers.get("X-User", "")
        return {"id": user_id, "tenant": user_id.partition("-")[0]} if user_id else None

    client = {f"chat_{tenant}": database for tenant in ("acme", "zeta")}
    app = web.Application()
    names_of(ALL)["mount_tenants"](app, client, auth, ["acme", "zeta"])
    async with TestClient[web.Request, web.Application](TestServer(app)) as http:
        seen = {}
        for user_id in ("acme-ann", "zeta-bob", None):
            for tenant in ("acme", "zeta"):
                headers = {"X-User": user_id} if user_id else {}
                path = f"/api/{tenant}/chat/conversations"
                async with http.get(path, headers=headers) as answer:
                    seen[user_id, tenant] = answer.status
    allowed = {("acme-ann", "acme"), ("zeta-bob", "zeta")}
    assert seen == {place: 200 if place in allowed else 401 for place in seen}


async def test_a_service_writes_with_curl(database: Database) -> None:
    if shutil.which("curl") is None and "CI" not in os.environ:
        pytest.skip("there is no curl here: apt-get install curl")
    app = web.Application()
    chat = Chat(database, auth=names_of(ALL)["service_of"])
    chat.mount(app)
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", COOKBOOK, re.DOTALL | re.MULTILINE)
    async with TestClient[web.Request, web.Application](TestServer(app)) as http:
        origin = str(http.make_url("")).rstrip("/")
        assert "http://127.0.0.1:8000" in commands
        for token, is_known in (("service-token", True), ("service-token", True), ("other", False)):
            process = await asyncio.create_subprocess_exec(
                *("bash", "-euo", "pipefail", "-c"),
                commands.replace("http://127.0.0.1:8000", origin),
                env={**os.environ, "TOKEN": token},
                stdout=subprocess.DEVNULL,
            )
            assert (await process.wait() == 0) == is_known
        (direct,) = (await chat.api.list_conversations("ann")).conversations
        (message,) = (await chat.api.list_messages("ann", direct.id)).messages
    assert (message.sender_id, message.body) == ("billing", "Your invoice is ready.")


async def test_moderators_look_in(database: Database) -> None:
    names = names_of(ALL)
    async with names["make_moderated"](database, picked_by_header) as chat:
        direct = await chat.api.get_or_create_conversation("ann", "bob")
        await chat.api.send_message("ann", direct.id, "hello")
        assert await names["look_in"](chat, "mona", direct.id) == ["ann: hello"]
        with pytest.raises(ChatError, match="moderator"):
            await names["look_in"](chat, "bob", direct.id)
    assert await database["audit"].count_documents({"action": "find-messages"}) == 1


async def test_signing_out_ends_streams(serve: MakePeople, database: Database) -> None:
    ann = (await serve())("ann")
    sessions = database["sessions"]
    await sessions.insert_many([{"userId": "ann"}, {"userId": "bob"}])
    async with ann.tab() as tab:
        await names_of(ALL)["sign_out_everywhere"](ann.chat, sessions, "ann")
        await tab.end()
    assert [session["userId"] async for session in sessions.find()] == ["bob"]


async def test_a_new_name_is_shown(database: Database) -> None:
    users = database["users_of_the_host"]
    await users.insert_one({"_id": "ann", "name": "Ann"})
    chat = names_of(ALL)["make_named"](database, picked_by_header, users)
    assert chat._context.options.profile_cache_seconds == 5
    async with chat:
        (ann,) = await chat.api.find_users("bob", ids=["ann"])
    assert ann.name == "Ann"


async def test_a_silent_message_sends_no_mail(database: Database) -> None:
    names = names_of(ALL)
    mails: list[str] = []

    async def mail(notification: Notification) -> None:
        mails.append(notification.message.body)

    names["mail"] = mail
    names["Notifications"] = partial(Notifications, **QUICK)
    async with names["make_notifying"](database, picked_by_header) as chat:
        await ready(database)
        direct = await chat.api.get_or_create_conversation("ann", "bob")
        room = await chat.api.create_group_conversation("shop", user_ids=["bob"])
        await names["add_status"](chat, room.id, "quiet")
        await chat.api.send_message("ann", direct.id, "loud")
        await all_told(database, 1)
    assert mails == ["loud"]


async def test_only_admins_announce(make_chat: MakeChat) -> None:
    chat = await make_chat(room_controls=True)
    group_id = await names_of(ALL)["make_announcements"](chat, ["ann"])
    await chat.api.send_message("shop", group_id, "We are open.")
    with pytest.raises(ChatError, match="frozen"):
        await chat.api.send_message("ann", group_id, "Thanks!")
    assert await bodies(chat, "ann", group_id) == ["We are open."]
