"""The Python of the guides does what they say."""

import asyncio
import base64
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from yarl import URL

from chat_aio import Chat, Hooks
from chat_aio.client import ChatClient
from chat_aio.errors import AttachmentRejected, AttachmentTypeUnsupported
from chat_aio.hooks import KeyContext
from chat_aio.plugins import Attachments, Notifications, Webhook, Webhooks
from tests.conftest import Database, MakePeople
from tests.examples.talking import PATIENCE, heard
from tests.plugins.attachments.uploading import attached
from tests.plugins.notifications.pushing import PRIVATE_KEY
from tests.plugins.notifications.telling import ready
from tests.plugins.webhooks.receiving import all_posted
from tests.plugins.webhooks.receiving import quick as webhooks_to
from tests.plugins.webhooks.receiving import ready as webhooks_ready
from tests.support.backend import WEBHOOK_SECRET
from tests.support.people import picked_by_header

DOCS = Path(__file__).parents[2] / "docs"


def names_of(document: str) -> dict[str, Any]:
    """What all Python blocks of a document define."""
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", (DOCS / document).read_text(), re.S):
        exec(compile(block, document, "exec"), names)
    return names


async def test_history(serve: MakePeople) -> None:
    person = await serve(room_controls=True)
    base = str(person("").client.make_url("/api/chat"))
    async with ChatClient(base, headers={"X-User": "ada"}) as ada:
        room = await names_of("guides/group-controls.md")["make_room"](ada)
        await ada.send_message(room, "before")
        await ada.add_participants(room, ["grace"])
    assert await person("grace").listed(f"/conversations/{room}/messages") == []


async def test_groups_of_your_objects(database: Database) -> None:
    names = names_of("guides/groups-of-your-objects.md")
    chat = names["chat_of_shop"](database, picked_by_header)
    async with chat:
        group = await names["open_order"](chat, 7, "ann", "ben")
        assert (await names["open_order"](chat, 7, "ann", "ben")).id == group.id
        assert group.roles == {"ann": "member", "ben": "admin"}
        message = await chat.api.send_message("ben", group.id, "On its way")
        assert await names["ship"](chat, 7) == "shipped"
        assert await names["pages_of_ann"](chat) == [1]
        replaced = await names["replace_seller"](chat, 7, "carol")
        assert replaced.roles == {"ann": "member", "carol": "admin"}
        names["SHOP"] = "carol"
        asked = await chat.api.send_message("carol", group.id, "Please pay")
        paid = await names["mark_paid"](chat, asked.id)
        assert (paid.metadata, paid.edited_at) == ({"paid": True}, None)
        assert message.edited_at is None
    allowed = names["can_set_key"]
    assert allowed(KeyContext(user_id="billing", key="invoice:1"))
    assert not allowed(KeyContext(user_id="ann", key="invoice:1"))


@pytest.fixture
async def ada(serve: MakePeople) -> AsyncIterator[ChatClient]:
    person = await serve()
    base = str(person("").client.make_url("/api/chat"))
    async with ChatClient(base, headers={"X-User": "ada"}) as client:
        yield client


async def test_writing_a_client(ada: ChatClient, capsys: pytest.CaptureFixture[str]) -> None:
    names = names_of("guides/writing-a-client.md")
    base = ada._connection._base
    async with ChatClient(base, headers={"X-User": "grace"}) as grace, grace.stream() as stream:
        greeting = asyncio.create_task(names["greet"](base, {"X-User": "ada"}))
        hello = await heard(stream)
        answer = await grace.send_message(hello.conversation_id, "Hi!")
        await asyncio.wait_for(greeting, PATIENCE)
        shown = await ada.get_conversation(hello.conversation_id)
        marks = {
            participant.user_id: participant.last_read_message_id
            for participant in shown.participants
        }
        assert marks == {"ada": answer.id, "grace": None}
        following = asyncio.create_task(names["follow"](grace, f"{shown.id}:1"))
        async with asyncio.timeout(PATIENCE):
            while "grace Hi!" not in capsys.readouterr().out:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        following.cancel()
        await asyncio.wait({following})


async def test_inbox(database: Database) -> None:
    names = names_of("guides/lists-and-inbox.md")
    async with names["make_chat"](database, None) as chat:
        group = await chat.api.create_group_conversation("ada", user_ids=["grace"], name="Kernel")
        root = await chat.api.send_message("ada", group.id, "a thread begins")
        await chat.api.send_message("ada", group.id, "look, Grace", mentions=["grace"])
        await chat.api.send_message("grace", group.id, "mine", thread_root_message_id=root.id)
        await chat.api.send_message("ada", group.id, "again", thread_root_message_id=root.id)
        assert await names["whats_new"](chat, "grace") == [
            "ada mentions you: look, Grace",
            "1 new replies to: a thread begins",
        ]
        shown = await names["open_at"](chat, "grace", group.id, root.id)
        assert shown == ["a thread begins", "look, Grace"]
        assert await names["pin"](chat, "ada", group.id, root.id) == ["a thread begins"]


