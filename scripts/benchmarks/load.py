"""The load: HTTP/1.1 keep-alive connections with prebuilt requests, and callers in a closed loop.

The cost of a request here reduces the measured rates, because both share two cores: so no client
library, no object per header, no task per request.
"""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import median
from typing import cast

from benchmarks.processes import LoadFailed

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
WARM_SECONDS = 0.3
GRACE_SECONDS = 20
MOST_FAILURES = 20

Answered = Callable[[int, bytes], None]


def get(path: str, user_id: str) -> bytes:
    """The bytes of a GET of `path` under the chat's mount."""
    return f"GET /api/chat{path} HTTP/1.1\r\nHost: bench\r\nX-User: {user_id}\r\n\r\n".encode()


def post(path: str, user_id: str, body: Mapping[str, object]) -> bytes:
    """The bytes of a POST of `body` to `path` under the chat's mount."""
    return posted(f"/api/chat{path}", user_id, body)


def patch(path: str, user_id: str, body: Mapping[str, object]) -> bytes:
    """The bytes of a PATCH of `body` to `path` under the chat's mount."""
    return posted(f"/api/chat{path}", user_id, body, method="PATCH")


def posted(path: str, user_id: str, body: Mapping[str, object], *, method: str = "POST") -> bytes:
    content = json.dumps(body).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: bench\r\nX-User: {user_id}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


class Connection(asyncio.Protocol):
    """One connection, one request at a time; its answer is passed to the sender."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._answered: Answered | None = None
        self._held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def send(self, request: bytes, answered: Answered) -> None:
        """Send a request; `answered` gets status and body, status 0 if the connection is lost."""
        self._answered = answered
        if self._transport is None or self._transport.is_closing():
            self.connection_lost(None)
        else:
            self._transport.write(request)

    async def ask(self, request: bytes) -> bytes:
        """The body of a 2xx answer. Raises LoadFailed for any other."""
        answer: asyncio.Future[tuple[int, bytes]] = asyncio.get_running_loop().create_future()
        self.send(request, lambda status, body: answer.set_result((status, body)))
        status, body = await answer
        if status // 100 != 2:
            raise LoadFailed(f"{status} {body[:200]!r}")
        return body

    async def timed(self, request: bytes) -> float:
        """The seconds that a 2xx answer takes."""
        began = time.perf_counter()
        await self.ask(request)
        return time.perf_counter() - began

    def data_received(self, data: bytes) -> None:
        data = self._held + data
        head = data.find(b"\r\n\r\n")
        length = _LENGTH.search(data, 0, head) if head >= 0 else None
        end = head + 4 + int(length[1]) if length else 0
        if head < 0 or len(data) < end:
            self._held = data
            return
        self._held = b""
        self._answer(int(data[9:12]), data[head + 4 :])

    def connection_lost(self, _: Exception | None) -> None:
        self._answer(0, b"the connection was lost")

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _answer(self, status: int, body: bytes) -> None:
        answered, self._answered = self._answered, None
        if answered is not None:
            answered(status, body)


@dataclass(frozen=True, slots=True)
class Round:
    """The results of a round of load: the seconds of each answer, and of the round."""

    latencies: list[float]
    seconds: float

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    def percentile(self, percent: float) -> float:
        return percentile(self.latencies, percent)


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that `percent` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100).__int__() - 1)]


def middle_percentile(rounds: Sequence[Round], percent: float) -> float:
    """The median over rounds of their percentile: a single disturbed round does not count."""
    return median(taken.percentile(percent) for taken in rounds)


class Callers:
    """One caller per connection, which sends its next request when the last one is answered."""

    def __init__(self, connections: Sequence[Connection], requests: Iterator[bytes]) -> None:
        self._connections = connections
        self._requests = requests
        self._until = 0.0
        self._active = 0
        self._idle = asyncio.Event()
        self._latencies: list[float] = []
        self._failures: list[str] = []

    async def warm(self) -> None:
        """Load that is not counted: it fills caches, and batches reach their width."""
        await self.run(WARM_SECONDS)

    async def run(self, seconds: float) -> Round:
        """Load for `seconds`, or until there is no request left. Raises LoadFailed."""
        self._latencies = []
        self._active = len(self._connections)
        self._idle.clear()
        began = time.perf_counter()
        self._until = began + seconds
        for connection in self._connections:
            self._next(connection)
        async with asyncio.timeout(seconds + GRACE_SECONDS):
            await self._idle.wait()
        if self._failures:
            asked = len(self._failures) + len(self._latencies)
            raise LoadFailed(f"{len(self._failures)} of {asked} failed: {self._failures[0]}")
        return Round(self._latencies, time.perf_counter() - began)

    def _next(self, connection: Connection) -> None:
        began = time.perf_counter()
        request = next(self._requests, None) if began < self._until else None
        if request is None:
            self._end_one()
            return

        def answered(status: int, body: bytes) -> None:
            if status // 100 == 2:
                self._latencies.append(time.perf_counter() - began)
                self._next(connection)
            else:
                self._fail(connection, f"{status} {body[:200]!r}")

        connection.send(request, answered)

    def _fail(self, connection: Connection, reason: str) -> None:
        self._failures.append(reason)
        if len(self._failures) < MOST_FAILURES and not reason.startswith("0"):
            self._next(connection)
        else:
            self._end_one()

    def _end_one(self) -> None:
        self._active -= 1
        if not self._active:
            self._idle.set()


async def paced(
    connections: Sequence[Connection], requests: Iterator[bytes], *, count: int, per_second: float
) -> Round:
    """`count` requests evenly spaced in time; later if all connections are busy."""
    loop = asyncio.get_running_loop()
    latencies: list[float] = []
    began, turns = loop.time(), enumerate(islice(requests, count))

    async def call(connection: Connection) -> None:
        for turn, request in turns:
            await asyncio.sleep(began + turn / per_second - loop.time())
            latencies.append(await connection.timed(request))

    await asyncio.gather(*map(call, connections))
    return Round(latencies, loop.time() - began)


async def closed_loop(
    act: Callable[[], Awaitable[object]], *, callers: int, seconds: float
) -> Round:
    """The same closed loop without HTTP: `callers` tasks that act repeatedly."""
    latencies: list[float] = []
    began = time.perf_counter()

    async def call() -> None:
        while (start := time.perf_counter()) < began + seconds:
            await act()
            latencies.append(time.perf_counter() - start)

    async with asyncio.TaskGroup() as group:
        for _ in range(callers):
            group.create_task(call())
    return Round(latencies, time.perf_counter() - began)
