"""The recipes of the cookbook: each does what it promises."""

import asyncio
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import partial

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from chat_aio import Chat, ChatError, Hooks, Options
from chat_aio.client import stream as streaming
from chat_aio.errors import ForbiddenRead
from chat_aio.observability.observer import Observer, Replayed
from chat_aio.plugins import Notification, Notifications
from chat_aio.schema.models import Message, ReportStatus
from tests.conftest import Database, MakeChat, MakePeople
from tests.examples.test_documents import names_of
from tests.plugins.notifications.telling import QUICK, all_told, ready
from tests.support.people import PATIENCE, picked_by_header
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


async def test_an_account_is_deleted(database: Database) -> None:
    async with Chat(database, admin=database) as chat:
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
            assert (await asyncio.wait_for(process.wait(), PATIENCE) == 0) == is_known
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


async def test_a_moderators_afternoon(database: Database) -> None:
    names = names_of(ALL)
    hooks = Hooks(can_moderate=lambda asked: asked.user_id == "mona")
    options = Options(moderation_tools=True)
    async with Chat(database, admin=database, hooks=hooks, options=options) as chat:
        group = await chat.api.create_group_conversation("ann", user_ids=["bob", "mallory"])
        said = {
            body: await chat.api.send_message(sender, group.id, body)
            for sender, body in (
                *(("bob", "harmless"), ("mallory", "bad 1"), ("mallory", "bad 2")),
                ("bob", "bad once"),
            )
        }
        for reporter, body in (
            *(("mallory", "harmless"), ("ann", "bad 1"), ("bob", "bad 1"), ("ann", "bad 2")),
            ("ann", "bad once"),
        ):
            await chat.api.moderation.report(
                reporter, target_type="message", target_id=said[body].id, reason="spam"
            )

        async def is_harmful(message: Message, context: Sequence[Message]) -> bool:
            assert {one.body for one in context} >= {"harmless"}
            return message.body.startswith("bad")

        assert await names["work_on_reports"](chat, "mona", is_harmful) == ["mallory"]
        assert await bodies(chat, "ann", group.id) == ["", "", "", "harmless"]
        assert await names["work_on_reports"](chat, "mona", is_harmful) == []
        (ban,) = (await chat.api.moderation.list_bans("mona")).bans
        assert (ban.user_id, ban.reason) == ("mallory", "3 reports")
        (hold,) = await chat.admin.list_legal_holds()
        assert hold.target_id == "mallory"
        counts: dict[ReportStatus, int] = {"resolved": 4, "dismissed": 1, "open": 0}
        for status, count in counts.items():
            page = await chat.api.moderation.list_reports("mona", status=status)
            assert len(page.reports) == count
    rows = await database["audit"].distinct("action")
    assert {*rows} >= {"look-at-message", "remove-message", "report", "ban", "legal-hold"}


class Opened(Observer):
    """Sees that a stream is open."""

    def __init__(self) -> None:
        self.seen = asyncio.Event()

    def stream_opened(self, replayed: Replayed, reset: object) -> None:
        self.seen.set()


async def test_a_support_agents_afternoon(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "backoff_delay", lambda *_: 0.01)
    names, opened = names_of(ALL), Opened()
    names["Chat"] = partial(Chat, observers=[opened])
    chat = names["make_support"](database, picked_by_header)
    app = web.Application()
    chat.mount(app)
    heard: asyncio.Queue[tuple[str, str]] = asyncio.Queue()

    async def on_message(message: Message) -> None:
        await heard.put((message.conversation_id, message.body))

    async def next_heard() -> tuple[str, str]:
        async with asyncio.timeout(PATIENCE):
            return await heard.get()

    async with TestClient[web.Request, web.Application](TestServer(app)) as http:
        tickets = [await names["open_ticket"](chat, number, "ann") for number in ("1", "1", "2")]
        assert tickets[0] == tickets[1] != tickets[2]
        base, sam = str(http.make_url("/api/chat")), {"X-User": "sam"}
        following = asyncio.create_task(names["follow_tickets"](base, sam, tickets[1:], on_message))
        async with asyncio.timeout(PATIENCE):
            await opened.seen.wait()
        await chat.api.send_message("ann", tickets[2], "Where is my parcel?")
        assert await next_heard() == (tickets[2], "Where is my parcel?")
        assert not (await chat.api.list_conversations("sam")).conversations
        found = await names["find_in_ticket"](chat, "sam", tickets[2], "parcel")
        assert found == ["Where is my parcel?"]
        chat._live.hub.end_all()
        assert await next_heard() == (tickets[2], "Where is my parcel?")

        await names["take_over"](chat, tickets[2], "sam")
        await chat.api.send_message("sam", tickets[2], "On its way.")

        async def waiting() -> list[str]:
            return [tickets[1]]

        await asyncio.gather(*(names["remind"](chat, waiting) for _ in range(2)))
        assert await bodies(chat, "ann", tickets[1]) == ["We have not forgotten you."]
        await names["close_ticket"](chat, tickets[2], "sam")
        with pytest.raises(ChatError, match="frozen"):
            await chat.api.send_message("ann", tickets[2], "Thanks!")
        assert await bodies(chat, "ann", tickets[2]) == [
            *("This ticket is closed.", "On its way.", "sam is here to help."),
            "Where is my parcel?",
        ]
        ticket = await chat.api.get_conversation("ann", tickets[2])
        assert {*ticket.roles} == {"ann", "shop"}
        names["AGENTS"].clear()
        await chat.end_streams("sam")
        with pytest.raises(ForbiddenRead):
            async with asyncio.timeout(PATIENCE):
                await following
    followed = await database["audit"].distinct("targetId", {"action": "follow-conversation"})
    assert {*followed} == {*tickets}


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
