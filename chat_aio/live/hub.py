"""The hub: which streams of this process hear of which conversation."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence

from chat_aio import hooks
from chat_aio.errors import RateLimited
from chat_aio.live.ephemeral import EphemeralDelivery
from chat_aio.live.event import Event
from chat_aio.live.stream import Stream
from chat_aio.observability.observer import Ending

SLICE = 64


class Hub:
    """Streams by user and by conversation. Membership moves with the feed's events, in their
    order, never with a document that was read beside it."""

    def __init__(self, *, streams_per_user: int) -> None:
        self._limit = streams_per_user
        self._by_user: dict[str, set[Stream]] = defaultdict(set)
        self._by_conversation: dict[str, set[Stream]] = defaultdict(set)
        self.deliveries = 0
        """How many events streams were told so far, each times its streams."""

    def __len__(self) -> int:
        return sum(map(len, self._by_user.values()))

    def register(self, stream: Stream) -> None:
        """From now on the stream learns who joins and leaves; RateLimited for one too many."""
        if len(self._by_user.get(stream.user_id, ())) >= self._limit:
            raise RateLimited(f"at most {self._limit} streams at a time")
        self._by_user[stream.user_id].add(stream)

    def subscribe(self, stream: Stream, conversation_ids: Iterable[str]) -> None:
        """Let the stream hear of the conversations that were read for its user; what the feed
        has told since it was registered goes before what was read."""
        ids = {each for each in conversation_ids if stream.membership.get(each, True)}
        ids |= stream.let_into()
        stream.subscribed = True
        stream.membership.clear()
        for conversation_id in ids - stream.denied:
            self._enter(stream, conversation_id)

    def remove(self, stream: Stream) -> None:
        """Forget a stream that is over."""
        mates = self._by_user[stream.user_id]
        mates.discard(stream)
        if not mates:
            del self._by_user[stream.user_id]
        for conversation_id in list(stream.conversation_ids):
            self._leave(stream, conversation_id)

    async def publish(self, event: Event) -> None:
        """Let in who was added, tell everyone, let out who was removed. Between slices of streams
        others get their turn, the sender's answer among them."""
        self._admit(event)
        if event.delivered:
            streams = tuple(self._by_conversation.get(event.conversation_id, ()))
            self.deliveries += len(streams)
            for start in range(0, len(streams), SLICE):
                if start:
                    await asyncio.sleep(0)
                for stream in streams[start : start + SLICE]:
                    if event.audience is None or stream.user_id in event.audience:
                        stream.deliver(event)
        self._dismiss(event)

    def audience(self, ephemeral: EphemeralDelivery) -> set[str]:
        """The users whose streams are meant."""
        return {each.user_id for each in self._meant(ephemeral)}

    async def send(
        self, ephemeral: EphemeralDelivery, *, only: Collection[str] | None = None
    ) -> None:
        """Tell the streams that are meant, each once, or those of these users `only`."""
        streams = self._meant(ephemeral)
        if only is not None:
            streams = [each for each in streams if each.user_id in only]
        if not streams:
            return
        of_one = ephemeral.conversation_ids[0] if len(ephemeral.conversation_ids) == 1 else ""
        event = Event(index=0, conversation_id=of_one, frame=ephemeral.frame())
        self.deliveries += len(streams)
        await self._each(lambda stream: stream.deliver(event), streams)

    def _meant(self, ephemeral: EphemeralDelivery) -> list[Stream]:
        theirs = {s for each in ephemeral.user_ids for s in self._by_user.get(each, ())}
        ids = ephemeral.conversation_ids
        inside = {s for each in ids for s in self._by_conversation.get(each, ())}
        meant = theirs & inside if ephemeral.user_ids and ids else theirs | inside
        return [each for each in meant if each.user_id != ephemeral.but and each.subscribed]

    async def beat(self) -> None:
        """Keep every stream alive."""
        await self._each(Stream.beat, self._everyone())

    async def sweep(self) -> None:
        """End the streams whose client has left."""
        await self._each(Stream.end_if_gone, self._everyone())

    def user_ids(self) -> list[str]:
        """Who has a stream open."""
        return list(self._by_user)

    def subscribed_of(self, user_ids: Iterable[str]) -> list[Stream]:
        """The streams of users that hear of their conversations already."""
        of_users = (self._by_user.get(each, ()) for each in user_ids)
        return [stream for streams in of_users for stream in streams if stream.subscribed]

    def deny(self, stream: Stream, conversation_id: str) -> None:
        """Let a stream hear no more of a conversation that its user may not read."""
        stream.denied.add(conversation_id)
        self._leave(stream, conversation_id)

    def end_user(self, user_id: str, ending: Ending) -> bool:
        """Finish all streams of a user; whether there was one."""
        ended = [each.end(ending) for each in self._by_user.get(user_id, ())]
        return any(ended)

    async def end_logged_out(self) -> None:
        """Finish the streams whose login is over, where that is asked about."""

        async def ask(stream: Stream) -> bool:
            return stream.still_logged_in is not None and not await stream.still_logged_in()

        asked = [each for each in self._everyone() if each.still_logged_in is not None]
        for stream in await hooks.those(ask, asked):
            stream.end("logged_out")

    def end_all(self, ending: Ending = "feed_lost") -> None:
        """Finish every stream: their clients come back and resume."""
        for streams in self._by_user.values():
            for stream in streams:
                stream.end(ending)

    def queues(self) -> tuple[int, int]:
        """How many bytes are not sent, and how many events are held back."""
        everyone = self._everyone()
        return sum(each.unsent for each in everyone), sum(each.held for each in everyone)

    def _everyone(self) -> list[Stream]:
        return [stream for streams in self._by_user.values() for stream in streams]

    async def _each(self, act: Callable[[Stream], None], streams: Sequence[Stream]) -> None:
        for start in range(0, len(streams), SLICE):
            for stream in streams[start : start + SLICE]:
                act(stream)
            if start + SLICE < len(streams):
                await asyncio.sleep(0)

    def _admit(self, event: Event) -> None:
        for user_id in event.added:
            for stream in self._by_user.get(user_id, ()):
                if stream.subscribed:
                    self._enter(stream, event.conversation_id)
                else:
                    stream.membership[event.conversation_id] = True

    def _dismiss(self, event: Event) -> None:
        for user_id in event.removed:
            for stream in self._by_user.get(user_id, ()):
                if not stream.subscribed:
                    stream.membership[event.conversation_id] = False
                stream.denied.discard(event.conversation_id)
                self._leave(stream, event.conversation_id)

    def _enter(self, stream: Stream, conversation_id: str) -> None:
        stream.conversation_ids.add(conversation_id)
        self._by_conversation[conversation_id].add(stream)

    def _leave(self, stream: Stream, conversation_id: str) -> None:
        stream.conversation_ids.discard(conversation_id)
        streams = self._by_conversation.get(conversation_id)
        if streams is not None:
            streams.discard(stream)
            if not streams:
                del self._by_conversation[conversation_id]
