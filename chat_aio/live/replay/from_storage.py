"""Replays from storage, for what the replay buffer does not hold. Concurrent ones share reads."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

from chat_aio.live.event import Name
from chat_aio.live.frames import Frame, position_frame
from chat_aio.live.replay.missed_events import MissedEvents, ReplayRequest
from chat_aio.live.replay.positions import (
    NOWHERE,
    SKEW,
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
from chat_aio.live.stream import HOST
from chat_aio.store import deleted_conversations, messages, replay_queries
from chat_aio.store.clock import Clock
from chat_aio.store.coalescer import Coalescer
from chat_aio.store.database import Database
from chat_aio.store.deleted_conversations import time_of
from chat_aio.store.documents import CounterDocument
from chat_aio.store.replay_queries import Bounds, TooMuch
from chat_aio.store.settings import Settings

MOST_TOGETHER = 512

AN_AGE_SECONDS = 300
"""Replays whose positions are of the same five minutes are read together."""

WHOLE_REPLAYS = 8
"""One round of reads may find as much as so many replays of full length."""

TOO_MANY: Final = "too_many_missed"


Sift = Callable[[str, Sequence[ReplayedEvent]], Awaitable[Sequence[ReplayedEvent]]]
Passed = Callable[[], asyncio.Future[None]]
"""A future that is done once the feed has delivered everything committed by now."""

Found = Replay | tuple[Sequence[ReplayedEvent], Frame]
"""A reset; or the missed events and the position after them."""

RESTORED_FOR = timedelta(days=7)
"""For how long after a restored backup positions may come from the data that was lost."""
_Heads = Mapping[str, CounterDocument]


class StorageReplays:
    """Finds the positions of reconnecting clients and the events that they have missed since.

    `catch_up` returns once the feed has delivered everything committed by now; `passed` returns a
    future that is done then. A replay has at most `limit` events and `max_bytes` bytes; `sift`
    removes what a user may not read.
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
            # `+ 1`: one more than a replay may have shows that there are too many.
            per_conversation=limit + 1,
            most=WHOLE_REPLAYS * limit,
            most_bytes=WHOLE_REPLAYS * max_bytes,
        )
        self._names = Coalescer(self._find, most=MOST_TOGETHER)
        self._restored = Coalescer[None, datetime | None](self._look, most=MOST_TOGETHER)
        self._requests = Coalescer[ReplayRequest, Found](self._answer, most=MOST_TOGETHER)

    async def find(self, name: Name) -> Whereabouts:
        """The time of a position. If the change stream has not delivered its message yet, this
        waits for it. Raises StorageUnavailable."""
        return await self._names.ask(name)

    async def conversations_since(self, at: datetime) -> frozenset[str]:
        """The conversations in which something was written since; one more than a replay may have
        events of, at most."""
        since = at - SKEW
        return await replay_queries.spoken_since(self._database, since, most=self._limit + 1)

    async def replay(self, request: ReplayRequest) -> Replay:
        """The missed events, or a reset if they are too many. Raises StorageUnavailable."""
        found = await self._requests.ask(request)
        if isinstance(found, Replay):
            return found
        events, newest = found
        if self._sift is not None and request.user_id != HOST:
            events = await self._sift(request.user_id, events)
        since = position_frame(*request.since)
        passed = self._passed() if events else None
        return replay_from_storage(events, since=since, newest=newest, passed=passed)

    async def restored_at(self) -> datetime | None:
        """When a backup was restored, if that was within `RESTORED_FOR`: since then a position may
        name another message. Raises StorageUnavailable."""
        return await self._restored.ask(None)

    async def _look(self, questions: Sequence[None]) -> list[datetime | None]:
        at = await self._settings.restored_at()
        recent = at is not None and self._clock() - at < RESTORED_FOR
        return [at if recent else None] * len(questions)

    async def _find(self, names: Sequence[Name]) -> list[Whereabouts]:
        now, restored_at = self._clock(), await self.restored_at()
        heads = await replay_queries.heads_of(self._database, {name for name, _ in names})
        # A deleted conversation has no head any more: the row of its deletion has the times.
        unknown = {name[0] for name in names if name[0] not in heads and not is_moment(name)}
        deleted = await deleted_conversations.find_many(self._database, unknown) if unknown else {}
        real = {(name, seq) for name, seq in names if name in heads and seq <= heads[name]["seq"]}
        # If the change stream has not delivered such a recent message yet, wait for it: a replay
        # from before would be followed by events that the client has seen.
        recent = [heads[name]["activityAt"] for name, _ in real]
        recent += [row["deletedAt"] for row in deleted.values()]
        if any(now - at < SKEW for at in recent):
            await self._catch_up()
        times = await replay_queries.times_of(self._database, real) if real else {}
        for name in names:
            head, row = heads.get(name[0]), deleted.get(name[0])
            if is_moment(name) and (moment := time_of_moment(name)):
                times[name] = moment
            elif row is not None and (before := time_of(row, name[1])):
                times[name] = before
            # The time of the newest message is known from the head, even if it was removed.
            elif name in real and name not in times and head and head["seq"] == name[1]:
                times[name] = head["activityAt"]
        last = {name: head["seq"] for name, head in heads.items()}
        last |= {name: row["lastSeq"] for name, row in deleted.items()}
        return [_whereabouts(name, times.get(name), last, now, restored_at) for name in names]

    async def _answer(self, requests: Sequence[ReplayRequest]) -> list[Found]:
        replays: dict[ReplayRequest, Found] = {}
        # Grouped by age: one client that was away for days must not make all others read days.
        by_age = sorted(requests, key=_age)
        for _, group in groupby(by_age, key=_age):
            replays |= await self._answer_group(list(group))
        return [replays[request] for request in requests]

    async def _answer_group(self, group: Sequence[ReplayRequest]) -> dict[ReplayRequest, Found]:
        """Replays of similar age, read together; if that is too much, in two halves."""
        ids = frozenset[str]().union(*(request.ids for request in group))
        since = min(request.horizon for request in group)
        # Heads first: the stream is subscribed, so the feed delivers newer events.
        heads = await replay_queries.heads_of(self._database, ids, since=since)
        # Each of these heads means at least one event: too many heads are too many events,
        # which is known before any message is read.
        if busy := [request for request in group if len(heads.keys() & request.ids) > self._limit]:
            others = [request for request in group if request not in busy]
            rest = await self._answer_group(others) if others else {}
            return rest | {request: _too_many(request, heads) for request in busy}
        try:
            missed = await self._read(ids, heads, since=since)
        except TooMuch:
            if len(group) == 1:
                return {request: _too_many(request, heads) for request in group}
            middle = len(group) // 2
            first = await self._answer_group(group[:middle])
            return first | await self._answer_group(group[middle:])
        answers: dict[ReplayRequest, Found] = {}
        for request in group:
            events = [event.stored for event in missed.missed_by(request, most=self._limit + 1)]
            size = sum(len(event.frame.chunk) for event in events)
            if len(events) > self._limit or size > self._max_bytes:
                answers[request] = _too_many(request, heads)
            else:
                answers[request] = events, _newest(request, heads)
            await asyncio.sleep(0)  # Thousands may be in a group: let other tasks run in between.
        return answers

    async def _read(
        self, ids: Iterable[str], heads: Iterable[str], *, since: datetime
    ) -> MissedEvents:
        """Read the writes since then in these conversations."""
        bounds = self._bounds
        # Changes before creations: a message whose change is found was created before the client's
        # moment, or is among the creations. The other order could replay it without its creation.
        # Also where its conversation was silent when the heads were read.
        changed = await replay_queries.list_changed(self._database, ids, since=since, bounds=bounds)
        spoken = {*heads, *(message["conversationId"] for message in changed)}
        created = await replay_queries.list_created(
            self._database, spoken, since=since, bounds=bounds
        )
        find = messages.find_whole_parents if self._sift else messages.find_parents
        parents = await find(self._database, [*changed, *created])
        concerned = {message["conversationId"] for message in (*changed, *created)}
        # Participants last: users who are still participants after all reads may see all of it.
        members = await replay_queries.members_of(self._database, concerned)
        missed = MissedEvents(members, self._database.optional_fields)
        known = {message["_id"] for message in changed}
        gone = [
            message
            for message in created
            if message.get("deletedAt") and message["_id"] not in known
        ]
        async with self._database.turns.sliced() as slices:
            for message in created:
                missed.add(message, parents, is_change=False)
                await slices.give_way()
            for message in (*changed, *gone):  # `gone` were deleted between the two reads.
                missed.add(message, parents, is_change=True)
                await slices.give_way()
        return missed


