"""Calls that are repeated until they are answered, and the book of what was acknowledged."""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout

from tests.scenarios.chaos.service import Service

WAIT = ClientTimeout(total=6)
"""Longer than a service waits for its storage: who gives up has no call of theirs under way."""


class Refused(Exception):
    """An answer that repeating does not change."""


@dataclass
class Sent:
    """A message as its writer knows it; a body that is empty was deleted."""

    key: str
    message_id: str
    conversation_id: str
    seq: int
    body: str


@dataclass
class Book:
    """What was sent when (in the loop's time), and what of it was acknowledged."""

    began: dict[str, float] = field(default_factory=dict)
    sent: dict[str, Sent] = field(default_factory=dict)
    repeats: int = 0
    longest_silence: float = 0.0
    _last: float = field(default_factory=time.monotonic)
    _grew: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def acknowledge(self, sent: Sent) -> None:
        now = time.monotonic()
        self.longest_silence = max(self.longest_silence, now - self._last)
        self._last = now
        async with self._grew:
            self.sent[sent.key] = sent
            self._grew.notify_all()

    async def more(self, count: int) -> None:
        """Wait until so many more sends have been acknowledged."""
        target = len(self.sent) + count
        async with self._grew:
            await self._grew.wait_for(lambda: len(self.sent) >= target)


@dataclass(frozen=True)
class Caller:
    """Calls to a service chosen at random, each time."""

    session: ClientSession
    services: Sequence[Service]
    book: Book
    chance: random.Random

    def address(self) -> str:
        return self.chance.choice(self.services).address

    async def call(self, user_id: str, method: str, path: str, json: Any = None) -> Any:
        """The answer, however often it has to be asked for. Raises Refused."""
        while True:
            try:
                return await self.once(user_id, method, path, json)
            except (ClientError, TimeoutError):
                self.book.repeats += 1
                await asyncio.sleep(self.chance.uniform(0.02, 0.2))

    async def once(self, user_id: str, method: str, path: str, json: Any = None) -> Any:
        headers = {"X-User": user_id}
        async with self.session.request(
            method, self.address() + path, json=json, headers=headers, timeout=WAIT
        ) as response:
            answer = await response.json()
            if response.status in (200, 201):
                return answer
            if response.status == 503:
                raise TimeoutError
            raise Refused(f"{method} {path}: {response.status} {answer}")
