"""A process that reads many event streams: counts what arrives, and when the last one did.

It is told `wait N`, and answers `N NANOSECONDS BYTES` once N message events have arrived in all:
the monotonic time of the last one, and the bytes of all so far. Plain epoll, since what a reader
costs is taken from what is measured.
"""

import json
import select
import socket
import sys
import time
from typing import NoReturn

from benchmarks.loops import end_with_parent

EVENT = b"event: message.created\n"
FRAME_END = b"\n\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
OPEN_SECONDS = 10


class Readers:
    """Open streams, one per request."""

    def __init__(self, port: int, requests: list[str]) -> None:
        self.arrived = 0
        self.bytes = 0
        self.arrived_at = 0
        self._tails: dict[int, bytes] = {}
        self._sockets: dict[int, socket.socket] = {}
        self._poll = select.epoll()
        self._poll.register(sys.stdin, select.EPOLLIN)
        for request in requests:
            self._open(port, request.encode())

    def _open(self, port: int, request: bytes) -> None:
        opened = socket.create_connection(("127.0.0.1", port), timeout=OPEN_SECONDS)
        opened.sendall(request)
        if is_over(opened.recv(65536)):
            fail("a stream was refused, or ended at once")
        opened.setblocking(False)
        self._sockets[opened.fileno()] = opened
        self._poll.register(opened, select.EPOLLIN)

    def run(self) -> None:
        """Read until the pipe closes."""
        wanted = 0
        while True:
            told = False
            for fd, _ in self._poll.poll():
                if fd == 0:
                    told = True
                else:
                    self._read(fd)
            if told:
                line = sys.stdin.readline()
                if not line:
                    return
                wanted = int(line.split()[1])
            if wanted and self.arrived >= wanted:
                wanted = 0
                print(self.arrived, self.arrived_at, self.bytes, flush=True)

    def _read(self, fd: int) -> None:
        data = self._sockets[fd].recv(262144)
        if is_over(data):
            fail("a stream was ended")
        self.bytes += len(data)
        whole = self._tails.pop(fd, b"") + data
        if events := whole.count(EVENT):
            self.arrived += events
            self.arrived_at = time.monotonic_ns()
        if not whole.endswith(FRAME_END):
            self._tails[fd] = whole[1 - len(EVENT) :]


def is_over(data: bytes) -> bool:
    """Whether these are the last bytes of a stream: none, or the chunk that ends it."""
    return not data or data == LAST_CHUNK or data.endswith(b"\r\n" + LAST_CHUNK)


def fail(reason: str) -> NoReturn:
    print(f"error: {reason}", flush=True)
    sys.exit(1)


if __name__ == "__main__":
    end_with_parent()
    given = json.loads(sys.stdin.readline())
    readers = Readers(given["port"], given["requests"])
    print("ready", flush=True)
    readers.run()
