"""Bots: they handle each message of others, and answer it once, whatever happens in between."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, patch
from uuid import uuid4

import pytest
from aiohttp import ServerDisconnectedError

from chat_aio.client import Bot, BotMessage, ChatClient, FilePositions, repeating, unread
from chat_aio.client.repeating import until_answered
from chat_aio.errors import ForbiddenRead, InvalidInput, StorageUnavailable, ThreadsUnsupported
from chat_aio.schema.events import MessageEvent
from chat_aio.schema.models import Message, MessagePage
from tests.client.conftest import Connect
from tests.support.people import PATIENCE
from tests.support.saboteurs import prove


@asynccontextmanager
async def running(bot: Bot) -> AsyncIterator[None]:
    task = asyncio.create_task(bot.run())
    yield
    if task.done():
        task.result()
    task.cancel()
    await asyncio.wait({task})


def echo(client: ChatClient, user_id: str = "bot", *, place: Path | None = None) -> Bot:
    """It repeats each message, and says what follows /say."""
    bot = Bot(client, user_id, positions=FilePositions(place) if place else None)

    @bot.on_message
    async def repeat(message: BotMessage) -> None:
        await message.reply(f"echo: {message.body}")

    @bot.command("say")
    async def say(message: BotMessage) -> None:
        await message.reply(message.arguments)

    return bot


async def messages_in(client: ChatClient, conversation_id: str) -> list[Message]:
    return [*reversed((await client.list_messages(conversation_id, limit=200)).messages)]


async def until_said(client: ChatClient, conversation_id: str, body: str) -> list[str]:
    """All that was said up to this, and what was said with it."""
    async with asyncio.timeout(PATIENCE):
        while True:
            bodies = [message.body for message in await messages_in(client, conversation_id)]
            if body in bodies:
                return bodies
            await asyncio.sleep(0.02)


async def test_it_answers_others(connect: Connect) -> None:
    """With a quote, or in the thread that the message is in."""
    client_of = await connect()
    ada, client = await client_of("ada"), await client_of("bot")
    direct = await ada.get_or_create_conversation("bot")
    async with running(echo(client)):
        asked = await ada.send_message(direct.id, "/say  well, hello")
        await ada.send_message(direct.id, "/sayonara")
        await until_said(ada, direct.id, "echo: /sayonara")
        found = await messages_in(ada, direct.id)
        answers = [(message.body, message.role) for message in found if message.sender_id == "bot"]
        assert answers == [
            ("echo: /say  well, hello", "assistant"),
            ("well, hello", "assistant"),
            ("echo: /sayonara", "assistant"),
        ]
        quotes = [message.reply_to_message_id for message in found if message.body == "well, hello"]
        assert quotes == [asked.id]
        root = asked.id
        await ada.send_message(direct.id, "within", thread_root_message_id=root)
        await ada.send_message(direct.id, "without")
        await until_said(ada, direct.id, "echo: without")
        [answer, _] = (await ada.list_thread(direct.id, root)).messages
        assert (answer.body, answer.reply_to_message_id) == ("echo: within", None)


async def test_it_leaves_its_own_messages_out(connect: Connect) -> None:
    client_of = await connect()
    ada, client = await client_of("ada"), await client_of("bot")
    names = count()

    async def scenario() -> None:
        group = await ada.create_group_conversation(user_ids=["bot"], name=str(next(names)))
        async with running(echo(client)):
            await ada.send_message(group.id, "one")
            await until_said(ada, group.id, "echo: one")
            await ada.send_message(group.id, "two")
            bodies = await until_said(ada, group.id, "echo: two")
            assert sorted(bodies) == ["echo: one", "echo: two", "one", "two"]

    await scenario()
    bots = echo
    other = patch(f"{__name__}.echo", lambda client: bots(client, "nobody"))
    with other, pytest.raises(AssertionError):
        await scenario()


async def test_an_answer_is_stored_once(connect: Connect) -> None:
    """A bot that handles a message again, because it does not know of the first time."""
    client_of = await connect()
    ada, client = await client_of("ada"), await client_of("bot")

    async def never(*_: object) -> None:
        """The mark, too, was lost."""

    async def scenario() -> None:
        group = await ada.create_group_conversation(user_ids=["bot"])
        await ada.send_message(group.id, "/say hello")
        for last in ("first", "second"):
            async with running(echo(client)):
                await ada.send_message(group.id, last)
                bodies = await until_said(ada, group.id, f"echo: {last}")
        assert sorted(bodies).count("echo: /say hello") == 1
        assert bodies.count("hello") == 1

    def any_key(_: BotMessage) -> str:
        return uuid4().hex

    with patch.object(Bot, "_mark_read", never):
        await prove(scenario, sabotage=patch.object(BotMessage, "_key", any_key))


async def test_an_answer_that_would_be_another_one(connect: Connect) -> None:
    """The first one stays; further answers to one message are answers of their own."""
    client_of = await connect()
    ada, client = await client_of("ada"), await client_of("bot")
    group = await ada.create_group_conversation(user_ids=["bot"])
    sent = await ada.send_message(group.id, "what time is it?")
    for body, is_stored in (("one", True), ("two", False), ("one", True)):
        again = BotMessage(client, sent, "clock")
        assert bool(await again.reply(body)) is is_stored
        assert await again.reply("and it is late")
    assert [message.body for message in await messages_in(ada, group.id)][1:] == [
        *("one", "and it is late")
    ]


async def test_a_handler_that_fails(connect: Connect, caplog: pytest.LogCaptureFixture) -> None:
    """The other handlers are called, and the next message comes."""
    client_of = await connect()
    ada, client = await client_of("ada"), await client_of("bot")
    group = await ada.create_group_conversation(user_ids=["bot"])
    bot = Bot(client, "bot")

    @bot.on_message
    async def fail(message: BotMessage) -> None:
        raise ValueError(message.body)

    @bot.on_message
    async def answer(message: BotMessage) -> None:
        await message.reply(f"to {message.body}")

    async with running(bot):
        await ada.send_message(group.id, "one")
        await ada.send_message(group.id, "two")
        await until_said(ada, group.id, "to two")
    failed = [record for record in caplog.records if "failed at message" in record.message]
    assert len(failed) == 2
    assert {record.levelno for record in failed} == {logging.ERROR}


async def test_handlers_have_names_of_their_own(connect: Connect) -> None:
    bot = echo(await (await connect())("bot"))

    async def repeat(_: BotMessage) -> None: ...

    with pytest.raises(ValueError, match="repeat"):
        bot.on_message(repeat)
    bot.command("repeat")(repeat)


async def test_it_resumes_from_its_position(connect: Connect, tmp_path: Path) -> None:
    """Also what was read in the bot's name meanwhile, such as by a person who looks on."""
    client_of = await connect()
    ada, client = await client_of("ada"), await client_of("bot")
    names = count()

    async def scenario() -> None:
        place = tmp_path / str(next(names))
        group = await ada.create_group_conversation(user_ids=["bot"])
        async with running(echo(client, place=place)):
            await ada.send_message(group.id, "one")
            await until_said(ada, group.id, "echo: one")
            await ada.send_message(group.id, "two")
            await until_said(ada, group.id, "echo: two")
        sent = await ada.send_message(group.id, "missed")
        await client.mark_read(group.id, sent.id)
        async with running(echo(client, place=place)):
            await ada.send_message(group.id, "last")
            assert "echo: missed" in await until_said(ada, group.id, "echo: last")

    async def lost(*_: object) -> None:
        """Nothing is stored."""

    await prove(scenario, sabotage=patch.object(FilePositions, "save", lost))