async def test_people(database: Database) -> None:
    names = names_of("guides/people.md")
    users = names["users"] = database["people"]
    await users.insert_many([{"_id": "ada", "name": "Ada"}, {"_id": "grace", "name": "Grace"}])
    hooks = names["make_chat"](database, None, users)._context.hooks
    async with Chat(database, hooks=replace(hooks, search_users=names["search_users"])) as chat:
        (ada,) = await chat.api.find_users("grace", ids=["ada", "nobody"])
        assert (ada.name, ada.avatar_url, ada.is_bot) == ("Ada", None, False)
        (grace,) = await chat.api.find_users("ada", query="gra")
        assert grace.name == "Grace"


async def test_search(serve: MakePeople) -> None:
    names = names_of("guides/search.md")
    hooks = Hooks(search_messages=names["search_messages"])
    plain = await serve(search_filters=True, plugins=[Attachments()])
    own = await serve(hooks)
    alice = plain("alice")
    group = await alice.group("bob")
    file = await attached(alice, group)
    sent = await alice.send(group, "tea", attachmentIds=[file])
    async with ChatClient(
        str(alice.client.make_url("/api/chat")), headers={"X-User": "bob"}
    ) as bob:
        assert await names["files_of"](bob, group, "alice") == ["picture.png"]
        assert await names["files_of"](bob, group, "bob") == []
        day = datetime.fromisoformat(sent["createdAt"]).replace(hour=0, minute=0)
        (message,) = await names["messages_of_day"](bob, day)
        assert await names["messages_of_day"](bob, day - timedelta(days=2)) == ()
        assert message.id == sent["id"]

    class Engine:
        async def find(self, *, text: str, start: int, count: int, **_: object) -> list[str]:
            return [sent["id"], "gone"][start : start + count]

    names["engine"] = Engine()
    for limit in ("1", "50"):
        (found,) = await own("bob").listed(f"/search/messages?q=any&limit={limit}")
        assert found["id"] == sent["id"]


async def all_listen(chat: Chat, streams: int) -> None:
    """Wait until this number of streams is open: what is sent before is not for them."""
    async with asyncio.timeout(PATIENCE):
        while len(chat._live.hub) < streams:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_assistants(serve: MakePeople, database: Database) -> None:
    names = names_of("guides/assistants.md")
    chat = names["make_chat"](database, picked_by_header)

    async def model(question: str) -> AsyncIterator[str]:
        for word in ("You ", "said ", question):
            yield word

    person = await serve(plugins=chat._context.plugins)
    answering = asyncio.create_task(names["answer"](person("").chat, model))
    base = str(person("").client.make_url("/api/chat"))
    async with ChatClient(base, headers={"X-User": "ada"}) as ada, ada.stream() as stream:
        direct = await ada.get_or_create_conversation("assistant")
        await all_listen(person("").chat, 2)
        asked = await ada.send_message(direct.id, "hello")
        assert (await heard(stream)).body == "hello"
        answer = await heard(stream)
        assert (answer.body, answer.role) == ("You said hello", "assistant")
        assert answer.reply_to_message_id == asked.id
    answering.cancel()
    await asyncio.wait({answering})


