"""The marketplace of the examples, over HTTP: what happens to an order happens to its chat."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import pytest
from aiohttp import ClientSession

from chat_aio.actions.api import ConversationsAPI, RoomsAPI
from chat_aio.client import ChatClient, ConversationEvent, MessageEvent
from chat_aio.errors import (
    AttachmentTypeUnsupported,
    ConversationFrozen,
    ConversationNotFound,
    CreateNotAllowed,
    ForbiddenRead,
    ForbiddenWrite,
    LeaveNotAllowed,
    NotModerator,
    RoleNotAllowed,
)
from tests.conftest import Database
from tests.examples.conftest import loaded
from tests.examples.talking import PATIENCE, heard
from tests.plugins.notifications.telling import all_told, ready

PDF = b"%PDF-1.4\n%%EOF\n"
LAMP = {"title": "A lamp", "seller": "u2"}
NOTIFIED = ("settings", "notification_messages", "notifications")


@dataclass
class Person:
    """A logged-in user: the pages of the marketplace, and its chat."""

    http: ClientSession
    chat: ChatClient

    async def ask(self, method: str, path: str, **body: str) -> tuple[int, Any]:
        async with self.http.request(method, path, json=body or None) as answer:
            is_json = answer.content_type == "application/json"
            return answer.status, await (answer.json() if is_json else answer.text())

    async def change(self, **changes: str) -> None:
        status, answer = await self.ask("PATCH", "/orders/7", **changes)
        assert status == 200, answer


People = Callable[[str], Awaitable[Person]]


@pytest.fixture
def market() -> ModuleType:
    """The example, before its app is made."""
    return loaded("marketplace/market")


@pytest.fixture
async def people(environment: Any, aiohttp_server: Any, market: Any) -> AsyncIterator[People]:
    """Serve the marketplace; log in users by name."""
    market.MAIL_DELAY_SECONDS = 0.4
    market.OPTIONS = replace(market.OPTIONS, replay_buffer_seconds=1)
    server = await aiohttp_server(await market.make_app())
    origin = str(server.make_url("")).rstrip("/")
    async with AsyncExitStack() as opened:

        async def person(name: str) -> Person:
            http = await opened.enter_async_context(ClientSession(origin))
            form = {"email": f"{name}@example.org"}
            async with http.post("/login", data=form, allow_redirects=False) as answer:
                assert answer.status == 303, await answer.text()
                headers = {"Cookie": f"login={answer.cookies['login'].value}"}
            http.headers.update(headers)
            chat = ChatClient(f"{origin}/api/chat", headers=headers)
            return Person(http, await opened.enter_async_context(chat))

        yield person


async def order_of(person: Person) -> str:
    """Place order 7; the id of its conversation."""
    status, answer = await person.ask("PUT", "/orders/7", **LAMP)
    assert status == 200, answer
    return str(answer["conversationId"])


async def bodies(person: Person, conversation_id: str) -> list[tuple[str, str, str]]:
    page = await person.chat.list_messages(conversation_id)
    return [(message.sender_id, message.role, message.body) for message in page.messages]


async def test_an_order_has_one_conversation(people: People, database: Database) -> None:
    """Between buyer, seller and support; neither the shop nor others are in it."""
    ann, ben, tina = await people("ann"), await people("ben"), await people("tina")
    ids = await asyncio.gather(*(order_of(ann) for _ in range(8)))
    assert len({*ids}) == 1
    assert await database["chat_conversations"].count_documents({}) == 1
    group = await ben.chat.get_conversation(ids[0])
    assert group.roles == {"u1": "member", "u2": "member", "u3": "admin"}
    assert (group.name, group.metadata) == ("Order 7: A lamp", {"status": "new"})
    with pytest.raises(ForbiddenRead):
        await tina.chat.list_messages(group.id)
    assert (await tina.ask("PUT", "/orders/7", **LAMP))[0] == 403
    assert (await ann.ask("PUT", "/orders/8", title="A lamp", seller="nobody"))[0] == 400
    assert (await ann.ask("PUT", "/orders/8", title="A lamp"))[0] == 400
    assert await database["orders"].count_documents({}) == 1


async def test_a_status_is_shown_once_and_live(people: People) -> None:
    ann, ben = await people("ann"), await people("ben")
    group = await order_of(ann)
    async with ann.chat.stream() as stream:
        await ben.change(status="paid")
        line = await heard(stream)
    await ben.change(status="paid")
    await ben.change(title="A red lamp")
    assert (line.sender_id, line.role, line.body) == ("shop", "system", "The order is paid.")
    assert await bodies(ann, group) == [("shop", "system", "The order is paid.")]
    shown = await ann.chat.get_conversation(group)
    assert (shown.name, shown.metadata) == ("Order 7: A red lamp", {"status": "paid"})
    listed = [{"name": "Order 7: A red lamp", "unread": 1}]
    assert (await ann.ask("GET", "/orders?status=paid"))[1]["orders"] == listed
    assert (await ann.ask("GET", "/orders"))[1]["orders"] == listed
    assert (await ann.ask("GET", "/orders?status=new"))[1]["orders"] == []


async def test_changes_are_checked(people: People) -> None:
    ann, ben = await people("ann"), await people("ben")
    await order_of(ann)
    await ben.change(status="shipped")
    answers = {
        (name, *change): (await person.ask("PATCH", "/orders/7", **dict([change])))[0]
        for name, person, change in (
            ("ann", ann, ("status", "closed")),
            ("ben", ben, ("status", "paid")),
            ("ben", ben, ("status", "lost")),
            ("ben", ben, ("title", " ")),
            ("ben", ben, ("support", "u1")),
        )
    }
    assert [*answers.values()] == [403, 409, 400, 400, 403], answers
    assert (await ben.ask("PATCH", "/orders/8", title="Gone"))[0] == 403


async def test_a_closed_order_is_only_read(people: People) -> None:
    """Members neither write nor delete; support adds its last word."""
    ann, ben, sam = await people("ann"), await people("ben"), await people("sam")
    group = await order_of(ann)
    offer = await ben.chat.send_message(group, "It is new.")
    await ben.change(status="closed")
    with pytest.raises(ConversationFrozen):
        await ann.chat.send_message(group, "It is used!")
    with pytest.raises(ForbiddenWrite):
        await ben.chat.delete_message(offer.id)
    await sam.chat.send_message(group, "We refund it.")
    assert [body for _, _, body in await bodies(ann, group)] == [
        "We refund it.",
        "The order is closed.",
        "It is new.",
    ]


async def test_many_changes_at_once(people: People, database: Database) -> None:
    ann, ben, sam = await people("ann"), await people("ben"), await people("sam")
    group = await order_of(ann)
    changes = [("title", f"Lamp {number}") for number in range(12)]
    changes[3:3] = [("status", "paid"), ("status", "shipped"), ("status", "closed")]
    answers = await asyncio.gather(
        sam.ask("PATCH", "/orders/7", support="u4"),
        *(ben.ask("PATCH", "/orders/7", **dict([change])) for change in changes),
    )
    assert {status for status, _ in answers} <= {200, 403, 409}
    order = await database["orders"].find_one({"_id": "7"})
    assert order is not None
    shown = await ben.chat.get_conversation(group)
    assert shown.name == f"Order 7: {order['title']}"
    assert shown.metadata == {"status": order["status"]} == {"status": "closed"}
    assert shown.frozen
    assert shown.roles == {"u1": "member", "u2": "member", "u4": "admin"}


class Held:
    """The first call of a method waits until it is released."""

    def __init__(self, patch: pytest.MonkeyPatch, owner: type, method: str) -> None:
        self.reached, self.released = asyncio.Event(), asyncio.Event()
        original = vars(owner)[method]

        async def call(api: Any, *given: Any, **named: Any) -> Any:
            if not self.reached.is_set():
                self.reached.set()
                await asyncio.wait_for(self.released.wait(), PATIENCE)
            return await original.__get__(api, owner)(*given, **named)

        patch.setattr(owner, method, call)


async def test_a_late_change_does_not_open_a_closed_order(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, ben, sam = await people("ann"), await people("ben"), await people("sam")
    group = await order_of(ann)
    held = Held(monkeypatch, RoomsAPI, "update_conversation")
    async with ann.chat.stream() as stream:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(ben.change(title="A red lamp"))
            await asyncio.wait_for(held.reached.wait(), PATIENCE)
            await ben.change(status="closed")
            held.released.set()
        end = await sam.chat.send_message(group, "That is all.")
        states = []
        async with asyncio.timeout(PATIENCE):
            async for event in stream:
                # Not the making of the group, which may be told late.
                if isinstance(event, ConversationEvent) and event.type == "conversation.updated":
                    states.append(event.conversation.frozen)
                if isinstance(event, MessageEvent) and event.message.id == end.id:
                    break
    assert states == [True]


async def test_a_late_handover_does_not_bring_an_agent_back(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, sam, tina = await people("ann"), await people("sam"), await people("tina")
    group = await order_of(ann)
    held = Held(monkeypatch, ConversationsAPI, "set_participants")
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(sam.change(support="u4"))
        await asyncio.wait_for(held.reached.wait(), PATIENCE)
        await tina.change(support="u3")
        held.released.set()
    assert {*(await ann.chat.get_conversation(group)).roles} == {"u1", "u2", "u3"}


async def test_support_is_replaced(people: People) -> None:
    ann, sam, tina = await people("ann"), await people("sam"), await people("tina")
    group = await order_of(ann)
    await sam.change(support="u4")
    with pytest.raises(ForbiddenRead):
        await sam.chat.list_messages(group)
    await tina.chat.send_message(group, "Tina here.")
    assert (await ann.chat.get_conversation(group)).roles["u4"] == "admin"


async def test_only_the_shop_speaks_as_the_system(people: People) -> None:
    ann = await people("ann")
    group = await order_of(ann)
    for role in ("system", "assistant"):
        with pytest.raises(RoleNotAllowed):
            await ann.chat.send_message(group, "Your account is closed.", role=role)
    async with ann.chat.stream() as stream:
        asked = await ann.chat.send_message(group, "/status")
        assert await heard(stream) == asked
        answer = await heard(stream)
    assert (answer.sender_id, answer.role) == ("shop", "assistant")
    assert answer.body == "This order is new."


async def test_an_order_is_deleted(people: People, database: Database) -> None:
    ann, sam = await people("ann"), await people("sam")
    group = await order_of(ann)
    assert (await ann.ask("DELETE", "/orders/7"))[0] == 403
    assert (await sam.ask("DELETE", "/orders/7"))[0] == 200
    with pytest.raises(ConversationNotFound):
        await ann.chat.list_messages(group)
    assert (await ann.ask("GET", "/orders"))[1]["orders"] == []
    assert await database["orders"].count_documents({}) == 0
    assert await sam.ask("DELETE", "/orders/7") == (404, {"code": "CONVERSATION_NOT_FOUND"})
    assert await order_of(ann) != group


async def test_one_mail_until_it_is_read(
    market: Any, people: People, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with an open stream; a status is in no mail."""
    mails: list[tuple[str, str]] = []

    async def keep(address: str, subject: str, text: str) -> None:
        mails.append((address, text))

    monkeypatch.setattr(market, "send_mail", keep)
    stored: Any = {name: database[f"chat_{name}"] for name in NOTIFIED}
    ann, ben = await people("ann"), await people("ben")
    await ready(stored)
    group = await order_of(ann)
    async with ann.chat.stream() as stream:
        await ben.change(status="paid")
        for body in ("It is packed.", "It is heavy."):
            last = await ben.chat.send_message(group, body)
        for _ in range(3):
            await heard(stream)
        await all_told(stored, 2)
        assert sorted(address for address, _ in mails) == ["ann@example.org", "sam@example.org"]
        await ann.chat.mark_read(group, last.id)
        await ben.chat.send_message(group, "Is it there?")
        await all_told(stored, 3)
    assert [text for address, text in mails if address == "ann@example.org"][1:] == ["Is it there?"]
    assert len(mails) == 3
    assert "The order is paid." not in [text for _, text in mails]