async def test_what_the_stream_cannot_replay(
    connect: Connect, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is read over HTTP, oldest first, also in the threads of old messages."""
    client_of = await connect(replay_limit=5)
    ada, client = await client_of("ada"), await client_of("bot")
    names = count()

    async def scenario() -> None:
        place = tmp_path / str(next(names))
        group = await ada.create_group_conversation(user_ids=["bot"])
        roots = [await ada.send_message(group.id, f"root {number}") for number in range(3)]
        async with running(echo(client, place=place)):
            await until_said(ada, group.id, "echo: root 2")
            await ada.send_message(group.id, "known")
            await until_said(ada, group.id, "echo: known")
        for number in range(9):
            await ada.send_message(group.id, f"main {number}")
            root = roots[number % 3].id
            await ada.send_message(group.id, f"reply {number}", thread_root_message_id=root)
        async with ada.stream() as events:
            gone = await ada.send_message(group.id, "gone")
            await ada.delete_message(gone.id)
            # The bot's stream would else be sent both, as one that was open all the time.
            async with asyncio.timeout(PATIENCE):
                async for event in events:
                    if isinstance(event, MessageEvent) and event.type == "message.deleted":
                        break
        with patch.object(unread, "PAGE", 4):
            async with running(echo(client, place=place)):
                await ada.send_message(group.id, "last")
                bodies = await until_said(ada, group.id, "echo: last")
        said = [body for body in bodies if body.startswith("echo: main")]
        assert said == [f"echo: main {number}" for number in range(9)]
        threads = [await ada.list_thread(group.id, question.id) for question in roots]
        answers = [message.body for page in threads for message in page.messages]
        assert sorted(answer for answer in answers if answer.startswith("echo")) == [
            f"echo: reply {number}" for number in range(9)
        ]
        assert "echo: gone" not in bodies

    sabotage = patch.object(unread._Unread, "_read_thread", AsyncMock())
    await prove(scenario, sabotage=sabotage)
    # Without the threads it says what it does not know.
    assert [message for message in caplog.messages if message.startswith("9 unread messages")]


async def test_a_conversation_that_cannot_be_read(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    """It is left out, and so are threads; the others are handled."""
    client_of = await connect()
    ada, client = await client_of("ada"), await client_of("bot")
    one, two = [await ada.create_group_conversation(user_ids=["bot"]) for _ in range(2)]
    for conversation in (one, two):
        root = await ada.send_message(conversation.id, "hello")
        await ada.send_message(conversation.id, "reply", thread_root_message_id=root.id)
    listed = client.list_messages

    async def refused(conversation_id: str, **given: Any) -> MessagePage:
        if conversation_id == two.id:
            raise ForbiddenRead
        return await listed(conversation_id, **given)

    async def no_threads(*_: object, **__: object) -> MessagePage:
        raise ThreadsUnsupported

    without_one = patch.object(client, "list_messages", refused)
    without_threads = patch.object(client, "list_thread", no_threads)
    with without_one, without_threads:
        async with running(echo(client)):
            assert await until_said(ada, one.id, "echo: hello") == ["hello", "echo: hello"]
            await ada.send_message(two.id, "again")
            bodies = await until_said(ada, two.id, "echo: again")
    assert "echo: hello" not in bodies
    assert [message for message in caplog.messages if message.startswith("1 unread messages")]
    assert [message for message in caplog.messages if "cannot be read" in message]


async def test_it_ends_with_its_client(connect: Connect) -> None:
    client = await (await connect())("bot")
    task = asyncio.create_task(echo(client).run())
    await asyncio.sleep(0.05)
    await client.__aexit__(None, None, None)
    async with asyncio.timeout(PATIENCE):
        await asyncio.wait({task})
    assert not task.cancelled()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """After how many failures a pause was asked for."""
    asked: list[int] = []

    def at_once(_: float, attempt: int, __: float) -> float:
        asked.append(attempt)
        return 0

    monkeypatch.setattr(repeating, "backoff_delay", at_once)
    return asked


def failing(*failures: Exception) -> Callable[[], Awaitable[str]]:
    left = list(failures)

    async def call() -> str:
        if left:
            raise left.pop(0)
        return "done"

    return call


async def test_it_waits_for_the_service(pauses: list[int]) -> None:
    call = failing(ServerDisconnectedError(), TimeoutError(), StorageUnavailable())
    assert await until_answered(call) == "done"
    assert pauses == [1, 2, 3]
    with pytest.raises(InvalidInput):
        await until_answered(failing(InvalidInput("no")))


async def test_positions_in_a_file(tmp_path: Path) -> None:
    positions = FilePositions(tmp_path / "position")
    assert await positions.load() is None
    for position in ("c:1", "::1795321336703"):
        await positions.save(position)
        assert await FilePositions(tmp_path / "position").load() == position
    assert os.listdir(tmp_path) == ["position"]
