"""A host's plugin that raises: it is logged, and everything else goes on."""

import asyncio

import pytest

from chat_aio import Chat
from chat_aio.plugins import DeliveredMessage, Plugin, Presence
from tests.conftest import Database, MakePeople
from tests.plugins.test_presence import of
from tests.support.people import PATIENCE, Tab


class Fails(Plugin):
    """Raises where it hears of something of this name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def stream_opened(self, user_id: str) -> None:
        self._hear("stream_opened")

    async def stream_opening(self, user_id: str) -> None:
        self._hear("stream_opening")

    def stream_closed(self, user_id: str) -> None:
        self._hear("stream_closed")

    def message_delivered(self, user_id: str, message: DeliveredMessage) -> None:
        self._hear("message_delivered")

    def message_read(self, user_id: str, conversation_id: str, message_id: str) -> None:
        self._hear("message_read")

    def _hear(self, name: str) -> None:
        if name == self._name:
            raise RuntimeError(f"a bug in {name}")


class Hears(Fails):
    """Notes what it hears."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def _hear(self, name: str) -> None:
        self.heard.append(name)


async def said(tab: Tab) -> str:
    """The body of the next message; whoever comes and goes is passed."""
    frames = await tab.until(lambda frame: frame.event == "message.created")
    return str(frames[-1].data["message"]["body"])


class NeverReady(Plugin):
    """Has not done what must be true before a stream opens until it is let."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()
        self.ended: list[str] = []

    async def stream_opening(self, user_id: str) -> None:
        await asyncio.wait_for(self.may_end.wait(), PATIENCE)
        self.ended.append(user_id)


NAMES = ["stream_opened", "stream_opening", "stream_closed", "message_delivered", "message_read"]


@pytest.mark.parametrize("name", NAMES)
async def test_everything_else_goes_on(
    serve: MakePeople, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    before, after = Hears(), Hears()
    person = await serve(plugins=[before, Fails(name), Presence(offline_delay_ms=50), after])
    alice, bob = person("alice"), person("bob")
    direct = await alice.direct("bob")
    await alice.send(direct, "seen")
    await alice.send(direct, "missed")
    await alice.told_all()
    async with alice.tab() as hers:
        async with bob.tab(f"{direct}:1") as tab:
            assert await of(hers, "bob") is True
            sent = await alice.send(direct, "hi")
            assert [await said(tab) for _ in range(2)] == ["missed", "hi"]
            await bob.read(direct, sent["id"])
            await alice.send(direct, "again")
            assert await said(tab) == "again"
        assert await of(hers, "bob") is False
        assert await alice.chat_streams() == 1
    opened = ["stream_opened", "stream_opening"] * 2
    heard = [*opened, "message_delivered", "message_delivered", "message_read", "message_delivered"]
    for plugin in (before, after):
        assert plugin.heard[: len(heard) + 1] == [*heard, "stream_closed"]
    assert f"a bug in {name}" in caplog.text


class Counts(Plugin):
    def __init__(self) -> None:
        self.opened = 0
        self.closed = 0

    async def open(self) -> None:
        self.opened += 1

    async def close(self) -> None:
        self.closed += 1


class Refuses(Plugin):
    async def open(self) -> None:
        raise RuntimeError("not today")


async def test_a_chat_whose_plugin_does_not_open_closes_the_others(database: Database) -> None:
    first, last = Counts(), Counts()
    chat = Chat(database, plugins=[first, Refuses(), last])
    with pytest.raises(RuntimeError, match="not today"):
        await chat.open()
    assert (first.opened, first.closed) == (1, 1)
    assert last.opened == 0
    with pytest.raises(RuntimeError, match="not open"):
        _ = chat.api


class ClosesBadly(Plugin):
    async def close(self) -> None:
        raise RuntimeError("the door is stuck")


async def test_a_plugin_that_does_not_close_keeps_nothing_open(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    last = Counts()
    chat = Chat(database, plugins=[ClosesBadly(), last])
    await chat.open()
    await chat.close()
    assert last.closed == 1
    assert "the door is stuck" in caplog.text
    with pytest.raises(RuntimeError, match="not open"):
        _ = chat.api


async def test_a_plugin_that_is_never_ready_keeps_no_stream_from_opening(
    serve: MakePeople, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not waited for any longer, and not cancelled: it may be in the middle of a write."""
    monkeypatch.setattr("chat_aio.live.plugin_notifier.OPENING_SECONDS", 0.05)
    plugin = NeverReady()
    person = await serve(plugins=[plugin])
    alice, bob = person("alice"), person("bob")
    direct = await alice.direct("bob")
    async with bob.tab() as tab:
        await alice.send(direct, "hi")
        assert await said(tab) == "hi"
    assert plugin.ended == []
    plugin.may_end.set()
    async with bob.tab():
        assert plugin.ended == ["bob", "bob"]
