"""Attachments in S3, or in what speaks its protocol: clients get the bytes there by themselves.

    S3_ENDPOINT=https://s3.eu-central-1.amazonaws.com S3_REGION=eu-central-1 S3_BUCKET=our-chat \
    S3_KEY=... S3_SECRET=... python examples/attachments_in_s3.py

Uploads go through the chat, which checks them, in parts of 8 MiB. A download is a redirect to a URL
that is good for a minute. The bucket needs no public access; a lifecycle rule should abort uploads
that a process that has died has left incomplete. The header stands in for your login.
"""

import hashlib
import hmac
import os
import re
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from urllib.parse import quote, urlsplit

from aiohttp import ClientSession, ClientTimeout, web
from pymongo import AsyncMongoClient
from yarl import URL

from chat_aio import Chat
from chat_aio.plugins import Attachment, Attachments, PluginAPI, disposition
from chat_aio.plugins.attachments import Store

PART_BYTES = 8 * 1024 * 1024
TIMEOUT = ClientTimeout(total=None, sock_connect=10, sock_read=60)


class S3(Store):
    """A bucket, spoken to by presigned URLs alone (AWS Signature Version 4)."""

    name = "s3"

    def __init__(
        self, endpoint: str, bucket: str, *, region: str, key: str, secret: str, seconds: int = 60
    ) -> None:
        self._base = f"{endpoint.rstrip('/')}/{bucket}"
        self._region, self._key, self._secret = region, key, secret
        self._seconds = seconds

    async def open(self, api: PluginAPI) -> None:
        self._session = ClientSession(timeout=TIMEOUT, raise_for_status=True)

    async def close(self) -> None:
        await self._session.close()

    async def save(self, file_id: str, chunks: AsyncIterator[bytes]) -> None:
        begun = await self._ask("POST", file_id, {"uploads": ""})
        (upload,) = re.findall(rb"<UploadId>(.*?)</UploadId>", begun)
        named = {"uploadId": upload.decode()}
        try:
            parts = [etag async for etag in self._parts(file_id, named, chunks)]
            listed = "".join(
                f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>"
                for number, etag in enumerate(parts, 1)
            )
            complete = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>"
            await self._ask("POST", file_id, named, complete.encode())
        except BaseException:
            await self._ask("DELETE", file_id, named)
            raise

    async def _parts(
        self, file_id: str, named: Mapping[str, str], chunks: AsyncIterator[bytes]
    ) -> AsyncIterator[str]:
        """Send the parts one by one; gives the ETag of each."""
        waiting, number = bytearray(), 1
        async for chunk in chunks:
            waiting += chunk
            if len(waiting) >= PART_BYTES:
                yield await self._put_part(file_id, named, number, bytes(waiting))
                waiting.clear()
                number += 1
        if waiting or number == 1:
            yield await self._put_part(file_id, named, number, bytes(waiting))

    async def _put_part(
        self, file_id: str, named: Mapping[str, str], number: int, data: bytes
    ) -> str:
        url = self.presigned("PUT", file_id, {**named, "partNumber": str(number)})
        async with self._session.put(URL(url, encoded=True), data=BytesIO(data)) as answer:
            return answer.headers["ETag"]

    async def read(self, file_id: str, start: int, end: int) -> AsyncIterator[bytes]:
        url, headers = self.presigned("GET", file_id), {"Range": f"bytes={start}-{end - 1}"}
        async with self._session.get(URL(url, encoded=True), headers=headers) as answer:
            async for chunk in answer.content.iter_chunked(256 * 1024):
                yield chunk

    async def delete(self, file_id: str) -> None:
        await self._ask("DELETE", file_id)  # Without such an object it is 204 as well.

    async def url(self, file_id: str, shown: Attachment, *, inline: bool) -> str | None:
        named = {
            "response-content-type": shown.content_type,
            "response-content-disposition": disposition(shown.name, inline=inline),
        }
        return self.presigned("GET", file_id, named)

    async def _ask(
        self, method: str, file_id: str, query: Mapping[str, str] | None = None, data: bytes = b""
    ) -> bytes:
        url = self.presigned(method, file_id, query)
        async with self._session.request(method, URL(url, encoded=True), data=data) as answer:
            return await answer.read()

    def presigned(
        self,
        method: str,
        file_id: str,
        query: Mapping[str, str] | None = None,
        *,
        at: datetime | None = None,
    ) -> str:
        """A URL with which anybody may do this for some seconds."""
        base = urlsplit(f"{self._base}/{file_id}")
        stamp = f"{at or datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        scope = f"{stamp[:8]}/{self._region}/s3/aws4_request"
        asked = {
            "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
            "X-Amz-Credential": f"{self._key}/{scope}",
            "X-Amz-Date": stamp,
            "X-Amz-Expires": str(self._seconds),
            "X-Amz-SignedHeaders": "host",
            **(query or {}),
        }
        pairs = sorted((_quoted(name), _quoted(value)) for name, value in asked.items())
        line = "&".join(f"{name}={value}" for name, value in pairs)
        lines = (method, base.path, line, f"host:{base.netloc}", "", "host", "UNSIGNED-PAYLOAD")
        hashed = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        said = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashed}"
        signing = f"AWS4{self._secret}".encode()
        for part in scope.split("/"):
            signing = hmac.digest(signing, part.encode(), "sha256")
        signature = hmac.digest(signing, said.encode(), "sha256").hex()
        return f"{base.scheme}://{base.netloc}{base.path}?{line}&X-Amz-Signature={signature}"


def _quoted(text: str) -> str:
    return quote(text, safe="-_.~")


async def auth(request: web.Request) -> dict[str, str] | None:
    user_id = request.headers.get("X-User")
    return {"id": user_id} if user_id else None


def make_store() -> S3:
    return S3(
        os.environ["S3_ENDPOINT"],
        os.environ["S3_BUCKET"],
        region=os.environ.get("S3_REGION", "us-east-1"),
        key=os.environ["S3_KEY"],
        secret=os.environ["S3_SECRET"],
    )


async def make_app() -> web.Application:
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
        os.environ.get("MONGO_URL", "mongodb://127.0.0.1:27017")
    )

    async def closed(_: web.Application) -> None:
        await client.close()

    app = web.Application()
    database = client.get_default_database("chat")
    Chat(database, auth=auth, plugins=[Attachments(make_store())]).mount(app)
    app.on_cleanup.append(closed)
    return app


if __name__ == "__main__":
    web.run_app(make_app(), host="127.0.0.1", port=8000, auto_decompress=False)
