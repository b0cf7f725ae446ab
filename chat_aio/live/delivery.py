"""Delivery: turns changes of the database into events on the streams, and invalidates caches."""

import asyncio
import logging
from collections.abc import Iterable, Sequence

from chat_aio.actions.bans import are_enforced
from chat_aio.actions.context import Context
from chat_aio.actions.unread_tallies import NewMessage
from chat_aio.live.ephemeral_filter import EphemeralFilter
from chat_aio.live.event import (
    ConversationChanged,
    DurableEvent,
    Event,
    MessageChanged,
    MessageCreated,
    MessageEvent,
)
from chat_aio.live.hub import Hub
from chat_aio.live.read_filter import ReadFilter
from chat_aio.live.replay.buffer import ReplayBuffer
from chat_aio.live.translator import Translator
from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import FeedDelivery, Observer
from chat_aio.plugin_types.base import Plugin
from chat_aio.store import blocks
from chat_aio.store.change_stream import StreamChange, lag_of
from chat_aio.store.direct_conversations import direct_conversation_id
from chat_aio.store.hidden import seq_of
from chat_aio.store.signals import (
    END,
    OWN,
    PROFILES,
    is_deletion,
    plugins_notified_by,
    users_in,
)

log = logging.getLogger(__name__)

BREATH_BYTES = 64 * 1024


class Delivery:
    """Passes changes from the feed to the hub. While the feed is live, caches are exact: a change
    invalidates cache entries before its events are delivered."""

    def __init__(
        self, context: Context, hub: Hub, buffer: ReplayBuffer, read_filter: ReadFilter
    ) -> None:
        self._context = context
        self._hub = hub
        self._buffer = buffer
        self._read_filter = read_filter
        self._ephemeral = EphemeralFilter(context, hub)
        self._translator = Translator(
            context.database,
            clock=context.clock,
            extra_events=context.options.extra_events,
            keeps_messages=context.permissions.asks_for_messages,
            notes_mentions=context.options.sends_unread,
        )
        self._delivered_bytes = 0

    async def deliver(self, changes: Sequence[StreamChange], *, is_live: bool) -> None:
        """Deliver a batch of changes and notify the observers."""
        before, tallies = self._hub.deliveries, self._context.unread_tallies
        # Invalidate first: a client that reacts to an event must not be answered from an old
        # snapshot.
        await self._invalidate(changes)
        for event in await self._translator.events_from(changes):
            if isinstance(event, Event):
                await self._publish(event)
                # The event may change unread counts.
                if isinstance(event, MessageCreated):
                    if self._hub.has_listeners(event.conversation_id):
                        message = NewMessage(event.seq, event.sender_id, event.mentioned)
                        tallies.note_message(event.conversation_id, message)
                elif isinstance(event, MessageChanged):
                    tallies.note_edit(event.conversation_id, event.mentioned)
                elif isinstance(event, ConversationChanged):
                    self._outdate((*event.added, *event.removed), event.conversation_id)
                continue
            if event.name == "read.updated":
                self._outdate(event.user_ids, *event.conversation_ids)
            # Those that the filter takes are sent later, after blocks have been looked up.
            if not self._ephemeral.take(event):
                await self._hub.send(event)
        if observers := self._context.observers:
            delivered = FeedDelivery(
                changes=len(changes),
                deliveries=self._hub.deliveries - before,
                lag=lag_of(changes, now=self._context.clock()) if is_live else None,
            )
            notify(observers, Observer.feed_delivered, delivered)

    def set_feed_live(self, is_live: bool) -> None:
        """Allow caching only while the feed is live: without it nothing invalidates a cache."""
        self._context.snapshots.set_feed_live(is_live)
        self._ephemeral.set_feed_live(is_live)
        self._context.bans.set_feed_live(is_live)

    async def end_banned(self) -> None:
        """End the streams of banned users (specification 11.5)."""
        if are_enforced(self._context):
            for user_id in await self._context.bans.banned_among(self._hub.user_ids()):
                if self._hub.end_user(user_id, "banned"):
                    notify(self._context.observers, Observer.ban_enforced, "stream")

    async def close(self) -> None:
        await self._ephemeral.close()
        self.set_feed_live(False)

    async def _invalidate(self, changes: Sequence[StreamChange]) -> None:
        """Invalidate cached parts of changed documents; end the streams of newly banned users."""
        context = self._context
        may_ban = False
        for change in changes:
            try:
                if change.collection == "conversations":
                    context.snapshots.forget(change.document_id)
                elif change.collection == "blocks":
                    if pair := blocks.pair_of(change.document_id):
                        direct_id = await direct_conversation_id(context.settings, *pair)
                        context.snapshots.forget(direct_id)
                        self._ephemeral.forget(pair)
                elif change.collection == "bans":
                    may_ban |= context.bans.learn(change)
                elif change.collection == "signals":
                    for user_id in users_in(change.document, END):
                        self._hub.end_user(user_id, "ended")
                    context.profiles.forget(users_in(change.document, PROFILES))
                    if note := plugins_notified_by(change.document):
                        notify(context.plugins, Plugin.process_notified, *note)
                    if is_deletion(change.document):
                        context.snapshots.forget(change.document["conversationId"])
                    for user_id in users_in(change.document, OWN):
                        conversation_id = change.document["conversationId"]
                        self._outdate([user_id], conversation_id)
                        if upto := change.document.get("hiddenUpToSeq"):
                            context.snapshots.forget(conversation_id)
                            self._hub.hide(user_id, conversation_id, seq_of(upto))
            # Another program may have written the document in a wrong shape.
            except (TypeError, KeyError, AttributeError) as error:
                log.error("document %r has a wrong shape: %r", change.document_id, error)
        # Once for the batch: it is a query about all users with a stream.
        if may_ban:
            await self.end_banned()

    def _outdate(self, user_ids: Iterable[str], *conversation_ids: str) -> None:
        for user_id in user_ids:
            for conversation_id in conversation_ids:
                self._context.unread_tallies.outdate(user_id, conversation_id)

    async def _publish(self, event: Event) -> None:
        if isinstance(event, DurableEvent):
            self._buffer.append(event)
        # Most processes have no listener for most messages: those are not even encoded.
        if isinstance(event, MessageCreated) and not self._hub.has_listeners(event.conversation_id):
            return
        try:
            frame = event.frame
        # One bad row of another program must not stop the feed for everybody.
        except Exception as error:
            subject = f"conversation {event.conversation_id!r}"
            if isinstance(event, MessageEvent):
                subject = f"message {event.seq} of {subject}"
            log.error("no event can be made of %s: %r", subject, error)
            return
        # A stream that this event lets in gets nothing until the host's `can_read` has answered.
        added = event.added if isinstance(event, ConversationChanged) else ()
        held = self._read_filter.hold(added)
        await self._hub.publish(event)
        self._read_filter.release(held, event.conversation_id)
        self._delivered_bytes += len(frame.chunk)
        # A large batch must not keep the loop: let sockets send and other tasks run in between.
        if self._delivered_bytes > BREATH_BYTES:
            self._delivered_bytes = 0
            await asyncio.sleep(0)
