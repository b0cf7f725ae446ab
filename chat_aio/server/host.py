"""Questions to the host's own URLs, over HTTP: signed as webhooks are, bounded in time and size."""

import asyncio
import logging
import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from chat_aio.errors import HostUnavailable
from chat_aio.plugins.deliveries.signed import SignedEndpoint
from chat_aio.plugins.deliveries.tries import DeliveryFailed
from chat_aio.schema.wire import json_from

log = logging.getLogger(__name__)

MOST_BYTES = 1024 * 1024
"""Maximum size of an answer."""

AT_ONCE = 16
"""Requests to one URL at a time, from each process."""

OF_A_HOOK = 0.8
"""The part of `hook_timeout_seconds` that an answer may take: a hook that is late would be an
error of ours, and no 503."""

RESTING_SECONDS = 1.0
"""How long a URL is not called after a failure: every request and every heartbeat would wait."""


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class HostURL:
    """One URL of the host. Raises SetupError and ValueError as SignedEndpoint."""

    def __init__(self, name: str, url: str, secret: str, *, hook_seconds: float) -> None:
        self._name = name
        self.seconds = OF_A_HOOK * hook_seconds
        self._endpoint = SignedEndpoint(url, secret, seconds=self.seconds)
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._resting_until = 0.0

    async def open(self) -> None:
        await self._endpoint.open(SystemClock())

    async def close(self) -> None:
        await self._endpoint.close()

    async def ask(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """The host's answer, a JSON object. Raises HostUnavailable."""
        if time.monotonic() < self._resting_until:
            raise HostUnavailable
        try:
            # The wait for a turn counts as well: the caller's hook has one limit for both.
            async with asyncio.timeout(self.seconds), self._turns:
                answer = await self._endpoint.post(
                    secrets.token_hex(12), json_from(dict(question)), answer_bytes=MOST_BYTES
                )
            found = orjson.loads(answer)
            if not isinstance(found, dict):
                raise ValueError("it must be a JSON object")
        except (DeliveryFailed, TimeoutError, ValueError) as error:
            raise self.failed(error) from None
        return found

    def failed(self, reason: object) -> HostUnavailable:
        """Note that an answer could not be used; returns the error to raise."""
        self._resting_until = time.monotonic() + RESTING_SECONDS
        # One line for many questions: no other is asked in the meantime.
        log.warning("%s gave no answer that can be used: %s", self._name, reason or "timeout")
        return HostUnavailable()
