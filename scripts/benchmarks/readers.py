"""A process that reads many event streams: counts events, and notes the time of the last one.

Its input is a port, the request of each stream, and their kind (`StreamKind`). It opens a bounded
number of streams at once, and the next ones when all of these have started; then it prints `ready
NANOSECONDS`, the monotonic time at which it started. For each line `wait N` it answers `N
NANOSECONDS BYTES` once N message events have arrived in all: the time of the last one, and the
bytes of all so far. It uses plain epoll, since the CPU of the readers reduces the measured rates.
"""

import json
import select
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

EVENT = b"event: message.created\n"
FRAME_END = b"\n\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
ACCEPTED = b"HTTP/1.1 200 "
REFUSED = (b"HTTP/1.1 3", b"HTTP/1.1 4", b"HTTP/1.1 5")
BYTES = "latin-1"  # One character per byte: this is how bytes are sent in JSON.
OPEN_SECONDS = 30
REST = b"\0"
"""Separates the parts of a request of which the server must accept the first."""


@dataclass(frozen=True, slots=True)
class StreamKind:
    """The bytes that show that a stream has started, the bytes that every event has once, the
    reply to other bytes, if the server requires it, and the bytes after which the rest of a request
    is sent."""

    begun: bytes = ACCEPTED
    event: bytes = EVENT
    answers: Mapping[bytes, bytes] = field(default_factory=dict)
    rest_after: bytes = ACCEPTED

    def as_json(self) -> list[Any]:
        answers = {asked.decode(BYTES): said.decode(BYTES) for asked, said in self.answers.items()}
        marks = (self.begun, self.event, self.rest_after)
        return [*(mark.decode(BYTES) for mark in marks), answers]

    @classmethod
    def from_json(cls, given: list[Any]) -> "StreamKind":
        *marks, answers = given
        begun, event, rest_after = (mark.encode(BYTES) for mark in marks)
        pairs = {asked.encode(BYTES): said.encode(BYTES) for asked, said in answers.items()}
        return cls(begun, event, pairs, rest_after)


SSE = StreamKind()


class Readers:
    """Open streams of a kind, one per request."""

    def __init__(self, kind: StreamKind) -> None:
        self.arrived = 0
        self.bytes = 0
        self.arrived_at = 0
        self.began_at = time.monotonic_ns()
        self._kind = kind
        self._tails: dict[int, bytes] = {}
        self._sockets: dict[int, socket.socket] = {}
        self._silent: set[int] = set()
        self._rests: dict[int, bytes] = {}
        self._openings: dict[int, bytes] = {}
        self._poll = select.epoll()

    def open(self, port: int, requests: list[str]) -> None:
        """Open streams at once, and read until all have started."""
        for opened, request in zip([connecting(port) for _ in requests], requests, strict=True):
            opened.settimeout(OPEN_SECONDS)
            first, _, rest = request.encode(BYTES).partition(REST)
            opened.sendall(first)
            opened.setblocking(False)
            if rest:
                self._rests[opened.fileno()] = rest
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
            self._begin(fd, data)
        self.bytes += len(data)
        for asked, answer in self._kind.answers.items():
            if asked in data:
                self._sockets[fd].sendall(answer)
        whole = self._tails.pop(fd, b"") + data
        if events := whole.count(self._kind.event):
            self.arrived += events
            self.arrived_at = time.monotonic_ns()
        if not whole.endswith(FRAME_END):
            self._tails[fd] = whole[1 - len(self._kind.event) :]

    def _begin(self, fd: int, data: bytes) -> None:
        """Send the rest of the request when it is time, and note that the stream has started."""
        said = self._openings[fd] = self._openings.get(fd, b"") + data
        if said.startswith(REFUSED):
            fail(f"a stream was refused: {said[:200]!r}")
        if fd in self._rests and self._kind.rest_after in said:
            self._sockets[fd].sendall(self._rests.pop(fd))
        if self._kind.begun in said:
            self._silent.discard(fd)
            del self._openings[fd]


def connecting(port: int) -> socket.socket:
    """A connection in progress: it does not wait for the server to accept it."""
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
    given = json.loads(sys.stdin.readline())
    readers = Readers(StreamKind.from_json(given["kind"]))
    requests, at_once = given["requests"], given["at_once"]
    for start in range(0, len(requests), at_once):
        readers.open(given["port"], requests[start : start + at_once])
    print("ready", readers.began_at, flush=True)
    readers.run()
