"""The past that this process does not remember: replays from storage, many of them in one go."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final

from chat_aio.live.event import Name
from chat_aio.live.frames import Frame, position_frame
from chat_aio.live.replay import Replay, Stored, replay_from_storage, replay_of_nothing
from chat_aio.live.written import SKEW, Wish, Written
from chat_aio.store import messages, missed
from chat_aio.store.clock import Clock
from chat_aio.store.coalescer import Coalescer
from chat_aio.store.database import Database
from chat_aio.store.documents import CounterDocument
from chat_aio.store.missed import Bounds, TooMuch

MOST_TOGETHER = 512
AN_AGE_SECONDS = 300
WHOLE_REPLAYS = 8

TOO_MANY: Final = "too_many_missed"


Sift = Callable[[str, Sequence[Stored]], Awaitable[Sequence[Stored]]]
_Heads = Mapping[str, CounterDocument]


class Past:
    """Looks up where clients were, and what they have missed since.

    `catch_up` returns when this process has been told of all that is committed. A replay has at
    most `limit` events and `max_bytes` bytes; `sift` leaves out what a user may not read.
    """

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock,
        catch_up: Callable[[], Awaitable[None]],
        limit: int,
        max_bytes: int,
        sift: Sift | None = None,
    ) -> None:
        self._sift = sift
        self._database = database
        self._clock = clock
        self._catch_up = catch_up
        self._limit = limit
        self._max_bytes = max_bytes
        self._bounds = Bounds(
            each=limit + 1, most=WHOLE_REPLAYS * limit, most_bytes=WHOLE_REPLAYS * max_bytes
        )
        self._names = Coalescer(self._find, most=MOST_TOGETHER)
        self._wishes = Coalescer(self._grant, most=MOST_TOGETHER)

    async def find(self, name: Name) -> tuple[bool, datetime | None]:
        """Whether there is, or was, such a message; when it was created, None if it is gone.

        One so new that this process may not have been told of it is waited for.
        """
        return await self._names.ask(name)

    async def replay(self, wish: Wish) -> Replay:
        """What was missed, as far as that can be told. Raises StorageUnavailable."""
        replay = await self._wishes.ask(wish)
        if self._sift is None or not replay.stored or replay.position is None:
            return replay
        told = await self._sift(wish.user_id, replay.stored)
        return replay_from_storage(told, since=position_frame(*wish.since), newest=replay.position)

    async def _find(self, names: Sequence[Name]) -> list[tuple[bool, datetime | None]]:
        heads = await missed.heads_of(self._database, {each for each, _ in names})
        real = {(name, seq) for name, seq in names if name in heads and seq <= heads[name]["seq"]}
        now = self._clock()
        if any(now - heads[name]["activityAt"] < SKEW for name, _ in real):
            await self._catch_up()
        times = await missed.times_of(self._database, real) if real else {}
        return [(each in real, times.get(each) or _time_of_head(each, heads)) for each in names]

    async def _grant(self, wishes: Sequence[Wish]) -> list[Replay]:
        replays: dict[Wish, Replay] = {}
        by_age = sorted(wishes, key=_age)
        for _, group in groupby(by_age, key=_age):
            replays |= await self._grant_group(list(group))
        return [replays[each] for each in wishes]

    async def _grant_group(self, group: Sequence[Wish]) -> dict[Wish, Replay]:
        """Replays of one age, read together; where that is too much, in two halves."""
        ids = frozenset[str]().union(*(each.ids for each in group))
        since = min(each.horizon for each in group)
        # Heads before all else: what comes later than the newest of them, the feed tells.
        heads = await missed.heads_of(self._database, ids, since=since)
        if busy := [each for each in group if len(heads.keys() & each.ids) > self._limit]:
            others = [each for each in group if each not in busy]
            granted = await self._grant_group(others) if others else {}
            return granted | {each: _too_many(each, heads) for each in busy}
        try:
            written = await self._read(ids, heads, since=since)
        except TooMuch:
            if len(group) == 1:
                return {each: _too_many(each, heads) for each in group}
            middle = len(group) // 2
            first = await self._grant_group(group[:middle])
            return first | await self._grant_group(group[middle:])
        granted = {}
        for each in group:
            granted[each] = self._replay(each, heads, written)
            await asyncio.sleep(0)
        return granted

    async def _read(self, ids: Iterable[str], heads: Iterable[str], *, since: datetime) -> Written:
        """Changes before creations: what is changed is created in the same replay, or before it.
        Participants last: who is in even then may read all of it."""
        bounds = self._bounds
        changed = await missed.list_changed(self._database, ids, since=since, bounds=bounds)
        created = await missed.list_created(self._database, heads, since=since, bounds=bounds)
        find = messages.find_whole_parents if self._sift else messages.find_parents
        parents = await find(self._database, [*changed, *created])
        concerned = {each["conversationId"] for each in (*changed, *created)}
        members = await missed.members_of(self._database, concerned)
        written = Written(members)
        for each in created:
            written.add_created(each, parents)
        for each in changed:
            written.add_changed(each, parents)
        return written

    def _replay(self, wish: Wish, heads: _Heads, written: Written) -> Replay:
        told = [each.stored for each in written.missed_by(wish, most=self._limit + 1)]
        size = sum(len(each.frame.chunk) for each in told)
        if len(told) > self._limit or size > self._max_bytes:
            return _too_many(wish, heads)
        since = position_frame(*wish.since)
        return replay_from_storage(told, since=since, newest=_newest(wish, heads) or since)


def _time_of_head(name: Name, heads: _Heads) -> datetime | None:
    """Of a conversation's newest message the time is known, also when it has been removed."""
    head = heads.get(name[0])
    return head["activityAt"] if head and head["seq"] == name[1] else None


def _newest(wish: Wish, heads: _Heads) -> Frame | None:
    """The newest message that was there before anything was read."""
    if wish.newest:
        return wish.newest
    active = [heads[each] for each in heads.keys() & wish.ids]
    if not active:
        return None
    newest = max(active, key=lambda each: (each["activityAt"], each["_id"]))
    return position_frame(newest["_id"], newest["seq"])


def _too_many(wish: Wish, heads: _Heads) -> Replay:
    newest = _newest(wish, heads) or position_frame(*wish.since)
    return replay_of_nothing(newest, reset=TOO_MANY)


def _age(wish: Wish) -> int:
    return int(wish.at.timestamp() // AN_AGE_SECONDS)