async def test_names_and_addresses_change_and_ids_do_not(people: People) -> None:
    ann, ben = await people("ann"), await people("ben")
    group = await order_of(ann)
    await ann.chat.send_message(group, "Hello!")
    assert (await ann.ask("PATCH", "/me", email="ben@example.org"))[0] == 409
    assert (await ann.ask("PATCH", "/me", email="ada@example.org", name="Ada"))[0] == 200
    page = await ben.chat.list_messages(group, include=["users"])
    assert page.users is not None
    assert page.users["u1"].name == "Ada"
    ada = await people("ada")
    assert await bodies(ada, group) == [("u1", "user", "Hello!")]


async def test_a_moderator_looks_into_a_report(people: People) -> None:
    ann, ben, mona = await people("ann"), await people("ben"), await people("mona")
    group = await order_of(ann)
    insult = await ben.chat.send_message(group, "You fool!")
    await ann.chat.moderation.report("message", insult.id, "An insult.")
    (report,) = (await mona.chat.moderation.list_reports()).reports
    seen = await mona.chat.moderation_tools.look_at_message(report.target_id)
    assert seen.message.body == "You fool!"
    await mona.chat.moderation_tools.remove_message(insult.id, reason="An insult.")
    assert await bodies(ann, group) == [("u2", "user", "")]
    with pytest.raises(NotModerator):
        await ann.chat.moderation_tools.find_messages(conversation_id=group)


