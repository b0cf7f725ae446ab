"""The past that this process does not remember: replays from storage, many of them in one go."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

from chat_aio.live.event import Name
from chat_aio.live.frames import Frame, position_frame
from chat_aio.live.replay.missed_events import SKEW, MissedEvents, ReplayRequest
from chat_aio.live.replay.positions import (
    NOWHERE,
    Whereabouts,
    is_moment,
    moment_frame,
    time_of_moment,
)
from chat_aio.live.replay.replay import (
    Replay,
    ReplayedEvent,
    replay_from_storage,
    replay_of_nothing,
)
from chat_aio.store import messages, replay_queries
from chat_aio.store.clock import Clock
from chat_aio.store.coalescer import Coalescer
from chat_aio.store.database import Database
from chat_aio.store.documents import CounterDocument
from chat_aio.store.replay_queries import Bounds, TooMuch
from chat_aio.store.settings import Settings

MOST_TOGETHER = 512
AN_AGE_SECONDS = 300
WHOLE_REPLAYS = 8

TOO_MANY: Final = "too_many_missed"


Sift = Callable[[str, Sequence[ReplayedEvent]], Awaitable[Sequence[ReplayedEvent]]]
Passed = Callable[[], asyncio.Future[None]]
"""Done once the feed has told all that is committed now."""

Found = Replay | tuple[Sequence[ReplayedEvent], Frame]
"""A reset; or what was missed, and the position behind it."""

RESTORED_FOR = timedelta(days=7)
"""So long positions from before a restored backup are looked for."""
_Heads = Mapping[str, CounterDocument]


class StorageReplays:
    """Looks up where clients were, and what they have missed since.

    `catch_up` returns when this process has been told of all that is committed, `passed` is done
    then. A replay has at most `limit` events and `max_bytes` bytes; `sift` leaves out what a user
    may not read.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        *,
        clock: Clock,
        catch_up: Callable[[], Awaitable[None]],
        passed: Passed,
        limit: int,
        max_bytes: int,
        sift: Sift | None = None,
    ) -> None:
        self._sift = sift
        self._database = database
        self._settings = settings
        self._clock = clock
        self._passed = passed
        self._catch_up = catch_up
        self._limit = limit
        self._max_bytes = max_bytes
        self._bounds = Bounds(
            each=limit + 1, most=WHOLE_REPLAYS * limit, most_bytes=WHOLE_REPLAYS * max_bytes
        )
        self._names = Coalescer(self._find, most=MOST_TOGETHER)
        self._restored = Coalescer[None, datetime | None](self._look, most=MOST_TOGETHER)
        self._wishes = Coalescer[ReplayRequest, Found](self._grant, most=MOST_TOGETHER)

    async def find(self, name: Name) -> Whereabouts:
        """The time of a position. If the change stream has not delivered its message yet, this
        waits for it. Raises StorageUnavailable."""
        return await self._names.ask(name)

    async def replay(self, wish: ReplayRequest) -> Replay:
        """What was missed, as far as that can be told. Raises StorageUnavailable."""
        found = await self._wishes.ask(wish)
        if isinstance(found, Replay):
            return found
        told, newest = found
        if self._sift is not None:
            told = await self._sift(wish.user_id, told)
        since = position_frame(*wish.since)
        passed = self._passed() if told else None
        return replay_from_storage(told, since=since, newest=newest, passed=passed)

    async def restored_at(self) -> datetime | None:
        """When a backup was restored, if that was lately: what a position from before names may be
        another message by now. Raises StorageUnavailable."""
        return await self._restored.ask(None)

    async def _look(self, questions: Sequence[None]) -> list[datetime | None]:
        at = await self._settings.restored_at()
        lately = at is not None and self._clock() - at < RESTORED_FOR
        return [at if lately else None] * len(questions)

    async def _find(self, names: Sequence[Name]) -> list[Whereabouts]:
        now, restored_at = self._clock(), await self.restored_at()
        heads = await replay_queries.heads_of(self._database, {each for each, _ in names})
        real = {(name, seq) for name, seq in names if name in heads and seq <= heads[name]["seq"]}
        if any(now - heads[name]["activityAt"] < SKEW for name, _ in real):
            await self._catch_up()
        times = await replay_queries.times_of(self._database, real) if real else {}
        for each in names:
            if is_moment(each) and (moment := time_of_moment(each)):
                times[each] = moment
            elif each in real and each not in times and (at := _time_of_head(each, heads)):
                times[each] = at
        return [_whereabouts(each, times.get(each), heads, now, restored_at) for each in names]

    async def _grant(self, wishes: Sequence[ReplayRequest]) -> list[Found]:
        replays: dict[ReplayRequest, Found] = {}
        by_age = sorted(wishes, key=_age)
        for _, group in groupby(by_age, key=_age):
            replays |= await self._grant_group(list(group))
        return [replays[each] for each in wishes]

    async def _grant_group(self, group: Sequence[ReplayRequest]) -> dict[ReplayRequest, Found]:
        """Replays of one age, read together; where that is too much, in two halves."""
        ids = frozenset[str]().union(*(each.ids for each in group))
        since = min(each.horizon for each in group)
        # Heads before all else: what comes later than the newest of them, the feed tells.
        heads = await replay_queries.heads_of(self._database, ids, since=since)
        if busy := [each for each in group if len(heads.keys() & each.ids) > self._limit]:
            others = [each for each in group if each not in busy]
            rest = await self._grant_group(others) if others else {}
            return rest | {each: _too_many(each, heads) for each in busy}
        try:
            written = await self._read(ids, heads, since=since)
        except TooMuch:
            if len(group) == 1:
                return {each: _too_many(each, heads) for each in group}
            middle = len(group) // 2
            first = await self._grant_group(group[:middle])
            return first | await self._grant_group(group[middle:])
        granted: dict[ReplayRequest, Found] = {}
        for each in group:
            granted[each] = self._missed(each, heads, written)
            await asyncio.sleep(0)
        return granted

    async def _read(
        self, ids: Iterable[str], heads: Iterable[str], *, since: datetime
    ) -> MissedEvents:
        """Changes before creations: what is changed is created in the same replay, or before it.
        Participants last: who is in even then may read all of it."""
        bounds = self._bounds
        changed = await replay_queries.list_changed(self._database, ids, since=since, bounds=bounds)
        created = await replay_queries.list_created(
            self._database, heads, since=since, bounds=bounds
        )
        find = messages.find_whole_parents if self._sift else messages.find_parents
        parents = await find(self._database, [*changed, *created])
        concerned = {each["conversationId"] for each in (*changed, *created)}
        members = await replay_queries.members_of(self._database, concerned)
        written = MissedEvents(members)
        known = {each["_id"] for each in changed}
        gone = [each for each in created if each.get("deletedAt") and each["_id"] not in known]
        for each in created:
            written.add_created(each, parents)
        for each in (*changed, *gone):  # Some are deleted between the two reads.
            written.add_changed(each, parents)
        return written

    def _missed(self, wish: ReplayRequest, heads: _Heads, written: MissedEvents) -> Found:
        told = [each.stored for each in written.missed_by(wish, most=self._limit + 1)]
        size = sum(len(each.frame.chunk) for each in told)
        if len(told) > self._limit or size > self._max_bytes:
            return _too_many(wish, heads)
        return told, _newest(wish, heads)


