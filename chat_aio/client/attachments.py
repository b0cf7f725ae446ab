"""Attachments over HTTP; the service needs the plugin Attachments."""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from typing import IO

from aiohttp import ClientResponse, ClientTimeout, FormData

from chat_aio.client.base import Calls
from chat_aio.client.decoding import object_from, read
from chat_aio.schema.models import Attachment

TIMEOUT = ClientTimeout(total=None, sock_connect=20.0, sock_read=60.0)
"""Bytes may take as long as they come."""


class AttachmentRoutes(Calls):
    """Files of messages: name the id of an upload in `attachment_ids` of `send_message`."""

    async def upload(
        self, conversation_id: str, data: bytes | IO[bytes] | AsyncIterable[bytes], *, name: str
    ) -> Attachment:
        """Upload a file, as it is read. What kind it is follows from its bytes."""
        form = FormData()
        kind = "application/octet-stream"
        form.add_field("file", data, filename=name, content_type=kind)
        response = await self._connection.request(
            "POST", ("conversations", conversation_id, "attachments"), timeout=TIMEOUT, body=form
        )
        async with response:
            answer = object_from(response, await response.read())
        return read(Attachment, answer["attachment"])

    @asynccontextmanager
    async def open(self, attachment_id: str, *, start: int = 0) -> AsyncIterator[ClientResponse]:
        """The bytes from `start` on, as they come: `async for chunk in
        response.content.iter_chunked(65_536)`."""
        given = {"Range": f"bytes={start}-"} if start else {}
        async with await self._follow(("attachments", attachment_id), given) as response:
            yield response

    async def get(self, attachment_id: str) -> bytes:
        """All bytes of an attachment."""
        async with self.open(attachment_id) as response:
            return await response.read()

    async def get_thumbnail(self, attachment_id: str) -> bytes:
        """The thumbnail of an image, in WebP."""
        async with await self._follow(("attachments", attachment_id, "thumbnail"), {}) as response:
            return await response.read()

    async def _follow(self, path: tuple[str, ...], headers: dict[str, str]) -> ClientResponse:
        response = await self._connection.request(
            "GET", path, timeout=TIMEOUT, headers=headers, redirects=False
        )
        if response.status == 307:
            response.release()
            url = response.headers["Location"]
            response = await self._connection.fetch_elsewhere(url, headers, TIMEOUT)
        if response.status not in (200, 206):
            async with response:
                raise await self._connection.refusal(response)
        return response
