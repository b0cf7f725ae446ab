"""Writes a draft: parts as they come, at most 20 a second, and at the end the message."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from chat_aio.errors import ChatError, StorageUnavailable
from chat_aio.schema.models import Message
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

T = TypeVar("T")

PAUSE_SECONDS = 0.05
ALIVE_SECONDS = 20.0
"""An empty part after so long tells that the draft is not abandoned."""

INSISTING_SECONDS = 30.0

MOST_AT_ONCE = 4_000


class DraftCalls(Protocol):
    """What a writer does with its draft, wherever the service is."""

    async def begin(self) -> str:
        """Begin the draft and return its id."""

    async def append(self, draft_id: str, index: int, text: str) -> bool:
        """Add the part with this number; returns whether the draft was stopped."""

    async def finish(
        self, draft_id: str, mentions: Sequence[str] | None, metadata: dict[str, Any] | None
    ) -> Message: ...

    async def cancel(self, draft_id: str) -> None: ...


class DraftWriter:
    """`async with` it: the text given to `write` is shown to readers at once, and at the end of
    the block sent as a `message`. The draft is cancelled if the block raises, or is blank.

    `mentions` and `metadata` can be set for the message. `stopped` is true once a user has
    stopped it: `write` then ignores its text, so end the block.
    """

    def __init__(self, calls: DraftCalls, *, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._calls = calls
        self._pause = pause_seconds
        self._waiting = ""
        self._unanswered: str | None = None
        self._count = 0
        self._is_blank = True
        self._more = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()
        self.stopped = False
        self.mentions: Sequence[str] | None = None
        self.metadata: dict[str, Any] | None = None
        self.message: Message | None = None

    async def write(self, text: str) -> None:
        """Add to the draft. Raises what sending an earlier part has raised."""
        if self._sending.done():
            self._sending.result()
        if self.stopped:
            return
        self._waiting += text
        self._more.set()
        if len(self._waiting) > MOST_AT_ONCE:
            await self._send_waiting()

    async def __aenter__(self) -> Self:
        self._draft_id = await self._calls.begin()
        self._sending = asyncio.create_task(self._keep_sending(), context=Context())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        is_over = error is not None
        try:
            if error is None:
                await _retry_until_answered(self._send_waiting)
                if not self._is_blank:
                    self.message = await _retry_until_answered(
                        lambda: self._calls.finish(self._draft_id, self.mentions, self.metadata)
                    )
                is_over = self.message is None
        except ChatError as refusal:
            # Without an answer the message may be there: then the draft ends by itself.
            is_over = refusal.status < 500
            raise
        finally:
            await cancel_and_wait(self._sending)
            if is_over:
                try:
                    await self._calls.cancel(self._draft_id)
                except ChatError as error:  # It is over already, or ends as an abandoned one.
                    log.info("draft %r was not cancelled: %s", self._draft_id, error.code)

    async def _keep_sending(self) -> None:
        """Also after it was stopped: the block may take its time to end."""
        while True:
            has_more = True
            try:
                await asyncio.wait_for(self._more.wait(), ALIVE_SECONDS)
            except TimeoutError:
                has_more = False
            try:
                await self._send_waiting(even_nothing=not has_more)
            except StorageUnavailable:
                self._more.set()  # The text is still there; try it again.
            await asyncio.sleep(self._pause)

    async def _send_waiting(self, *, even_nothing: bool = False) -> None:
        async with self._one_at_a_time:
            self._more.clear()
            while self._waiting or self._unanswered is not None or even_nothing:
                # One without an answer is repeated: it may be there already, and then nothing else
                # can be under its number.
                if self._unanswered is None:
                    self._unanswered = self._waiting[:MOST_AT_ONCE]
                    self._waiting = self._waiting[MOST_AT_ONCE:]
                part = self._unanswered
                self.stopped = await self._calls.append(self._draft_id, self._count, part)
                if self.stopped:
                    self._waiting = ""
                else:
                    self._count += 1
                    self._is_blank = self._is_blank and not part.strip()
                self._unanswered, even_nothing = None, False


async def _retry_until_answered(act: Callable[[], Awaitable[T]]) -> T:
    """Do what may be repeated until the service has answered it, and has time for it."""
    until = time.monotonic() + INSISTING_SECONDS
    while True:
        try:
            return await act()
        except ChatError as refusal:
            pause = refusal.retry_after or 1
            if refusal.status not in (429, 503) or time.monotonic() + pause > until:
                raise
            await asyncio.sleep(pause)
