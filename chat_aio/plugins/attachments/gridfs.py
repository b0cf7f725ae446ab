"""The default store: the chat's own database, in the layout of GridFS.

It is written chunk by chunk, each by a call that may be repeated, through the plugin API, which
cancels no call of the driver. PyMongo's own bucket would not survive that, nor work over Motor.
"""

from collections.abc import AsyncIterator

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.plugins.attachments.stores import Store
from chat_aio.plugins.own_collection import OwnCollection

BUCKET = "attachment_bytes"
CHUNK_BYTES = 1024 * 1024
"""The size of chunks, by which they are found: it can never change."""


class GridFS(Store):
    """Files in the collections `attachment_bytes.files` and `attachment_bytes.chunks`."""

    name = "gridfs"
    _files = OwnCollection(f"{BUCKET}.files")
    _chunks = OwnCollection(f"{BUCKET}.chunks")
    _api: PluginAPI

    async def open(self, api: PluginAPI) -> None:
        self._api = api

    async def save(self, file_id: str, chunks: AsyncIterator[bytes]) -> None:
        number = length = 0
        waiting = bytearray()
        async for chunk in chunks:
            waiting += chunk
            while len(waiting) >= CHUNK_BYTES:
                await self._write(file_id, number, bytes(waiting[:CHUNK_BYTES]))
                del waiting[:CHUNK_BYTES]
                number, length = number + 1, length + CHUNK_BYTES
        if waiting:
            await self._write(file_id, number, bytes(waiting))
        described = {
            "length": length + len(waiting),
            "chunkSize": CHUNK_BYTES,
            "uploadDate": self._api.now(),
        }
        here = {"_id": file_id}
        await self._api.write(
            lambda: self._files.update_one(here, {"$setOnInsert": described}, upsert=True)
        )

    async def _write(self, file_id: str, number: int, data: bytes) -> None:
        # The id follows from the number, so a repeated write stores nothing twice.
        here = {"_id": f"{file_id}:{number}"}
        chunk = {"files_id": file_id, "n": number, "data": data}
        await self._api.write(
            lambda: self._chunks.update_one(here, {"$setOnInsert": chunk}, upsert=True)
        )

    async def read(self, file_id: str, start: int, end: int) -> AsyncIterator[bytes]:
        for number in range(start // CHUNK_BYTES, -(-end // CHUNK_BYTES)):
            here = {"_id": f"{file_id}:{number}"}
            found = await self._api.read(lambda here=here: self._chunks.find_one(here))  # type: ignore[misc]
            if found is None:
                raise LookupError(f"chunk {number} of {file_id} is gone")
            first = number * CHUNK_BYTES
            yield found["data"][max(0, start - first) : end - first]

    async def delete(self, file_id: str) -> None:
        await self._api.write(lambda: self._files.delete_one({"_id": file_id}))
        await self._api.write(lambda: self._chunks.delete_many({"files_id": file_id}))
