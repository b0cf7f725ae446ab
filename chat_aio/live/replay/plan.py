"""Plans the replay of a reconnecting client: finds its position, and where to replay from."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from chat_aio.actions.context import Context
from chat_aio.live.event import Name
from chat_aio.live.feed import Feed
from chat_aio.live.frames import Frame, position_frame
from chat_aio.live.replay.buffer import ReplayBuffer
from chat_aio.live.replay.from_buffer import BufferReplays
from chat_aio.live.replay.from_storage import Sift, StorageReplays
from chat_aio.live.replay.missed_events import ReplayRequest
from chat_aio.live.replay.positions import NOWHERE, Whereabouts, moment_frame, position_from
from chat_aio.live.replay.recent_changes import EVERYTHING, RecentChanges
from chat_aio.live.replay.replay import Replay, replay_of_nothing, with_changes
from chat_aio.live.stream import Stream
from chat_aio.store import conversations


@dataclass(frozen=True, slots=True)
class ReplayPoint:
    """A position that a client has named; `where` is None while the replay buffer holds it.
    `resumes` is whether it has named any, even a malformed one, which has no `name`."""

    name: Name | None
    where: Whereabouts | None
    resumes: bool = True


class ReplayPlanner:
    """Finds positions and builds replays: from the replay buffer if it holds the position, else
    from storage. A replay from the buffer ends exactly where the stream's held-back events begin,
    one from storage overlaps with them."""

    def __init__(
        self, context: Context, buffer: ReplayBuffer, feed: Feed, sift: Sift | None
    ) -> None:
        options = context.options
        self._database = context.database
        self._buffer = buffer
        self._past = StorageReplays(
            context.database,
            context.settings,
            clock=context.clock,
            catch_up=partial(feed.catch_up, seconds=options.storage_timeout_seconds),
            passed=feed.passed,
            limit=options.replay_limit,
            max_bytes=options.replay_bytes,
            sift=sift,
        )
        self._recent = BufferReplays(
            context.database,
            buffer,
            passed=feed.passed,
            limit=options.replay_limit,
            max_bytes=options.replay_bytes,
            sift=sift,
        )

        # Without the option no times of changes are stored, and nothing is read.
        self._changes = (
            RecentChanges(context.database, clock=context.clock) if options.extra_events else None
        )

    async def find(self, last_event_id: str | None) -> ReplayPoint:
        """Find the position that a client has named. Raises StorageUnavailable."""
        name = position_from(last_event_id)
        if name is None:
            return ReplayPoint(None, NOWHERE, resumes=bool(last_event_id))
        # After a restore the same id may name another message, also if the buffer holds one.
        if self._buffer.find_created(*name) and not await self._past.restored_at():
            return ReplayPoint(name, None)
        return ReplayPoint(name, await self._past.find(name))

    async def replay(self, stream: Stream, wanted: ReplayPoint, began: datetime) -> Replay:
        """What a stream has missed in the conversations that it is subscribed to; `began` is when
        the stream began. Raises StorageUnavailable."""
        at, replay = await self._replay(stream, wanted, began)
        if self._changes is None or not wanted.resumes or stream.is_hosts or replay.reset:
            return replay
        # The stream is subscribed: what changes after this read is delivered live.
        found = EVERYTHING if at is None else await self._changes.since(stream, at)
        since = position_frame(*wanted.name) if wanted.name else moment_frame(began)
        return with_changes(replay, found.frame, since, names_any=found.names_any)

    async def _replay(
        self, stream: Stream, wanted: ReplayPoint, began: datetime
    ) -> tuple[datetime | None, Replay]:
        """The time of the position, if it is known, and the replay of messages."""
        everything = stream.hears_all
        heard = self._buffer.conversation_ids if everything else stream.conversation_ids
        ids = frozenset(heard)
        created = self._buffer.newest_created(ids)
        newest = position_frame(*created.name) if created else None
        if wanted.name is None:
            return None, replay_of_nothing(newest or await self._end(ids, began))
        is_lost = wanted.where is not None and wanted.where.reset is not None
        if not is_lost and (seen := self._buffer.find_created(*wanted.name)):
            recent = await self._recent.replay(stream.user_id, ids, seen, newest, stream.hidden)
            return seen.at, recent
        # The replay buffer may have dropped the position since `find`.
        where = wanted.where or await self._past.find(wanted.name)
        if where.at is None:
            end = newest or await self._end(ids, began)
            return None, replay_of_nothing(end, reset=where.reset)
        if everything:
            ids = await self._past.conversations_since(where.at)
        request = ReplayRequest(
            user_id=stream.user_id,
            ids=ids,
            since=wanted.name,
            at=where.at,
            began=began,
            newest=newest,
        )
        return where.at, await self._past.replay(request)

    async def _end(self, ids: Iterable[str], began: datetime) -> Frame:
        """The newest position. There always is one: without any message it is a moment."""
        heads = await conversations.list_heads(self._database, list(ids), limit=1, spoken=True)
        return position_frame(heads[0]["_id"], heads[0]["seq"]) if heads else moment_frame(began)