async def test_bots(
    serve: MakePeople,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = names_of("guides/bots.md")
    monkeypatch.chdir(tmp_path)  # Where it stores its position.
    person = await serve()
    base = str(person("").client.make_url("/api/chat"))
    running = [
        asyncio.create_task(names["run_bot"](base, {"X-User": "dice"})),
        asyncio.create_task(names["index"](person("").chat, None)),
    ]
    async with ChatClient(base, headers={"X-User": "ada"}) as ada, ada.stream() as stream:
        direct = await ada.get_or_create_conversation("dice")
        await all_listen(person("").chat, 3)
        for said, answer in (("/ping", "pong"), ("/roll 1", "You rolled 1 of 1.")):
            await ada.send_message(direct.id, said)
            assert [(await heard(stream)).body for _ in range(2)] == [said, answer]
        shown = ""
        async with asyncio.timeout(PATIENCE):
            while "ada /roll 1" not in shown or "You rolled" not in shown:
                await asyncio.sleep(0.01)
                shown += capsys.readouterr().out
    assert f"message.created {direct.id} 2 pong" in shown
    for task in running:
        task.cancel()
    await asyncio.wait(running)


async def test_notifications(database: Database, capsys: pytest.CaptureFixture[str]) -> None:
    names = names_of("guides/notifications.md")
    # Sooner than in the document, and to a place where nobody listens.
    names["Notifications"] = partial(Notifications, delay_seconds=0.4)
    names["Webhook"] = lambda _, secret: Webhook("http://127.0.0.1:9/hooks", secret)
    secret = f"whsec_{base64.b64encode(b'secret' * 4).decode()}"
    async with names["make_chat"](database, picked_by_header, PRIVATE_KEY, secret) as chat:
        await ready(database)
        direct = await chat.api.get_or_create_conversation("ada", "grace")
        await chat.api.send_message("ada", direct.id, "Hi!")
        shown = ""
        async with asyncio.timeout(PATIENCE):
            while "grace None Hi!" not in shown:
                await asyncio.sleep(0.01)
                shown += capsys.readouterr().out


async def test_webhooks(database: Database) -> None:
    """The receiver of the guide gets the events of its webhooks, each once."""
    names = names_of("guides/webhooks.md")
    handled: list[dict[str, Any]] = []

    async def handle(event: dict[str, Any]) -> None:
        handled.append(event)
        if len(handled) == 1:
            # Its answer is lost: the event comes again, and is handled again.
            raise ConnectionResetError

    async with TestServer(names["make_receiver"](WEBHOOK_SECRET, handle)) as server:
        here = server.make_url("/hooks/chat")

        def made(url: str, _: str, *, name: str, **given: Any) -> Webhooks:
            # The receiver is that of `crm`; `search`, which has another one, also posts to it here.
            path = URL(url).path if name == "crm" else here.path
            return webhooks_to(str(server.make_url(path)), name=name, **given)

        names["Webhooks"] = made
        async with names["make_chat"](database, picked_by_header, WEBHOOK_SECRET) as chat:
            await webhooks_ready(database, "search")
            await webhooks_ready(database, "crm")
            group = await chat.api.create_group_conversation("ada", user_ids=["grace"])
            await chat.api.send_message("ada", group.id, "hi")
            await all_posted(database, 3)
        async with ClientSession() as session, session.post(here, data=b"{}") as forged:
            assert forged.status == 401
    # The two webhooks post the same message under one id.
    kinds = [event["type"] for event in handled[1:]]
    assert sorted(kinds) == ["conversation.created", "message.created"]


async def test_attachments(database: Database, aiohttp_client: Any) -> None:
    names = names_of("guides/attachments.md")
    app = web.Application()
    names["make_chat"](database, picked_by_header).mount(app)
    served = await aiohttp_client(app)
    base = str(served.make_url("/api/chat"))
    async with ChatClient(base, headers={"X-User": "ada"}) as ada:
        direct = await ada.get_or_create_conversation("grace")
        file = await ada.attachments.upload(direct.id, b"some text", name="a.txt")
        sent = await ada.send_message(direct.id, "Look!", attachment_ids=[file.id])
        assert sent.attachments == (file,)
        bad = b"EICAR-STANDARD-ANTIVIRUS-TEST-FILE"
        with pytest.raises(AttachmentRejected, match="has a virus"):
            await ada.attachments.upload(direct.id, bad, name="b.txt")
        with pytest.raises(AttachmentTypeUnsupported):
            await ada.attachments.upload(direct.id, b"%PDF-1.7", name="c.pdf")
    async with ChatClient(base, headers={"X-User": "grace"}) as grace:
        assert await grace.attachments.get(file.id) == b"some text"


async def test_integration(chat: Chat, database: Database) -> None:
    names = names_of("guides/in-process.md")
    for _ in range(2):
        await names["order_shipped"](chat, "ada", "7")
    (conversation,) = (await chat.api.list_conversations("ada")).conversations
    (message,) = (await chat.api.list_messages("ada", conversation.id)).messages
    assert message.body == "Your order 7 is on its way."
    group_id = await names["open_engine_room"](database)
    (hello,) = (await chat.api.list_messages("grace", group_id)).messages
    assert (hello.sender_id, hello.body) == ("ada", "Hello!")
    auth = names_of("guides/integration.md")["auth"]
    assert auth({}) is None
    app = web.Application()
    names_of("operations/deployment.md")["mount"](app, Chat(database, auth=auth))
    paths = {resource.canonical for resource in app.router.resources()}
    assert paths == {"/api/chat", "/healthz", "/readyz", "/openapi", "/openapi.json"}
