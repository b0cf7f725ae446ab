"""Replays from the replay buffer: the missed events, with messages in their present state."""

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
from chat_aio.live.stream import HOST
from chat_aio.schema.models import OptionalFields
from chat_aio.store import messages
from chat_aio.store.coalescer import Coalescer
from chat_aio.store.database import Database
from chat_aio.store.documents import MessageDocument
from chat_aio.store.hidden import Hidden
from chat_aio.store.mapping import Parents


class BufferReplays:
    """Replays of what the replay buffer holds. The buffer gives the events and their order; their
    contents are read from the database, so that later reactions, thread replies and the deletion of
    a quoted message show. Clients that reconnect at the same time share one read.
    """

    def __init__(
        self,
        database: Database,
        buffer: ReplayBuffer,
        *,
        passed: Passed,
        limit: int,
        max_bytes: int,
        sift: Sift | None,
    ) -> None:
        self._database = database
        self._buffer = buffer
        self._passed = passed
        self._limit = limit
        self._max_bytes = max_bytes
        self._sift = sift
        self._states = Coalescer[frozenset[str], _States](self._fetch, most=MOST_TOGETHER)

    async def replay(
        self,
        user_id: str,
        ids: Iterable[str],
        seen: BufferedEvent,
        newest: Frame | None,
        hidden: Hidden,
    ) -> Replay:
        """The events of these conversations after `seen`, without those hidden from the user.
        Raises StorageUnavailable."""
        # List before the first await: the stream is subscribed and holds back later events, so
        # that none is missing between them and this list.
        missed = self._buffer.list_after(seen, ids)
        since = position_frame(*seen.name)
        if not missed:
            return replay_from_feed([], since=since, newest=newest)
        if len(missed) > self._limit:
            return replay_of_nothing(newest or since, reset=TOO_MANY)
        states = await self._states.ask(frozenset(entry.message_id for entry in missed))
        changed = {entry.name for entry in missed if not entry.created}
        events = [(entry, states.event(entry, changed, hidden)) for entry in missed]
        if sum(len(event.frame.chunk) for _, event in events if event) > self._max_bytes:
            return replay_of_nothing(newest or since, reset=TOO_MANY)
        if self._sift is not None and user_id != HOST:
            allowed = await self._sift(user_id, [event for _, event in events if event])
            # The events that were let through, not ours: the filter may have emptied a quote.
            readable = {(event.name, event.is_change): event for event in allowed}
            events = [
                (kept, event and readable.get((event.name, event.is_change)))
                for kept, event in events
            ]
        # The states just read may be ahead of the feed: `passed` marks when it has caught up.
        passed = self._passed() if any(event for _, event in events) else None
        return replay_from_feed(events, since=since, newest=newest, passed=passed)

    async def _fetch(self, questions: Sequence[frozenset[str]]) -> list["_States"]:
        """Read the messages of several questions together, in groups of bounded size."""
        find_parents = messages.find_whole_parents if self._sift else messages.find_parents
        answers: list[_States] = []
        together: set[str] = set()
        for place, ids in enumerate(questions):
            together |= ids
            is_last = place == len(questions) - 1
            if is_last or len(together | questions[place + 1]) > WHOLE_REPLAYS * self._limit:
                documents = await messages.find_many(self._database, list(together))
                parents = await find_parents(self._database, documents)
                states = _States(documents, parents, self._database.optional_fields)
                answers += [states] * (place + 1 - len(answers))
                together = set()
        return answers


class _States:
    """The present state of messages. Each event is encoded once for all who missed it."""

    def __init__(
        self,
        documents: Iterable[MessageDocument],
        parents: Parents,
        optional: OptionalFields,
    ) -> None:
        self._documents = {document["_id"]: document for document in documents}
        self._parents = parents
        self._optional = optional
        self._made: dict[tuple[Name, bool], ReplayedEvent | None] = {}

    def event(
        self, kept: BufferedEvent, changed: Collection[Name], hidden: Hidden
    ) -> ReplayedEvent | None:
        """A buffered event in the message's present state; None if the message is gone or hidden.

        If the message is deleted by now, the deletion takes the place of its creation, unless the
        message is in `changed`: then the deletion comes in the place of that change.
        """
        document = self._documents.get(kept.message_id)
        if document is None:
            return None
        deleted = bool(document.get("deletedAt"))
        is_change = not kept.created or (deleted and kept.name not in changed)
        key = kept.name, is_change
        if key not in self._made:
            self._made[key] = replayed_event_from(
                document, self._parents, self._optional, is_change=is_change
            )
        made = self._made[key]
        return made and made.behind(hidden.get(kept.name[0], 0))
