"""The hub: which streams of this process are subscribed to which conversation."""

import asyncio
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence

from chat_aio import hooks
from chat_aio.errors import RateLimited
from chat_aio.live.ephemeral import EphemeralDelivery
from chat_aio.live.event import ConversationChanged, Event
from chat_aio.live.frames import Frame
from chat_aio.live.stream import Stream
from chat_aio.observability.observer import Ending
from chat_aio.store.hidden import NOTHING, Hidden

SLICE = 64


class Hub:
    """Streams by user and by conversation. Only the feed's events change memberships, in feed
    order; a document that was read separately may be older or newer than the last event."""

    def __init__(self, *, streams_per_user: int) -> None:
        self._limit = streams_per_user
        self._by_user: dict[str, set[Stream]] = defaultdict(set)
        self._by_conversation: dict[str, set[Stream]] = defaultdict(set)
        self._of_host: set[Stream] = set()
        self._hearing_all: set[Stream] = set()
        self._following: set[Stream] = set()
        self.deliveries = 0
        """Deliveries so far: events times streams."""

    def __len__(self) -> int:
        return sum(map(len, self._by_user.values())) + len(self._of_host)

    @property
    def is_used(self) -> bool:
        """Whether any stream is open in this process."""
        return bool(self._by_user or self._of_host)

    def register(self, stream: Stream) -> None:
        """From now on record on the stream which conversations its user joins and leaves. Raises
        RateLimited for more than `streams_per_user`."""
        if stream.is_hosts:
            self._of_host.add(stream)
            return
        if len(self._by_user.get(stream.user_id, ())) >= self._limit:
            raise RateLimited(f"at most {self._limit} streams at a time")
        self._by_user[stream.user_id].add(stream)
        if stream.follows:
            self._following.add(stream)

    def subscribe(
        self, stream: Stream, conversation_ids: Iterable[str], hidden: Hidden = NOTHING
    ) -> None:
        """Subscribe the stream to the conversations that were read for its user, with what is
        `hidden` in them. Where the feed has delivered a membership change since registration, the
        feed wins over what was read."""
        if read := {
            user_id: hidden[user_id] for user_id in hidden if user_id not in stream.membership
        }:
            stream.hidden = {**read, **stream.hidden}
        ids = {name for name in conversation_ids if stream.membership.get(name, True)}
        ids |= stream.let_into()
        stream.subscribed = True
        stream.membership.clear()
        if stream.hears_all:
            self._hearing_all.add(stream)
        for conversation_id in ids - stream.denied:
            self._enter(stream, conversation_id)

    def remove(self, stream: Stream) -> None:
        """Remove a stream that has ended."""
        self._of_host.discard(stream)
        self._hearing_all.discard(stream)
        self._following.discard(stream)
        remaining = self._by_user[stream.user_id]
        remaining.discard(stream)
        if not remaining:
            del self._by_user[stream.user_id]
        for conversation_id in list(stream.conversation_ids):
            self._leave(stream, conversation_id)

    def has_listeners(self, conversation_id: str) -> bool:
        """Whether a stream of this process is subscribed to the conversation."""
        return bool(self._hearing_all) or conversation_id in self._by_conversation

    async def publish(self, event: Event) -> None:
        """Subscribe added users, deliver the event, then unsubscribe removed users: both the added
        and the removed see the event. Other tasks, the sender's response among them, run between
        slices of streams."""
        if isinstance(event, ConversationChanged):
            for user_id in event.added:
                upto = event.hidden.get(user_id) if event.hidden else None
                for stream in self._by_user.get(user_id, ()):
                    # Also if nothing is hidden: an earlier stay may have had hidden messages.
                    if upto or event.conversation_id in stream.hidden:
                        kept = {**stream.hidden, event.conversation_id: upto or 0}
                        stream.hidden = {name: seq for name, seq in kept.items() if seq} or NOTHING
                    if stream.subscribed:
                        self._enter(stream, event.conversation_id)
                    else:  # Its conversations are still being read; `subscribe` applies this later.
                        stream.membership[event.conversation_id] = True
        if not isinstance(event, ConversationChanged) or event.delivered:
            subscribed = self._by_conversation.get(event.conversation_id, ())
            streams = (*subscribed, *self._hearing_all)
            self.deliveries += len(streams)
            audience = event.audience
            for start in range(0, len(streams), SLICE):
                if start:
                    await asyncio.sleep(0)
                for stream in streams[start : start + SLICE]:
                    if audience is None or stream.gets(audience, event.conversation_id):
                        stream.deliver(event)
        if isinstance(event, ConversationChanged):
            self._end_following(event)
            for user_id in event.removed:
                for stream in self._by_user.get(user_id, ()):
                    if not stream.subscribed:
                        stream.membership[event.conversation_id] = False
                    stream.denied -= {event.conversation_id}
                    self._leave(stream, event.conversation_id)
            if event.is_deletion:
                for stream in list(self._by_conversation.get(event.conversation_id, ())):
                    self._leave(stream, event.conversation_id)

    def audience(self, ephemeral: EphemeralDelivery) -> set[str]:
        """The users whose streams an ephemeral event addresses."""
        return {stream.user_id for stream in self._addressed(ephemeral)}

    async def send(
        self, ephemeral: EphemeralDelivery, *, only: Collection[str] | None = None
    ) -> None:
        """Deliver an ephemeral event once to each stream that it addresses; with `only`, to the
        streams of these users among them."""
        streams = self._addressed(ephemeral)
        if only is not None:
            streams = [stream for stream in streams if stream.user_id in only]
        if not streams:
            return
        of_one = ephemeral.conversation_ids[0] if len(ephemeral.conversation_ids) == 1 else ""
        event = Event(index=0, conversation_id=of_one, encode=ephemeral.frame)
        self.deliveries += len(streams)
        await self._each(lambda stream: stream.deliver(event), streams)

    def _addressed(self, ephemeral: EphemeralDelivery) -> list[Stream]:
        if ephemeral.for_moderators:
            return [stream for stream in self._everyone() if stream.moderates and stream.subscribed]
        theirs = {s for user_id in ephemeral.user_ids for s in self._by_user.get(user_id, ())}
        ids = ephemeral.conversation_ids
        inside = {
            s for conversation_id in ids for s in self._by_conversation.get(conversation_id, ())
        }
        found = theirs & inside if ephemeral.user_ids and ids else theirs | inside
        # Ephemeral events are for those inside: streams of the host and of followers get none.
        return [
            stream
            for stream in found
            if stream.user_id != ephemeral.but and stream.subscribed and stream.is_personal
        ]

    async def beat(self) -> None:
        """Send a heartbeat to every stream."""
        await self._each(Stream.beat, self._everyone())

    async def sweep(self) -> None:
        """End the streams whose client has left."""
        await self._each(Stream.end_if_gone, self._everyone())

    def user_ids(self) -> list[str]:
        """The users who have a stream open."""
        return list(self._by_user)

    def subscribed_of(self, user_ids: Iterable[str]) -> list[Stream]:
        """The streams of these users that are already subscribed to their conversations."""
        of_users = (self._by_user.get(user_id, ()) for user_id in user_ids)
        return [stream for streams in of_users for stream in streams if stream.subscribed]

    def deny(self, stream: Stream, conversation_id: str) -> None:
        """Unsubscribe a stream from a conversation that its user may not read."""
        stream.denied |= {conversation_id}
        self._leave(stream, conversation_id)

    def readers_of(self, conversation_id: str) -> set[str]:
        """The users who hear a conversation on a stream of all their conversations."""
        streams = self._by_conversation.get(conversation_id, ())
        return {s.user_id for s in streams if s.only is None and not s.is_hosts}

    def hears_all(self, user_id: str) -> bool:
        """Whether a user hears all their conversations on a stream."""
        return any(stream.only is None for stream in self.subscribed_of([user_id]))

    def send_to(self, user_id: str, frame: Frame) -> None:
        """Deliver an event about all conversations of a user to their streams."""
        event = Event(index=0, conversation_id="", encode=lambda: frame)
        for stream in self.subscribed_of([user_id]):
            if stream.only is None:
                self.deliveries += 1
                stream.deliver(event)

    def hide(self, user_id: str, conversation_id: str, upto: int) -> None:
        """Hide the messages up to a seq from the streams of a user."""
        for stream in self._by_user.get(user_id, ()):
            # The later of two changes may be delivered first.
            most = max(upto, stream.hidden.get(conversation_id, 0))
            stream.hidden = {**stream.hidden, conversation_id: most}

    def end_user(self, user_id: str, ending: Ending) -> bool:
        """End all streams of a user; returns whether there was one."""
        # A list, not a generator: `any` would stop at the first stream.
        ended = [stream.end(ending) for stream in self._by_user.get(user_id, ())]
        return any(ended)

    async def end_logged_out(self) -> None:
        """End the streams whose login is over; only streams with `still_logged_in` are checked."""

        async def ask(stream: Stream) -> bool:
            return stream.still_logged_in is not None and not await stream.still_logged_in()

        asked = [
            candidate for candidate in self._everyone() if candidate.still_logged_in is not None
        ]
        for stream in await hooks.filter_async(ask, asked):
            stream.end("logged_out")

    def end_all(self, ending: Ending = "feed_lost") -> None:
        """End every stream; the clients reconnect and resume."""
        for stream in self._everyone():
            stream.end(ending)

    def queues(self) -> tuple[int, int]:
        """How many bytes are unsent, and how many events are held back."""
        everyone = self._everyone()
        return sum(stream.unsent for stream in everyone), sum(stream.held for stream in everyone)

    def _everyone(self) -> list[Stream]:
        of_users = [stream for streams in self._by_user.values() for stream in streams]
        return [*of_users, *self._of_host]

    async def _each(self, act: Callable[[Stream], None], streams: Sequence[Stream]) -> None:
        """Call `act` for each stream; other tasks run between slices."""
        for start in range(0, len(streams), SLICE):
            for stream in streams[start : start + SLICE]:
                act(stream)
            if start + SLICE < len(streams):
                await asyncio.sleep(0)

    def _end_following(self, event: ConversationChanged) -> None:
        """End the streams that follow the conversation and have another right to read it now, or
        none; also while they open."""
        concerned = {*event.added, *event.removed}
        for stream in self._following:
            is_concerned = event.is_deletion or stream.user_id in concerned
            if is_concerned and event.conversation_id in (stream.only or ()):
                stream.end("unreadable")

    def _enter(self, stream: Stream, conversation_id: str) -> None:
        if stream.only is not None and conversation_id not in stream.only:
            return
        # Every stream has read its own ids: thousands of copies of the same few strings.
        conversation_id = sys.intern(conversation_id)
        stream.conversation_ids.add(conversation_id)
        self._by_conversation[conversation_id].add(stream)

    def _leave(self, stream: Stream, conversation_id: str) -> None:
        stream.conversation_ids.discard(conversation_id)
        streams = self._by_conversation.get(conversation_id)
        if streams is not None:
            streams.discard(stream)
            if not streams:
                del self._by_conversation[conversation_id]