def _whereabouts(
    name: Name, at: datetime | None, heads: _Heads, now: datetime, restored_at: datetime | None
) -> Whereabouts:
    """Where a client was. What it names may have been there before a backup was restored."""
    unknown = Whereabouts(reset="position_unknown")
    head = heads.get(name[0])
    if at is None:
        if head and name[1] <= head["seq"]:
            return Whereabouts(reset="position_removed")
        return unknown if head or restored_at else NOWHERE
    is_ahead = is_moment(name) and at > now + SKEW
    return unknown if is_ahead or (restored_at and at < restored_at) else Whereabouts(at=at)


def _time_of_head(name: Name, heads: _Heads) -> datetime | None:
    """Of a conversation's newest message the time is known, also when it has been removed."""
    head = heads.get(name[0])
    return head["activityAt"] if head and head["seq"] == name[1] else None


def _newest(wish: ReplayRequest, heads: _Heads) -> Frame:
    """The newest message that was there before anything was read; else when the stream began,
    where its client has named a moment; else what the client has named."""
    if wish.newest:
        return wish.newest
    active = [heads[each] for each in heads.keys() & wish.ids]
    if not active:
        return moment_frame(wish.began) if is_moment(wish.since) else position_frame(*wish.since)
    newest = max(active, key=lambda each: (each["activityAt"], each["_id"]))
    return position_frame(newest["_id"], newest["seq"])


def _too_many(wish: ReplayRequest, heads: _Heads) -> Replay:
    return replay_of_nothing(_newest(wish, heads), reset=TOO_MANY)


def _age(wish: ReplayRequest) -> int:
    return int(wish.at.timestamp() // AN_AGE_SECONDS)
