"""Files to upload, and how they are sent and fetched."""

import struct
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from aiohttp import FormData

from tests.conftest import Database
from tests.support.people import BASE, Answer, Person


def png(width: int = 3, height: int = 2, *, says: tuple[int, int] | None = None) -> bytes:
    """An image, which may say that it has another size."""
    rows = b"".join(b"\0" + b"\x40\x80\xc0" * width for _ in range(height))
    size = struct.pack(">II", *(says or (width, height)))
    parts = [(b"IHDR", size + b"\x08\x02\0\0\0"), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )


PNG = png()
TEXT = b"one\ntwo\n"


@dataclass(frozen=True)
class Fetched:
    status: int
    body: bytes
    headers: Any


def form_of(data: Any, name: str, kind: str) -> FormData:
    form = FormData()
    data = BytesIO(data) if isinstance(data, bytes) else data
    form.add_field("file", data, filename=name, content_type=kind)
    return form


async def upload(
    who: Person,
    conversation_id: str,
    data: Any = PNG,
    *,
    name: str = "picture.png",
    kind: str = "image/png",
) -> Answer:
    path = f"/conversations/{conversation_id}/attachments"
    return await who.call("POST", path, data=form_of(data, name, kind))


async def attached(who: Person, conversation_id: str, data: Any = PNG, **given: Any) -> str:
    """The id of a file that was uploaded."""
    answer = await upload(who, conversation_id, data, **given)
    assert answer.status == 201, answer
    return str(answer.json["attachment"]["id"])


async def sent(who: Person, conversation_id: str, data: Any = PNG, **given: Any) -> dict[str, Any]:
    """A message with a file."""
    attachment_id = await attached(who, conversation_id, data, **given)
    return await who.send(conversation_id, "look", attachmentIds=[attachment_id])


async def fetch(who: Person, path: str, method: str = "GET", **headers: str) -> Fetched:
    named = {"X-User": who.user_id, **{k.replace("_", "-"): v for k, v in headers.items()}}
    url = BASE + path
    async with who.client.request(method, url, headers=named, allow_redirects=False) as response:
        return Fetched(response.status, await response.read(), response.headers)


async def status_for(who: Person, attachment_id: str) -> int:
    return (await fetch(who, f"/attachments/{attachment_id}")).status


async def kept_bytes(database: Database) -> int:
    """How many bytes there are of all files."""
    chunks = database["attachment_bytes.chunks"].find()
    return sum([len(chunk["data"]) async for chunk in chunks])


async def let_pass(database: Database) -> None:
    """All that is to be kept for a while has been."""
    past = {"$set": {"keepUntil": datetime(2026, 1, 1, tzinfo=UTC)}}
    await database["attachments"].update_many({}, past)
