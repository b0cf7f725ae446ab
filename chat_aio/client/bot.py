"""A bot: a user that is a program. It handles each message of others and resumes after restarts."""

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from chat_aio.client.client import ChatClient
from chat_aio.client.connection import CUT
from chat_aio.client.positions import Positions
from chat_aio.client.repeating import until_answered
from chat_aio.client.unread import unread_messages
from chat_aio.drafting import DraftWriter
from chat_aio.errors import ChatError, MessageConflict
from chat_aio.schema.events import ChangedEvent, MessageEvent, ResetEvent
from chat_aio.schema.models import Message, Role

log = logging.getLogger(__name__)

REMEMBERED_MESSAGES = 10_000


class BotMessage:
    """A message as one handler gets it: `message` is all of it, `arguments` what follows the
    command."""

    def __init__(self, client: ChatClient, message: Message, handler: str) -> None:
        self.client = client
        self.message = message
        self._handler = handler
        self._replies = 0

    @property
    def id(self) -> str:
        return self.message.id

    @property
    def conversation_id(self) -> str:
        return self.message.conversation_id

    @property
    def sender_id(self) -> str:
        return self.message.sender_id

    @property
    def body(self) -> str:
        return self.message.body

    @property
    def arguments(self) -> str:
        """The body without its first word."""
        return self.body.partition(_first_word(self.body))[2].strip()

    async def reply(
        self,
        body: str,
        *,
        role: Role = "assistant",
        mentions: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> Message | None:
        """Answer in the thread of the message if it is in one, else as a reply that quotes it.

        A handler's first, second and further answer to a message are stored once each, also if the
        message is handled again after a restart. If this answer then has other words, the first one
        stays, and None is returned. Waits while the service does not answer. Raises ChatError.
        """
        # An answer in a thread stays there, without a quote of its own.
        root_id = self.message.thread_root_message_id
        self._replies += 1
        try:
            return await until_answered(
                self.client.send_message,
                self.conversation_id,
                body,
                role=role,
                thread_root_message_id=root_id,
                reply_to_message_id=None if root_id else self.id,
                mentions=mentions,
                metadata=metadata,
                client_message_id=self._key(),
            )
        except MessageConflict:
            log.info("message %r is answered already", self.id, extra={"message_id": self.id})
            return None

    def draft(self) -> DraftWriter:
        """As `reply`, with an answer that is read while it is written: `async with message.draft()
        as draft`. The service needs the plugin Drafts (docs/guides/assistants.md). The asking user
        may stop it."""
        root_id = self.message.thread_root_message_id
        self._replies += 1
        return self.client.drafts.writing(
            self.conversation_id,
            thread_root_message_id=root_id,
            reply_to_message_id=None if root_id else self.id,
            asked_by_user_id=self.sender_id,
            client_message_id=self._key(),
        )

    def _key(self) -> str:
        """The idempotency key of this answer: by handler, message, and which answer it is."""
        named = "\0".join((self._handler, self.id, str(self._replies)))
        return f"bot-{hashlib.sha256(named.encode()).hexdigest()[:40]}"


Handler = Callable[[BotMessage], Awaitable[None]]
ChangedHandler = Callable[[ChangedEvent], Awaitable[None]]


class Bot:
    """Calls its handlers for each message that others send, one message after the other.

    `user_id` is the bot's own id, whose messages are left out. With `positions` it resumes where it
    was, so every message is handled at least once, and each answer of `BotMessage.reply` is stored
    once. It marks handled messages as read. If the service cannot replay what was missed, and at
    the first start, it handles what is unread.
    """

    def __init__(
        self, client: ChatClient, user_id: str, *, positions: Positions | None = None
    ) -> None:
        self._client = client
        self._user_id = user_id
        self._positions = positions
        self._position: str | None = None
        self._handlers: dict[str, tuple[str | None, Handler]] = {}
        self._on_changed: ChangedHandler | None = None
        self._handled: OrderedDict[str, None] = OrderedDict()

    def on_message(self, handler: Handler) -> Handler:
        """A decorator: call this function for every message of others, commands included.

        Its name is part of its answers' idempotency keys, so keep it. Raises ValueError for a
        second handler of the same name.
        """
        self._add(None, handler)
        return handler

    def command(self, name: str) -> Callable[[Handler], Handler]:
        """A decorator: call this function for messages whose first word is `/name`. Raises
        ValueError for a second handler of the same name."""

        def add(handler: Handler) -> Handler:
            self._add(f"/{name}", handler)
            return handler

        return add

    def on_changed(self, handler: ChangedHandler) -> ChangedHandler:
        """A decorator: call this function after a reconnect with `stream.changed`, for a bot that
        keeps conversations or reactions; `fetch_changed` fetches them."""
        self._on_changed = handler
        return handler

    async def run(self) -> None:
        """Handle messages until the client is closed. Raises ChatError if the service refuses the
        stream for good, as a banned user's, and what `positions` raises."""
        position = None if self._positions is None else await self._positions.load()
        async with self._client.stream(position) as stream:
            # The stream is open by now, so nothing falls between the two; repeated messages are
            # known.
            if position is None:
                await self._handle_unread()
            async for event in stream:
                if isinstance(event, ResetEvent):
                    await self._handle_unread()
                elif isinstance(event, ChangedEvent) and self._on_changed is not None:
                    try:
                        await self._on_changed(event)
                    # As with messages: a handler that fails must not stop the bot.
                    except Exception:
                        log.exception("the handler of stream.changed failed")
                elif isinstance(event, MessageEvent) and event.type == "message.created":
                    await self._handle(event.message)
                # Only now: if the process dies before, the event comes again.
                position = stream.last_event_id
                if self._positions is not None and position and position != self._position:
                    await self._positions.save(position)
                    self._position = position

    def _add(self, first_word: str | None, handler: Handler) -> None:
        name = f"{first_word or ''}:{getattr(handler, '__name__', type(handler).__name__)}"
        if name in self._handlers:
            raise ValueError(f"there is a handler of this name already: {name!r}")
        self._handlers[name] = (first_word, handler)

    async def _handle_unread(self) -> None:
        async for messages in unread_messages(self._client):
            for message in messages:
                if message.deleted_at is None:
                    await self._handle(message)

    async def _handle(self, message: Message) -> None:
        """Call the handlers of a message, once in the life of this process."""
        # Handled once: an unread message of the start may come by the stream as well.
        if message.sender_id == self._user_id or message.id in self._handled:
            return
        first_word = _first_word(message.body)
        for name, (wanted, handler) in self._handlers.items():
            if wanted is None or wanted == first_word:
                await self._call(name, handler, message)
        # After the handlers: if the process ends in between, the message comes again.
        self._handled[message.id] = None
        if len(self._handled) > REMEMBERED_MESSAGES:
            self._handled.popitem(last=False)
        await self._mark_read(message)

    async def _call(self, name: str, handler: Handler, message: Message) -> None:
        try:
            await handler(BotMessage(self._client, message, name))
        except MessageConflict:  # Of a draft: a reply has this dealt with.
            log.info("message %r is answered already", message.id)
        # The next message is handled all the same: one that always fails must not stop the bot.
        except Exception:
            named = {"message_id": message.id}
            log.exception("the handler %r failed at message %r", name, message.id, extra=named)

    async def _mark_read(self, message: Message) -> None:
        try:
            await self._client.mark_read(message.conversation_id, message.id)
        except (ChatError, *CUT) as error:
            # The mark of a later message says the same, and the bot may have been removed.
            log.info("message %r was not marked as read: %r", message.id, error)


def _first_word(body: str) -> str:
    return (body.split(maxsplit=1) or [""])[0]
