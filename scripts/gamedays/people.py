"""The users of a game: they write, read and listen all the time; and a probe."""

import asyncio
import random
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from aiohttp import ClientError, ClientSession, ClientTimeout

WRITERS = 4
PAUSE_SECONDS = 0.3
REQUEST_SECONDS = 6
PROBE_SECONDS = 3
FAILURES = (ClientError, TimeoutError, ConnectionError)


class People:
    """An async context manager: users who use the chats at these addresses during the context.
    Their failures are left to the alerts, and the calls are repeated."""

    def __init__(self, bases: Sequence[str]) -> None:
        self.bases = bases
        self.group = ""
        self._http: ClientSession | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._http = ClientSession(timeout=ClientTimeout(total=REQUEST_SECONDS))
        made = await self.call("POST", "/conversations/group", user_id="ada", userIds=["grace"])
        self.group = made["conversation"]["id"]
        for base in self.bases:
            acts = [self._write] * WRITERS + [self._read, self._listen]
            self._tasks += [asyncio.create_task(self._again(act, base)) for act in acts]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.http.close()

    @property
    def http(self) -> ClientSession:
        assert self._http is not None
        return self._http

    async def call(
        self, method: str, path: str, *, user_id: str, base: str | None = None, **body: Any
    ) -> Any:
        """A request that must succeed; returns its answer."""
        url, headers = f"{base or self.bases[0]}{path}", {"X-User": user_id}
        async with self.http.request(method, url, headers=headers, json=body or None) as answer:
            answer.raise_for_status()
            return await answer.json()

    async def are_served(self) -> bool:
        """Whether every process accepts a message and shows it, in time."""
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                return all([await self._is_served(base) for base in self.bases])
        except FAILURES:
            return False

    async def _is_served(self, base: str) -> bool:
        text, path = secrets.token_hex(8), f"/conversations/{self.group}/messages"
        await self.call("POST", path, user_id="ada", base=base, body=text)
        page = await self.call("GET", f"{path}?limit=20", user_id="grace", base=base)
        return any(message["body"] == text for message in page["messages"])

    async def _again(self, act: Callable[[str], Awaitable[None]], base: str) -> None:
        while True:
            with suppress(*FAILURES):
                await act(base)
            # Not all at once after they have waited for the same timeout.
            await asyncio.sleep(PAUSE_SECONDS * (0.5 + random.random()))

    async def _write(self, base: str) -> None:
        path = f"/conversations/{self.group}/messages"
        await self.call("POST", path, user_id="ada", base=base, body="It builds.")

    async def _read(self, base: str) -> None:
        path = f"/conversations/{self.group}/messages?limit=50"
        await self.call("GET", path, user_id="grace", base=base)

    async def _listen(self, base: str) -> None:
        whole = ClientTimeout(total=None)
        headers = {"X-User": "grace"}
        async with self.http.get(f"{base}/stream", headers=headers, timeout=whole) as stream:
            stream.raise_for_status()
            async for _ in stream.content:
                pass
