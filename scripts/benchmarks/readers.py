"""A process that reads many event streams: counts what arrives, and when the last one did.

It opens so many of them at once, and the next ones when each of these has its first bytes; then it
says `ready NANOSECONDS`, the monotonic time at which it began. It is told `wait N`, and answers
`N NANOSECONDS BYTES` once N message events have arrived in all: the time of the last one, and the
bytes of all so far. Plain epoll, since what a reader costs is taken from what is measured.
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
ACCEPTED = b"HTTP/1.1 200 "
OPEN_SECONDS = 30


class Readers:
    """Open streams, one per request."""

    def __init__(self) -> None:
        self.arrived = 0
        self.bytes = 0
        self.arrived_at = 0
        self.began_at = time.monotonic_ns()
        self._tails: dict[int, bytes] = {}
        self._sockets: dict[int, socket.socket] = {}
        self._silent: set[int] = set()
        self._poll = select.epoll()

    def open(self, port: int, requests: list[str]) -> None:
        """Open streams at once, and read until each has its first bytes."""
        for opened, request in zip([connecting(port) for _ in requests], requests, strict=True):
            opened.settimeout(OPEN_SECONDS)
            opened.sendall(request.encode())
            opened.setblocking(False)
            self._sockets[opened.fileno()] = opened
            self._silent.add(opened.fileno())
            self._poll.register(opened, select.EPOLLIN)
        while self._silent:
            heard = self._poll.poll(OPEN_SECONDS)
            if not heard:
                fail(f"{len(self._silent)} streams have not begun")
            for fd, _ in heard:
                self._read(fd)

    def run(self) -> None:
        """Read until the pipe closes."""
        self._poll.register(sys.stdin, select.EPOLLIN)
        wanted: int | None = None
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
            if wanted is not None and self.arrived >= wanted:
                wanted = None
                print(self.arrived, self.arrived_at, self.bytes, flush=True)

    def _read(self, fd: int) -> None:
        data = self._sockets[fd].recv(262144)
        if is_over(data):
            fail(f"a stream was ended{' before it began' * (fd in self._silent)}")
        if fd in self._silent:
            if not data.startswith(ACCEPTED):
                fail(f"a stream was refused: {data[:200]!r}")
            self._silent.discard(fd)
        self.bytes += len(data)
        whole = self._tails.pop(fd, b"") + data
        if events := whole.count(EVENT):
            self.arrived += events
            self.arrived_at = time.monotonic_ns()
        if not whole.endswith(FRAME_END):
            self._tails[fd] = whole[1 - len(EVENT) :]


def connecting(port: int) -> socket.socket:
    """A connection on its way: it does not wait for the server to accept it."""
    opened = socket.socket()
    opened.setblocking(False)
    opened.connect_ex(("127.0.0.1", port))
    return opened


def is_over(data: bytes) -> bool:
    """Whether these are the last bytes of a stream: none, or the chunk that ends it."""
    return not data or data == LAST_CHUNK or data.endswith(b"\r\n" + LAST_CHUNK)


def fail(reason: str) -> NoReturn:
    print(f"error: {reason}", flush=True)
    sys.exit(1)


if __name__ == "__main__":
    end_with_parent()
    given = json.loads(sys.stdin.readline())
    readers, requests, at_once = Readers(), given["requests"], given["at_once"]
    for start in range(0, len(requests), at_once):
        readers.open(given["port"], requests[start : start + at_once])
    print("ready", readers.began_at, flush=True)
    readers.run()
