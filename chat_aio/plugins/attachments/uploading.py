"""One upload: from its first bytes to a file that messages may carry, or to nothing."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from weakref import WeakValueDictionary

from chat_aio.actions.plugin_api import Attachment
from chat_aio.errors import AttachmentTypeUnsupported, InvalidInput, StorageUnavailable
from chat_aio.plugin_types.files import Upload
from chat_aio.plugins.attachments.kinds import HEAD_BYTES, is_among, kind_of, with_ending
from chat_aio.plugins.attachments.names import cleaned
from chat_aio.plugins.attachments.rows import DailyLimits, Rows
from chat_aio.plugins.attachments.scanning import FileInfo, Scan, require_clean
from chat_aio.plugins.attachments.stores import Store
from chat_aio.plugins.attachments.sweeping import THUMBNAIL, Sweeper
from chat_aio.plugins.attachments.thumbnails import Thumbnails

log = logging.getLogger(__name__)

LONGEST_SECONDS = 12 * 3600.0
"""Well within the day for which the row of an upload is kept."""

PIECE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What may be uploaded."""

    content_types: frozenset[str]
    limits: DailyLimits
    scan: Scan | None
    scan_timeout_seconds: float


class Counted:
    """Bytes as they come, how many there were, and the first of them."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._first: list[bytes] = []
        self._until = time.monotonic() + LONGEST_SECONDS
        self.size = 0

    async def head(self) -> bytes:
        """The beginning of the file, which is still to be read."""
        found = bytearray()
        async for chunk in self._chunks:
            self._first.append(chunk)
            found += chunk
            if len(found) >= HEAD_BYTES:
                break
        return bytes(found[:HEAD_BYTES])

    async def all(self) -> AsyncIterator[bytes]:
        for chunk in self._first:
            yield self._counted(chunk)
        self._first.clear()
        async for chunk in self._chunks:
            yield self._counted(chunk)

    def _counted(self, chunk: bytes) -> bytes:
        if time.monotonic() > self._until:
            raise InvalidInput("the upload took too long")
        self.size += len(chunk)
        return chunk


class Uploading:
    """Takes uploads. What does not become an attachment leaves no bytes."""

    def __init__(
        self, rows: Rows, store: Store, sweeper: Sweeper, thumbnails: Thumbnails, rules: Rules
    ) -> None:
        self._rows = rows
        self._store = store
        self._sweeper = sweeper
        self._thumbnails = thumbnails
        self._rules = rules
        self._turns = WeakValueDictionary[str, asyncio.Lock]()

    def _turn_of(self, user_id: str) -> asyncio.Lock:
        """Taken while a row of a user is counted with the others: of uploads that begin at once,
        each would find the rows of all, and be refused."""
        turn = self._turns.get(user_id) or asyncio.Lock()
        self._turns[user_id] = turn  # Kept as long as anything waits for it.
        return turn

    async def take(self, user_id: str, conversation_id: str, upload: Upload) -> Attachment:
        """Store a file. Raises InvalidInput, PayloadTooLarge, AttachmentTypeUnsupported,
        AttachmentLimitExceeded, AttachmentRejected and UserBanned."""
        attachment_id, coming = self._rows.new_id(), Counted(upload.chunks)
        try:
            limits = self._rules.limits
            # Before a byte has come: many uploads at once must not exceed the limit together.
            reserved = min(upload.length or 0, limits.size)
            async with self._turn_of(user_id):
                await self._rows.begin(attachment_id, user_id, conversation_id, reserved, limits)
            kind = kind_of(await coming.head())
            if not is_among(kind, self._rules.content_types):
                raise AttachmentTypeUnsupported(f"files of kind {kind} cannot be attached here")
            await self._store.save(attachment_id, coming.all())
            info = FileInfo(
                user_id=user_id,
                conversation_id=conversation_id,
                name=cleaned(with_ending(cleaned(upload.name), kind)),
                content_type=kind,
                size=coming.size,
            )
            return await self._check(attachment_id, info)
        except BaseException:
            # The row stays to be removed again later: a write that was not answered in time may
            # still come.
            try:
                await self._rows.refuse(attachment_id, coming.size)
                await self._sweeper.remove_bytes(attachment_id)
            except StorageUnavailable:
                log.warning("what is left of an upload is removed within a day")
            except Exception:
                log.exception("what is left of an upload could not be removed yet")
            raise

    async def _check(self, attachment_id: str, info: FileInfo) -> Attachment:
        """The properties of a file that are known only when it is complete."""
        if not info.size:
            raise InvalidInput("the file is empty")
        async with self._turn_of(info.user_id):
            await self._rows.measure(attachment_id, info.user_id, info.size, self._rules.limits)
        if self._rules.scan is not None:
            chunks = self._store.read(attachment_id, 0, info.size)
            seconds = self._rules.scan_timeout_seconds
            await require_clean(self._rules.scan, info, chunks, seconds=seconds)
        # Only now: a file that the scanner refuses is never decoded.
        chunks = self._store.read(attachment_id, 0, info.size)
        drawn = await self._thumbnails.draw(info.user_id, info.content_type, info.size, chunks)
        if drawn.thumbnail:
            await self._store.save(attachment_id + THUMBNAIL, in_pieces(drawn.thumbnail))
        shown = Attachment(
            id=attachment_id,
            name=info.name,
            content_type=info.content_type,
            size=info.size,
            width=drawn.width,
            height=drawn.height,
            has_thumbnail=bool(drawn.thumbnail),
        )
        await self._rows.finish(shown, thumbnail_size=len(drawn.thumbnail))
        return shown


async def in_pieces(data: bytes) -> AsyncIterator[bytes]:
    """Bytes that are there already, as if they came."""
    for start in range(0, len(data), PIECE_BYTES):
        yield data[start : start + PIECE_BYTES]
