"""Requests to one service as one user, and the rules for repeating them."""

import asyncio
import inspect
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote

from aiohttp import (
    ClientConnectionError,
    ClientPayloadError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    FormData,
)
from yarl import URL

from chat_aio.client.decoding import object_from, refusal_from
from chat_aio.errors import ChatError
from chat_aio.schema.wire import json_from

Headers = Mapping[str, str]
HeadersSource = Headers | Callable[[], Headers | Awaitable[Headers]]

CUT = (ClientConnectionError, ClientPayloadError, TimeoutError)
"""The errors of a request without a complete answer."""

TEMPORARY = frozenset({429, 502, 503, 504})
ATTEMPT_SECONDS = 20.0
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 5.0


class Connection:
    """A base URL, the headers that authenticate the caller, and an aiohttp session."""

    def __init__(
        self,
        base_url: str,
        headers: HeadersSource | None,
        session: ClientSession | None,
        retry_seconds: float,
    ) -> None:
        self._base = base_url.rstrip("/")
        self._headers = headers or {}
        self._session = session
        self._is_ours = session is None
        self._retry_seconds = retry_seconds

    def open(self) -> None:
        if self._is_ours:
            self._session = ClientSession()

    async def close(self) -> None:
        # A session of the caller's is used elsewhere, so it is not closed here.
        if self._is_ours and self._session is not None:
            await self._session.close()

    async def request(
        self,
        method: str,
        path: tuple[str, ...],
        *,
        timeout: ClientTimeout,
        query: Headers | None = None,
        headers: Headers | None = None,
        body: bytes | FormData | None = None,
        redirects: bool = True,
    ) -> ClientResponse:
        """Send one request and return any answer. Without `redirects` none is followed. Raises
        RuntimeError if the client is not open."""
        if self._session is None:
            raise RuntimeError("the client is not open: use `async with ChatClient(...)`")
        # Called for each request: a token may have been renewed since the last one.
        given = self._headers() if callable(self._headers) else self._headers
        who = await given if inspect.isawaitable(given) else given
        place = "/".join((self._base, *(quote(segment, safe="") for segment in path)))
        return await self._session.request(
            method,
            # Each segment is quoted above (an id may hold a slash): yarl must not quote again.
            URL(place, encoded=True).with_query(query or {}),
            headers={**who, **(headers or {})},
            data=body,
            timeout=timeout,
            allow_redirects=redirects,
            # A session of the caller's may raise by itself; refusals are read here.
            raise_for_status=False,
        )

    # A redirect leads to a store of files, which must not get the caller's token.
    async def fetch_elsewhere(
        self, url: str, headers: Headers, timeout: ClientTimeout
    ) -> ClientResponse:
        """Get what the service has sent us to, without what authenticates the caller to it."""
        if self._session is None:
            raise RuntimeError("the client is not open: use `async with ChatClient(...)`")
        return await self._session.get(URL(url, encoded=True), headers=headers, timeout=timeout)

    async def call(
        self,
        method: str,
        path: tuple[str, ...],
        *,
        query: Headers | None = None,
        body: Mapping[str, object] | None = None,
        repeats: bool = False,
    ) -> dict[str, Any]:
        """The JSON object of the answer. Raises ChatError for a refusal, and aiohttp's error or a
        TimeoutError if there is no answer.

        With `repeats` the request is repeated after a cut connection or a temporary refusal, for as
        long as `retry_seconds`.
        """
        deadline = _now() + self._retry_seconds
        # Encoded once, so that every attempt sends the same bytes under the same idempotency key.
        raw = None if body is None else json_from(body)
        headers = {"Accept": "application/json"}
        if raw is not None:
            headers["Content-Type"] = "application/json"
        # Of each attempt: a half-open connection must not use up the whole time.
        timeout = ClientTimeout(total=ATTEMPT_SECONDS)
        attempt = 0
        while True:
            try:
                response = await self.request(
                    method, path, timeout=timeout, query=query, headers=headers, body=raw
                )
                async with response:
                    return object_from(response, await response.read())
            except (ChatError, *CUT) as failure:
                pause = _pause_after(failure, attempt)
                if not repeats or pause is None or _now() + pause > deadline:
                    raise
            # Outside the handler: an error of the sleep would carry the failure as its context.
            await asyncio.sleep(pause)
            attempt += 1

    async def refusal(self, response: ClientResponse) -> ChatError:
        """The error for a response that is not the expected one."""
        return refusal_from(response, await response.read())


def backoff_delay(first: float, attempt: int, longest: float) -> float:
    """The pause in seconds after `attempt` failed attempts: exponential back-off with jitter, so
    that clients that were cut off together do not return together."""
    # A stream may fail thousands of times: the power of a larger number would overflow.
    return min(first * 2.0 ** min(attempt, 20), longest) * random.uniform(0.5, 1)


def _pause_after(failure: Exception, attempt: int) -> float | None:
    """Seconds until the next attempt; None if the request must not be repeated."""
    pause = backoff_delay(FIRST_PAUSE_SECONDS, attempt, LONGEST_PAUSE_SECONDS)
    if not isinstance(failure, ChatError):
        return pause
    # Other refusals would be the same again.
    return max(pause, failure.retry_after or 0) if failure.status in TEMPORARY else None


def _now() -> float:
    return asyncio.get_running_loop().time()