def _whereabouts(
    name: Name,
    at: datetime | None,
    last_seqs: Mapping[str, int],
    now: datetime,
    restored_at: datetime | None,
) -> Whereabouts:
    """Where a client was. After a restored backup only a later moment is known: a message may have
    the number of one that was lost, whose reader has not seen the new messages before it."""
    unknown = Whereabouts(reset="position_unknown")
    last_seq = last_seqs.get(name[0])
    if last_seq is not None and name[1] > last_seq:
        return unknown
    if at is None:
        if last_seq is not None:
            return Whereabouts(reset="position_removed")
        return unknown if restored_at else NOWHERE
    is_ahead = is_moment(name) and at > now + SKEW
    is_doubtful = restored_at and (at < restored_at or not is_moment(name))
    return unknown if is_ahead or is_doubtful else Whereabouts(at=at)


def _newest(request: ReplayRequest, heads: _Heads) -> Frame:
    """The position after the replay: the newest message from before the reads; without one, the
    start of the stream if the client came with a moment; else the client's own position."""
    if request.newest:
        return request.newest
    active = [heads[conversation_id] for conversation_id in heads.keys() & request.ids]
    if not active:
        return (
            moment_frame(request.began)
            if is_moment(request.since)
            else position_frame(*request.since)
        )
    newest = max(active, key=lambda head: (head["activityAt"], head["_id"]))
    return position_frame(newest["_id"], newest["seq"])


def _too_many(request: ReplayRequest, heads: _Heads) -> Replay:
    return replay_of_nothing(_newest(request, heads), reset=TOO_MANY)


def _age(request: ReplayRequest) -> int:
    return int(request.at.timestamp() // AN_AGE_SECONDS)
