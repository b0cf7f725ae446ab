"""Changes of all kinds while clients come and go at random: what each of them shows in the end is
what a full refetch shows."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from chat_aio.errors import ChatError
from tests.conftest import Database, MakePeople
from tests.support.ageing import age
from tests.support.people import Person
from tests.support.views import View, shown_to

GROUPS = 6
WRITERS = 3
LAST = "the last one"
OPTIONS: dict[str, Any] = {"extra_events": True, "room_controls": True, "inbox": True}

Place = Callable[[str], Person]


class Progress:
    """How many acts there were, and whether all is over."""

    def __init__(self) -> None:
        self.acts = 0
        self.over = asyncio.Event()
        self._changed = asyncio.Condition()

    async def note(self) -> None:
        async with self._changed:
            self.acts += 1
            self._changed.notify_all()

    async def end(self) -> None:
        self.over.set()
        await self.note()

    async def wait_for(self, more: int) -> None:
        """Wait for so many further acts, or for the end."""
        wanted = self.acts + more
        async with self._changed:
            await self._changed.wait_for(lambda: self.acts >= wanted or self.over.is_set())


async def come_and_go(view: View, places: list[Place], progress: Progress, chance: Any) -> None:
    """Follow for some events, leave for some acts, and return elsewhere, until all is over."""
    over = progress.over
    while not over.is_set():
        place = chance.choice(places)
        async with place(view.user_id).tab(view.position) as tab:
            for _ in range(chance.randrange(1, 12)):
                reading = asyncio.ensure_future(tab.next())
                ending = asyncio.ensure_future(over.wait())
                await asyncio.wait({reading, ending}, return_when=asyncio.FIRST_COMPLETED)
                ending.cancel()
                if not reading.done():
                    # The client is cut off in the middle of something.
                    reading.cancel()
                    await asyncio.wait({reading})
                    break
                view.position = tab.last_event_id
                await view.take(reading.result(), place)
        await progress.wait_for(chance.randrange(0, 30))


async def catch_up(view: View, place: Place) -> None:
    """Come back once more: all that was missed comes with the opening of the stream."""
    async with place(view.user_id).tab(view.position) as tab:
        while True:
            frame = await tab.next()
            view.position = tab.last_event_id
            await view.take(frame, place)
            if frame.event in ("stream.changed", "stream.reset"):
                return


class Storm:
    """One user who changes all kinds of things, with the host's rights."""

    def __init__(
        self,
        person: Place,
        groups: list[str],
        users: list[str],
        progress: Progress,
        seed: int,
    ) -> None:
        self.progress = progress
        self.chat = person("host").chat
        self.groups = groups
        self.users = users
        self.random = random.Random(seed)
        self.messages: list[tuple[str, str]] = []

    async def rage(self, turns: int) -> None:
        acts: list[Callable[[str], Awaitable[object]]] = [
            *(self.say, self.say, self.rename, self.react, self.unreact, self.pin),
            *(self.read, self.mark_unread, self.throw_out, self.let_in, self.edit, self.promote),
        ]
        for _ in range(turns):
            # Somebody may not be there, or be there already.
            with suppress(ChatError):
                await self.random.choice(acts)(self.random.choice(self.groups))
            await self.progress.note()

    async def say(self, group: str) -> None:
        message = await self.chat.api.send_message("host", group, f"{self.random.random()}")
        self.messages.append((group, message.id))

    async def rename(self, group: str) -> None:
        await self.chat.api.update_conversation("host", group, name=f"{self.random.random()}")

    async def react(self, _: str) -> None:
        if self.messages:
            await self.chat.api.add_reaction("host", self.random.choice(self.messages)[1], "👍")

    async def unreact(self, _: str) -> None:
        if self.messages:
            await self.chat.api.remove_reaction("host", self.random.choice(self.messages)[1], "👍")

    async def edit(self, _: str) -> None:
        if self.messages:
            message_id = self.random.choice(self.messages)[1]
            await self.chat.api.edit_message("host", message_id, f"{self.random.random()}")

    async def pin(self, _: str) -> None:
        if self.messages:
            await self.chat.rooms.pin_message("host", *self.random.choice(self.messages))

    async def read(self, _: str) -> None:
        if self.messages:
            place = self.random.choice(self.messages)
            for user_id in self.random.sample(self.users, 20):
                with suppress(ChatError):
                    await self.chat.api.mark_read(user_id, *place)

    async def mark_unread(self, _: str) -> None:
        if self.messages:
            place = self.random.choice(self.messages)
            await self.chat.inbox.mark_unread(self.random.choice(self.users), *place)

    async def throw_out(self, group: str) -> None:
        await self.chat.api.remove_participant("host", group, self.random.choice(self.users))

    async def let_in(self, group: str) -> None:
        await self.chat.api.add_participants("host", group, [self.random.choice(self.users)])

    async def promote(self, group: str) -> None:
        role: Any = self.random.choice(["admin", "member"])
        user_id = self.random.choice(self.users)
        await self.chat.api.set_participant_role("host", group, user_id, role=role)


@pytest.mark.parametrize(
    ("clients", "turns"), [(25, 30), pytest.param(50, 60, marks=pytest.mark.long)]
)
async def test_every_client_shows_what_a_full_refetch_shows(
    serve: MakePeople, database: Database, clients: int, turns: int
) -> None:
    """Of three processes one remembers much, one little, and one nothing."""
    places = [
        await serve(**OPTIONS),
        await serve(**OPTIONS, replay_buffer_seconds=0, replay_buffer_events=5),
        await serve(**OPTIONS, replay_buffer_bytes=1),
    ]
    users = [f"user {number}" for number in range(clients)]
    host = places[0]("host")
    groups = [await host.group(*users) for _ in range(GROUPS)]
    for group in groups:
        await host.send(group, "the first one")
    await age(database)
    views = [View(user_id) for user_id in users]
    for view in views:
        async with places[0](view.user_id).tab() as tab:
            await tab.next()
            view.position = tab.last_event_id
        await view.fetch_all(places[0])
    progress = Progress()
    following = [
        asyncio.create_task(come_and_go(view, places, progress, random.Random(view.user_id)))
        for view in views
    ]
    storms = [Storm(places[n], groups, users, progress, n) for n in range(WRITERS)]
    await asyncio.gather(*(storm.rage(turns) for storm in storms))
    await host.chat.conversations.delete_conversation("shop", groups[-1])
    await progress.end()
    await asyncio.gather(*following)
    for view in views:
        await catch_up(view, random.Random(view.user_id).choice(places))
        assert view.shown() == await shown_to(view.user_id, places[0]), view.user_id