async def test_a_moderator_follows_an_order_live(people: People) -> None:
    ann, mona, tina = await people("ann"), await people("mona"), await people("tina")
    group = await order_of(ann)
    async with mona.chat.stream(conversation_ids=[group]) as followed:
        sent = await ann.chat.send_message(group, "Hello!")
        # The making of the group may be told before it.
        assert (await heard(followed)).id == sent.id
    # Support that is not in charge of the order has no right to.
    with pytest.raises(ForbiddenRead):
        async with tina.chat.stream(conversation_ids=[group]) as followed:
            await asyncio.wait_for(anext(aiter(followed)), PATIENCE)


async def test_chats_are_those_of_orders(people: People) -> None:
    ann = await people("ann")
    group = await order_of(ann)
    with pytest.raises(CreateNotAllowed):
        await ann.chat.get_or_create_conversation("u2")
    with pytest.raises(LeaveNotAllowed):
        await ann.chat.remove_participant(group, "u1")


async def test_an_account_is_deleted(people: People) -> None:
    ann, ben = await people("ann"), await people("ben")
    group = await order_of(ann)
    await ann.chat.send_message(group, "Hello!")
    assert (await ann.ask("DELETE", "/me"))[0] == 200
    assert (await ann.ask("GET", "/orders"))[0] == 401
    page = await ben.chat.list_messages(group, include=["users"])
    assert [message.body for message in page.messages] == [""]
    assert page.users is not None
    assert page.users[page.messages[0].sender_id].name == "Deleted account"


