"""The plugin: its settings, its parts, and its routes."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial

from chat_aio.actions.plugin_api import Attachment
from chat_aio.errors import (
    AttachmentLimitExceeded,
    AttachmentNotFound,
    AttachmentRejected,
    AttachmentTypeUnsupported,
    ConversationFrozen,
    ConversationNotFound,
    DirectInteractionBlocked,
    ForbiddenRead,
    ForbiddenWrite,
    PayloadTooLarge,
)
from chat_aio.plugin_types.base import Plugin, PluginRequest, PluginRoute
from chat_aio.plugin_types.files import File, Redirect, Upload
from chat_aio.plugins.attachments.gridfs import GridFS
from chat_aio.plugins.attachments.kinds import may_be_shown
from chat_aio.plugins.attachments.rows import DailyLimits, Row, Rows, attachment_from
from chat_aio.plugins.attachments.scanning import Scan
from chat_aio.plugins.attachments.stores import Store
from chat_aio.plugins.attachments.sweeping import THUMBNAIL, Sweeper
from chat_aio.plugins.attachments.thumbnails import Thumbnails
from chat_aio.plugins.attachments.uploading import Rules, Uploading, in_pieces
from chat_aio.schema.fields import is_id
from chat_aio.schema.models import Attached

IN_CONVERSATION = "/conversations/{conversation_id}/attachments"
ONE = "/attachments/{attachment_id}"
MEBIBYTE = 1024 * 1024

UPLOADING = (
    ConversationNotFound,
    ForbiddenWrite,
    DirectInteractionBlocked,
    ConversationFrozen,
    AttachmentTypeUnsupported,
    AttachmentRejected,
    AttachmentLimitExceeded,
    AttachmentNotFound,
)


class Attachments(Plugin):
    """Files in messages (docs/guides/attachments.md): users upload them to a conversation, and name
    them when they send a message. Readers of a message may read its files.

    A file has at most `max_bytes`, and one of the `content_types`, such as `image/*`; `*` is any.
    Within a day each user uploads at most `files_per_day`, and `bytes_per_day` in all. `scan` is an
    async function that may refuse a file, within `scan_timeout_seconds`. The bytes are in
    `store`, by default GridFS of the chat's database. With Pillow, images have a thumbnail of at
    most `thumbnail_size` pixels, unless they have more than `max_pixels`. What no message carries
    is removed, which is looked for every `cleanup_interval_seconds`.
    """

    def __init__(
        self,
        store: Store | None = None,
        *,
        max_bytes: int = 100 * MEBIBYTE,
        content_types: Collection[str] = ("*",),
        files_per_day: int = 200,
        bytes_per_day: int = 1024 * MEBIBYTE,
        scan: Scan | None = None,
        scan_timeout_seconds: float = 60.0,
        thumbnail_size: int = 320,
        max_pixels: int = 50_000_000,
        cleanup_interval_seconds: float = 60.0,
    ) -> None:
        numbers = (max_bytes, files_per_day, bytes_per_day, thumbnail_size, max_pixels)
        if min(*numbers, scan_timeout_seconds, cleanup_interval_seconds) <= 0:
            raise ValueError("Attachments: sizes, numbers and times must be positive")
        if isinstance(content_types, str):
            raise ValueError("Attachments takes a collection of content types, not one string")
        self._store = store or GridFS()
        self._rules = Rules(
            content_types=frozenset(content_types),
            limits=DailyLimits(files=files_per_day, size=bytes_per_day),
            scan=scan,
            scan_timeout_seconds=scan_timeout_seconds,
        )
        self._drawing = (thumbnail_size, max_pixels)
        self._cleanup_interval_seconds = cleanup_interval_seconds
        self._opened = AsyncExitStack()
        self._max_bytes = max_bytes
        self.routes = (
            PluginRoute(
                method="POST",
                path=IN_CONVERSATION,
                handler=self._upload,
                response_model=Attached,
                status=201,
                max_upload_bytes=max_bytes,
                rate_limit_name="upload_attachment",
                errors=UPLOADING,
            ),
            PluginRoute(
                method="GET",
                path=ONE,
                handler=self._get,
                response_model=File,
                rate_limit_name="get_attachment",
                errors=(AttachmentNotFound,),
            ),
            PluginRoute(
                method="GET",
                path=f"{ONE}/thumbnail",
                handler=self._get_thumbnail,
                response_model=File,
                rate_limit_name="get_thumbnail",
                errors=(AttachmentNotFound,),
            ),
        )

    async def open(self) -> None:
        side, most_pixels = self._drawing
        self._rows = Rows(self.api, store=self._store.name)
        self._sweeper = Sweeper(
            self.api, self._rows, self._store, seconds=self._cleanup_interval_seconds
        )
        thumbnails = Thumbnails(side=side, most_pixels=most_pixels)
        parts = (self._rows, self._store, self._sweeper, thumbnails, self._rules)
        self._uploading = Uploading(*parts)
        # If a later part fails to open, the earlier ones are closed again.
        async with AsyncExitStack() as opened:
            await self._store.open(self.api)
            opened.push_async_callback(self._store.close)
            opened.push_async_callback(thumbnails.close)
            self._sweeper.open()
            opened.push_async_callback(self._sweeper.close)
            self._opened = opened.pop_all()

    async def close(self) -> None:
        await self._opened.aclose()

    async def upload(
        self, user_id: str, conversation_id: str, data: bytes, *, name: str
    ) -> Attachment:
        """Upload a file in this process, as a user. `send_message` of the same user takes its id in
        `attachment_ids`.

        Raises InvalidInput, PayloadTooLarge, UserBanned and what the route of uploads raises.
        """
        await self.api.require_user(user_id)
        await self.api.require_writable(user_id, conversation_id)
        if len(data) > self._max_bytes:
            raise PayloadTooLarge
        upload = Upload(name=name, length=len(data), chunks=in_pieces(data))
        return await self._uploading.take(user_id, conversation_id, upload)

    async def sweep(self) -> int:
        """Remove the bytes that no message carries and whose time is over; returns how many files.
        This is done automatically; any number of processes may do it at once."""
        return await self._sweeper.sweep()

    async def resolve_attachments(
        self, user_id: str, conversation_id: str, attachment_ids: Sequence[str]
    ) -> Sequence[Attachment]:
        found = await self._rows.find(attachment_ids)
        for attachment_id in attachment_ids:
            row = found.get(attachment_id)
            # One answer for all: ids of others' files reveal nothing.
            if row is None or (row["userId"], row["conversationId"]) != (user_id, conversation_id):
                raise AttachmentNotFound
        return [attachment_from(found[attachment_id]) for attachment_id in attachment_ids]

    async def retain_attachments(self, attachment_ids: Sequence[str]) -> None:
        await self._rows.use(attachment_ids)

    def on_attachments_released(self, attachment_ids: Sequence[str]) -> None:
        self._sweeper.release(attachment_ids)

    async def _upload(self, request: PluginRequest) -> Mapping[str, object]:
        """Upload a file to a conversation, to name it in `attachmentIds` of messages there within a
        day. What kind it is follows from its first bytes.

        Raises ConversationNotFound, ForbiddenWrite, DirectInteractionBlocked, ConversationFrozen,
        AttachmentTypeUnsupported, AttachmentRejected, AttachmentLimitExceeded and
        AttachmentNotFound (it took longer than a day).
        """
        conversation_id = request.path["conversation_id"]
        await self.api.require_writable(request.user_id, conversation_id)
        assert request.upload is not None
        shown = await self._uploading.take(request.user_id, conversation_id, request.upload)
        return {"attachment": shown}

    async def _get(self, request: PluginRequest) -> File | Redirect:
        """The bytes of an attachment, for readers of a message that carries it, and for the user
        who has uploaded it as long as it was not sent. Ranges and `If-None-Match` are understood.

        Raises AttachmentNotFound.
        """
        row = await self._load(request)
        inline = may_be_shown(row["contentType"])
        return await self._answer(row["_id"], attachment_from(row), inline=inline)

    async def _get_thumbnail(self, request: PluginRequest) -> File | Redirect:
        """The thumbnail of an image in WebP, for readers of the attachment.

        Raises AttachmentNotFound, also for one without a thumbnail.
        """
        row = await self._load(request)
        if not row["hasThumbnail"]:
            raise AttachmentNotFound
        file_id = row["_id"] + THUMBNAIL
        fields = {"content_type": "image/webp", "name": f"{row['name']}.webp"}
        shown = attachment_from(row).model_copy(update={**fields, "size": row["thumbnailSize"]})
        return await self._answer(file_id, shown, inline=True)

    async def _answer(self, file_id: str, shown: Attachment, *, inline: bool) -> File | Redirect:
        if url := await self._store.url(file_id, shown, inline=inline):
            return Redirect(url)
        return File(
            name=shown.name,
            content_type=shown.content_type,
            size=shown.size,
            etag=file_id,  # The bytes of an id never change.
            inline=inline,
            read=partial(self._store.read, file_id),
        )

    async def _load(self, request: PluginRequest) -> Row:
        """An attachment that the user may read. Raises AttachmentNotFound."""
        attachment_id, user_id = request.path["attachment_id"], request.user_id
        found = await self._rows.find([attachment_id]) if is_id(attachment_id) else {}
        row = found.get(attachment_id)
        if row is None:
            raise AttachmentNotFound
        # Not sent yet: no message decides about it, so only its uploader reads it.
        if "usedAt" not in row and row["userId"] == user_id:
            try:
                await self.api.load_readable(user_id, row["conversationId"])
            except (ConversationNotFound, ForbiddenRead):
                raise AttachmentNotFound from None
            return row
        if not await self.api.may_read_attachment(user_id, attachment_id):
            raise AttachmentNotFound
        return row
