"""Lanes of conversations: one that fails waits by itself, and the others go on."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chat_aio import Chat
from chat_aio.plugins.webhooks.rows import Rows
from tests.conftest import Database, MakeChat
from tests.plugins.notifications.telling import PATIENCE, eventually
from tests.plugins.webhooks.receiving import (
    Received,
    Receiver,
    all_posted,
    quick,
    ready,
    receiving,
)
from tests.support.processes import until

CREATED = ["message.created"]
HELD = 10 * PATIENCE
"""Longer than any wait of the tests: the end of a held answer frees a slot."""


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


async def groups_of(chat: Chat, count: int) -> Sequence[str]:
    making = (chat.api.create_group_conversation("ada", user_ids=["bob"]) for _ in range(count))
    return [(await group).id for group in making]


class Failing:
    """Answers 500 to events of these conversations, from the second try of each on only when
    `goes_on` is set; those of `recovered` are accepted then."""

    def __init__(self, *conversation_ids: str, recovered: Sequence[str] = ()) -> None:
        self.tries = dict.fromkeys(conversation_ids, 0)
        self.goes_on = asyncio.Event()
        self._recovered = recovered

    async def __call__(self, received: Received, _: Any) -> int | None:
        place = received.data["conversationId"]
        if place not in self.tries:
            return None
        self.tries[place] += 1
        if self.tries[place] > 1:
            if place in self._recovered:
                return None
            await asyncio.wait_for(self.goes_on.wait(), HELD)
        return 500


async def test_a_slow_conversation_leaves_slots_to_the_others(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    """More of them than there are slots: once they have failed, they have separate slots."""
    chat = await make_chat()
    *slow, other = await groups_of(chat, 9)
    receiver.answers = failing = Failing(*slow)
    plugin = quick(receiver.url, events=CREATED, concurrency=4, timeout_seconds=600, max_attempts=2)
    async with Chat(database, plugins=[plugin]):
        await ready(database)
        for group in slow:
            await chat.api.send_message("ada", group, "hi")
        await until(lambda: min(failing.tries.values()) >= 1)
        # The second tries are due by now, and would take all slots.
        await until(lambda: max(failing.tries.values()) == 2)
        for text in "12345":
            await chat.api.send_message("ada", other, text)
        await until(lambda: receiver.texts(other) == [*"12345"])
        assert not failing.goes_on.is_set()
        failing.goes_on.set()
        await all_posted(database, 13)


async def test_a_conversation_that_has_recovered_has_the_slots_of_the_others(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    chat = await make_chat()
    slow, recovered = await groups_of(chat, 2)
    receiver.answers = failing = Failing(slow, recovered, recovered=[recovered])
    plugin = quick(receiver.url, events=CREATED, concurrency=4, timeout_seconds=600, max_attempts=3)
    async with Chat(database, plugins=[plugin]):
        await ready(database)
        await chat.api.send_message("ada", recovered, "1")
        await all_posted(database, 1)
        # It takes the only slot for those that have failed.
        await chat.api.send_message("ada", slow, "hi")
        await until(lambda: failing.tries[slow] == 2)
        await chat.api.send_message("ada", recovered, "2")
        await until(lambda: receiver.texts(recovered) == ["1", "2"])
        assert not failing.goes_on.is_set()
        failing.goes_on.set()
        await all_posted(database, 3)


async def test_a_long_wait_is_that_of_one_conversation(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    """All its events wait for the first one, so that no look wakes it in vain."""
    chat = await make_chat()
    failing, other = await groups_of(chat, 2)
    goes_on = asyncio.Event()

    async def answer(received: Received, _: Any) -> int | None:
        if received.data["conversationId"] == failing:
            return 500
        await asyncio.wait_for(goes_on.wait(), HELD)
        return None

    receiver.answers = answer
    plugin = quick(
        receiver.url,
        events=CREATED,
        timeout_seconds=600,
        retry_backoff_seconds=600,
    )
    rows = database["webhook_deliveries"]
    async with Chat(database, plugins=[plugin]) as poster:
        await ready(database)
        await chat.api.send_message("ada", other, "1")
        await until(lambda: len(receiver.tried) == 1)
        # Behind the first one, and due.
        await chat.api.send_message("ada", other, "2")
        for text in "12":
            await chat.api.send_message("ada", failing, text)

        async def is_held_up() -> bool:
            found = await rows.find({"conversationId": failing}).sort("order", 1).to_list(None)
            return [row["tries"] for row in found] == [1, 0] and found[0]["notBefore"] == found[1][
                "notBefore"
            ] > found[1]["dueAt"]

        await eventually(is_held_up)
        waiting = Rows(poster._context.plugins[0].api, "default")
        soon = datetime.now(UTC) + timedelta(minutes=1)
        assert await waiting.conversations_waiting(soon) == [other]
        goes_on.set()
        await until(lambda: receiver.texts(other) == ["1", "2"])
    assert receiver.texts(failing) == []