async def test_files_are_images_and_documents(people: People) -> None:
    ann, ben = await people("ann"), await people("ben")
    group = await order_of(ann)
    bill = await ben.chat.attachments.upload(group, PDF, name="bill.pdf")
    await ben.chat.send_message(group, "Your bill.", attachment_ids=[bill.id])
    (message,) = (await ann.chat.list_messages(group)).messages
    assert message.attachments is not None
    assert [attachment.name for attachment in message.attachments] == ["bill.pdf"]
    with pytest.raises(AttachmentTypeUnsupported):
        await ben.chat.attachments.upload(group, b"#!/bin/sh\n", name="run.sh")


async def test_the_page_shows_the_chat_of_its_user(people: People) -> None:
    ann = await people("ann")
    group = await order_of(ann)
    await (await people("ben")).chat.send_message(group, "On its way.")
    page = (await ann.ask("GET", "/"))[1]
    assert 'user="u1"' in page
    assert ">1 unread<" in page
    async with ClientSession(ann.http._base_url) as nobody:
        async with nobody.get("/") as answer:
            assert 'user=""' in await answer.text()
        async with nobody.get("/orders") as answer:
            assert answer.status == 401
        async with nobody.post("/login", data={"email": "eve@example.org"}) as answer:
            assert answer.status == 403
