"""A proxy whose connections can be cut, and which can swallow answers."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Proxy:
    """`swallow` so many answers: the request is passed on, and its answer never comes."""

    port: int
    target: int
    swallow: int = 0
    chunk: int = 65_536
    connections: int = 0
    _open: set[StreamWriter] = field(default_factory=set)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/chat"

    def cut(self) -> None:
        """Every connection, now, wherever it is."""
        for writer in self._open:
            writer.transport.abort()

    async def pass_on(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.connections += 1
        try:
            ahead, beyond = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, beyond}
        ways = [self._copy(reader, beyond), self._copy_back(ahead, writer)]
        both = [asyncio.create_task(way) for way in ways]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for side in (writer, beyond):
                side.transport.abort()
                self._open.discard(side)
            await asyncio.gather(*both, return_exceptions=True)

    async def _copy(self, reader: StreamReader, writer: StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()

    async def _copy_back(self, reader: StreamReader, writer: StreamWriter) -> None:
        while data := await reader.read(self.chunk):
            if self.swallow:
                self.swallow -= 1
                return
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def proxied(target: int) -> AsyncIterator[Proxy]:
    """A proxy before a port of this machine."""
    proxy = Proxy(0, target)
    handlers: set[asyncio.Task[None]] = set()

    def accept(reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.create_task(proxy.pass_on(reader, writer))
        handlers.add(task)
        task.add_done_callback(handlers.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    async with server:
        try:
            yield proxy
        finally:
            for handler in tuple(handlers):
                handler.cancel()
            await asyncio.gather(*handlers, return_exceptions=True)
