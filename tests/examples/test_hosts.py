"""Hosts to copy from: people log in as each example says, and talk."""

import asyncio
from typing import Any

import pytest
from aiohttp import ClientSession

from chat_aio.client import ChatClient
from tests.conftest import Database
from tests.examples.conftest import loaded
from tests.examples.talking import heard, talk
from tests.plugins.notifications.telling import all_told, ready
from tests.support.processes import until

ADA, BOB = {"X-User": "ada"}, {"X-User": "bob"}
CHAT = "/api/chat"


@pytest.mark.filterwarnings("ignore:It is recommended to use web.RequestKey")  # aiohttp-session's.
async def test_cookie_sessions(serve_example: Any) -> None:
    """Who has logged out is nobody, and no other site's page sends with a cookie."""
    origin = await serve_example("cookie_sessions")
    cookies = [await cookie_of(origin, name) for name in ("ada", "bob")]
    await talk(origin + CHAT, *cookies)
    async with ClientSession(origin, headers=cookies[0]) as session:
        for named, status in ((loaded("cookie_sessions").ORIGIN, 201), ("https://evil", 403)):
            headers = {"Origin": named}
            async with session.post(f"{CHAT}/conversations/group", headers=headers) as answer:
                assert answer.status == status, await answer.text()
        async with session.post("/logout") as answer:
            assert answer.cookies["AIOHTTP_SESSION"].value == ""
    async with ClientSession(origin) as session, session.get(f"{CHAT}/channels") as answer:
        assert answer.status == 401


async def cookie_of(origin: str, name: str) -> dict[str, str]:
    async with (
        ClientSession(origin) as session,
        session.post("/login", json={"name": name}) as answer,
    ):
        (cookie,) = answer.cookies.values()
        assert cookie["httponly"]
        return {"Cookie": f"{cookie.key}={cookie.value}"}


async def test_jwt_tokens(serve_example: Any) -> None:
    """As a bearer everywhere, in the query on the stream alone; a forged one is nobody's."""
    origin = await serve_example("jwt_tokens")
    async with ClientSession(origin) as session:
        tokens = []
        for name in ("ada", "bob"):
            async with session.post("/login", json={"name": name}) as answer:
                tokens.append((await answer.json())["token"])
        await talk(origin + CHAT, *({"Authorization": f"Bearer {token}"} for token in tokens))
        head, claims, _ = tokens[0].split(".")
        seen = {}
        for token in (tokens[0], f"{head}.{claims}.AAAA", ""):
            for path in ("stream", "channels"):
                async with session.get(f"{CHAT}/{path}", params={"access_token": token}) as answer:
                    seen[token == tokens[0], path] = answer.status
        # No other path that ends like the stream's takes it either.
        given = {"access_token": tokens[0]}
        async with session.get(f"{CHAT}/conversations/stream", params=given) as answer:
            assert answer.status == 401
    assert seen == {
        (True, "stream"): 200,
        (True, "channels"): 401,
        (False, "stream"): 401,
        (False, "channels"): 401,
    }


@pytest.mark.filterwarnings("ignore:Motor is deprecated")
async def test_motor_host(serve_example: Any) -> None:
    origin = await serve_example("motor_host")
    await talk(origin + CHAT, ADA, BOB)
    async with (
        ClientSession(origin, headers=ADA) as session,
        session.get("/profile") as answer,
    ):
        assert await answer.json() == {"visits": 1, "messages": 1}


async def test_notifying_by_mail(
    environment: Any, aiohttp_server: Any, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One mail for all conversations, with the newest message of each."""
    example = loaded("notifying_by_mail")
    mails: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(example, "DELAY_SECONDS", 0.4)
    monkeypatch.setattr(example, "EVERY_SECONDS", 0.3)
    monkeypatch.setattr(example, "send_mail", lambda *mail: mails.append(mail))
    send_digests = example.send_digests
    is_open = asyncio.Event()

    async def once_open(notes: Any) -> None:
        if is_open.is_set():
            await send_digests(notes)

    monkeypatch.setattr(example, "send_digests", once_open)
    server = await aiohttp_server(await example.make_app())
    await ready(database)
    origin = str(server.make_url("")).rstrip("/")
    async with ChatClient(origin + CHAT, headers=ADA) as ada:
        group = await ada.create_group_conversation(user_ids=["bob"], name="Crew")
        direct = await ada.get_or_create_conversation("bob")
        for here, body in ((group.id, "first"), (group.id, "second"), (direct.id, "hi")):
            await ada.send_message(here, body)
        await all_told(database, 3)
        is_open.set()
        await until(lambda: bool(mails))
    assert mails == [("bob", ["Crew: second", "ada: hi"])]


async def test_ping_bot(serve_example: Any) -> None:
    origin = await serve_example("ping_bot")
    async with ChatClient(origin + CHAT, headers=ADA) as ada, ada.stream() as stream:
        direct = await ada.get_or_create_conversation("ping-bot")
        for body in ("a !ping in passing", "!ping"):
            asked = await ada.send_message(direct.id, body)
            assert await heard(stream) == asked
        answer = await heard(stream)
        assert (answer.sender_id, answer.body) == ("ping-bot", "pong")
        assert answer.reply_to_message_id == asked.id


async def login_of(origin: str, name: str) -> str:
    """The cookie of whoever follows the link of `chat_in_pages`."""
    path = f"/login?name={name}"
    async with (
        ClientSession(origin) as session,
        session.get(path, allow_redirects=False) as answer,
    ):
        return f"login={answer.cookies['login'].value}"


async def test_chat_in_pages(serve_example: Any) -> None:
    """Who has not logged in sees no page, and the scripts are for anybody."""
    origin = await serve_example("chat_in_pages")
    cookie = {"Cookie": await login_of(origin, "ada")}
    seen: dict[tuple[str, bool], int] = {}
    async with ClientSession(origin) as session:
        for path in ("plain.html", "plain.js", "chat-aio/element.js", "login?name=eve"):
            for headers in ({}, cookie):
                async with session.get(f"/{path}", headers=headers) as answer:
                    seen[path, bool(headers)] = answer.status
    assert seen == {
        ("plain.html", False): 404,
        ("plain.html", True): 200,
        ("plain.js", False): 200,
        ("plain.js", True): 200,
        ("chat-aio/element.js", False): 200,
        ("chat-aio/element.js", True): 200,
        ("login?name=eve", False): 403,
        ("login?name=eve", True): 403,
    }
