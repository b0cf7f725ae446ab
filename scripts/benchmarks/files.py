"""Rows about attachments: a file of a gibibyte, up and down."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientSession, ClientTimeout, FormData

from benchmarks.processes import LoadFailed, resident_bytes
from benchmarks.stage import Service, Stage
from benchmarks.table import Figure, Figures, at_most, row

MEBIBYTE = 1024 * 1024
LOOK_SECONDS = 0.02
HEADERS = {"X-User": "ada"}


@dataclass(slots=True)
class Grown:
    """The maximum growth of a process, in bytes."""

    most: int = 0


@asynccontextmanager
async def watched(service: Service) -> AsyncIterator[Grown]:
    """Watch the memory of a service."""
    grown, before = Grown(), resident_bytes(service.pid)

    async def look() -> None:
        while True:
            grown.most = max(grown.most, resident_bytes(service.pid) - before)
            await asyncio.sleep(LOOK_SECONDS)

    looking = asyncio.create_task(look())
    try:
        yield grown
    finally:
        looking.cancel()


class Files:
    """A client with a conversation, and a file of `size` mebibytes."""

    def __init__(self, stage: Stage, service: Service, session: ClientSession, size: int) -> None:
        self._stage = stage
        self._service = service
        self._session = session
        self._base = f"http://127.0.0.1:{service.port}/api/chat"
        self._size = size
        self._path = ""

    async def open(self) -> None:
        answer = await self._post("/conversations/group", json={})
        self._path = f"/conversations/{answer['conversation']['id']}/attachments"
        await self.upload(4)  # Warms up: allocations that happen only once.

    async def upload(self, mebibytes: int) -> str:
        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(mebibytes):
                yield b"x" * MEBIBYTE

        form = FormData()
        form.add_field("file", chunks(), filename="a.txt")
        return str((await self._post(self._path, data=form))["attachment"]["id"])

    async def download(self, attachment_id: str) -> None:
        url, got = f"{self._base}/attachments/{attachment_id}", 0
        async with self._session.get(url, headers=HEADERS) as answer:
            async for chunk in answer.content.iter_any():
                got += len(chunk)
        if got != self._size * MEBIBYTE:
            raise LoadFailed(f"{got} bytes came")

    async def measured(self, attachment_id: str | None) -> tuple[str, Figures]:
        """An upload, or the download of one."""
        meter, began = self._stage.meter([self._service]), time.monotonic()
        async with watched(self._service) as grown:
            if attachment_id is None:
                attachment_id = await self.upload(self._size)
            else:
                await self.download(attachment_id)
        gibibytes = self._size / 1024
        return attachment_id, {
            "rate": Figure(self._size / (time.monotonic() - began), "MiB/s"),
            "CPU/GiB": Figure(meter.seconds() / gibibytes, "s"),
            "memory": Figure(grown.most / MEBIBYTE, "MiB"),
        }

    async def _post(self, path: str, **given: Any) -> Any:
        async with self._session.post(self._base + path, headers=HEADERS, **given) as answer:
            if answer.status != 201:
                raise LoadFailed(f"{answer.status}: {await answer.text()}")
            return await answer.json()


async def measured(stage: Stage, *, down: bool) -> Figures:
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("files"))
        (service,) = await stack.enter_async_context(stage.services(database))
        session = ClientSession(timeout=ClientTimeout(total=None))
        await stack.enter_async_context(session)
        files = Files(stage, service, session, stage.sized(1024, 64))
        await files.open()
        attachment_id, figures = await files.measured(None)
        if down:
            _, figures = await files.measured(attachment_id)
        return figures


@row(
    "P20",
    "an attachment of 1 GiB is uploaded into GridFS; CPU of service + mongod; growth of the "
    "service during the upload",
    at_most("memory", 32),
)
async def measure_upload(stage: Stage) -> Figures:
    return await measured(stage, down=False)


@row("P21", "the same is downloaded", at_most("memory", 32))
async def measure_download(stage: Stage) -> Figures:
    return await measured(stage, down=True)
