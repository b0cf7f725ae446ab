"""A process that writes the same bytes to every socket that is open to it: floor F3.

For each line `write SIZE` it answers when all bytes are handed to the transports.
"""

import asyncio
import sys
from typing import cast

from benchmarks.loops import run
from benchmarks.readers import ACCEPTED, EVENT, FRAME_END

transports: list[asyncio.Transport] = []


class Accepted(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        made = cast(asyncio.Transport, transport)
        made.write(ACCEPTED + b"OK" + FRAME_END)
        transports.append(made)


async def serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Accepted, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        write(int(line.split()[1]))
        print("written", flush=True)


def write(size: int) -> None:
    data = EVENT + b"x" * (size - len(EVENT) - len(FRAME_END)) + FRAME_END
    for transport in transports:
        transport.write(data)


if __name__ == "__main__":
    run(serve(), sys.argv[1])
