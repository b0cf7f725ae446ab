"""The recent past: what this process has been told by the feed, shown as it is now."""

from collections.abc import Collection, Iterable, Sequence

from chat_aio.live.event import Name
from chat_aio.live.frames import Frame, position_frame
from chat_aio.live.replay.buffer import BufferedEvent, ReplayBuffer
from chat_aio.live.replay.from_storage import MOST_TOGETHER, TOO_MANY, WHOLE_REPLAYS, Passed, Sift
from chat_aio.live.replay.replay import (
    Replay,
    ReplayedEvent,
    replay_from_feed,
    replay_of_nothing,
    replayed_event_from,
)
from chat_aio.store import messages
from chat_aio.store.coalescer import Coalescer
from chat_aio.store.database import Database
from chat_aio.store.documents import MessageDocument
from chat_aio.store.mapping import Parents


class BufferReplays:
    """Replays of what the ring holds. Which events, and their order, is the ring's; their contents
    are read, together for all who come back in a round, so that a reaction, a reply in a thread or
    the deletion of what is quoted shows in them.
    """

    def __init__(
        self,
        database: Database,
        ring: ReplayBuffer,
        *,
        passed: Passed,
        limit: int,
        max_bytes: int,
        sift: Sift | None,
    ) -> None:
        self._database = database
        self._ring = ring
        self._passed = passed
        self._limit = limit
        self._max_bytes = max_bytes
        self._sift = sift
        self._states = Coalescer[frozenset[str], _States](self._fetch, most=MOST_TOGETHER)

    async def replay(
        self, user_id: str, ids: Iterable[str], seen: BufferedEvent, newest: Frame | None
    ) -> Replay:
        """What these conversations were told behind `seen`. It is listed before anything is waited
        for, so that it joins on to what the stream holds back. Raises StorageUnavailable."""
        missed = self._ring.list_after(seen.index, ids)
        since = position_frame(*seen.name)
        if not missed:
            return replay_from_feed([], since=since, newest=newest)
        if len(missed) > self._limit:
            return replay_of_nothing(newest or since, reset=TOO_MANY)
        states = await self._states.ask(frozenset(each.message_id for each in missed))
        changed = {each.name for each in missed if not each.created}
        told = [(each, states.told(each, changed)) for each in missed]
        if sum(len(each.frame.chunk) for _, each in told if each) > self._max_bytes:
            return replay_of_nothing(newest or since, reset=TOO_MANY)
        if self._sift is not None:
            allowed = await self._sift(user_id, [each for _, each in told if each])
            readable = {(each.name, each.is_change): each for each in allowed}
            told = [
                (kept, each and readable.get((each.name, each.is_change))) for kept, each in told
            ]
        passed = self._passed() if any(each for _, each in told) else None
        return replay_from_feed(told, since=since, newest=newest, passed=passed)

    async def _fetch(self, questions: Sequence[frozenset[str]]) -> list["_States"]:
        """The messages that are asked for, of several questions in one go."""
        answers: list[_States] = []
        together: set[str] = set()
        for place, ids in enumerate(questions):
            together |= ids
            is_last = place == len(questions) - 1
            if is_last or len(together | questions[place + 1]) > WHOLE_REPLAYS * self._limit:
                states = await self._read(together)
                answers += [states] * (place + 1 - len(answers))
                together = set()
        return answers

    async def _read(self, ids: Iterable[str]) -> "_States":
        documents = await messages.find_many(self._database, list(ids))
        find = messages.find_whole_parents if self._sift else messages.find_parents
        return _States(documents, await find(self._database, documents))


class _States:
    """Messages as they are now; each event is made once, for all who missed it."""

    def __init__(self, documents: Iterable[MessageDocument], parents: Parents) -> None:
        self._documents = {each["_id"]: each for each in documents}
        self._parents = parents
        self._made: dict[tuple[Name, bool], ReplayedEvent | None] = {}

    def told(self, kept: BufferedEvent, changed: Collection[Name]) -> ReplayedEvent | None:
        """An event as it is told now; None where there is nothing to tell any more. What is deleted
        by now is told so in the place of its creation, unless it is among those that `changed`."""
        document = self._documents.get(kept.message_id)
        if document is None:
            return None
        deleted = bool(document.get("deletedAt"))
        is_change = not kept.created or (deleted and kept.name not in changed)
        key = kept.name, is_change
        if key not in self._made:
            self._made[key] = replayed_event_from(document, self._parents, is_change=is_change)
        return self._made[key]
