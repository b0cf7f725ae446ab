"""Signed HTTP requests, as standardwebhooks.com describes them."""

from base64 import b64decode
from datetime import datetime
from typing import Any, Protocol
from urllib.parse import urlsplit

from aiohttp import (
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
)

from chat_aio.errors import SetupError
from chat_aio.plugins.deliveries.tries import DeliveryFailed


def is_endpoint(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def is_secret(secret: str) -> bool:
    text = secret.removeprefix("whsec_")
    try:
        key = b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        return False
    return secret.startswith("whsec_") and 24 <= len(key) <= 64


class Clock(Protocol):
    def now(self) -> datetime: ...


class SignedEndpoint:
    """Posts JSON to `url`, signed with `secret` (`whsec_` and base64). Anything but a 2xx within
    `seconds` is a failure; redirects are not followed.

    Raises SetupError without the package standardwebhooks, and ValueError for a wrong URL or
    secret.
    """

    def __init__(self, url: str, secret: str, *, seconds: float) -> None:
        try:
            from standardwebhooks.webhooks import Webhook as Signer
        except ImportError:
            raise SetupError(
                "webhooks need the extra notifications (docs/start/installation.md)"
            ) from None
        if not is_endpoint(url):
            raise ValueError("the url of a webhook must begin with https:// or http://, and a host")
        self._url = url
        if not is_secret(secret):
            raise ValueError("the secret of a webhook: whsec_ and base64 of 24 to 64 random bytes")
        self._signer: Any = Signer(secret)
        self._timeout = ClientTimeout(total=seconds)

    async def open(self, clock: Clock) -> None:
        self._clock = clock
        # The caller bounds the number of connections: waiting for one would count as its answer's
        # time. Cookies of the endpoint are not sent back.
        self._session = ClientSession(
            timeout=self._timeout,
            connector=TCPConnector(limit=0),
            cookie_jar=DummyCookieJar(),
            # A megabyte can become a gigabyte.
            auto_decompress=False,
            headers={"Accept-Encoding": "identity"},
        )

    async def close(self) -> None:
        await self._session.close()

    async def post(self, message_id: str, body: bytes, *, answer_bytes: int = 0) -> bytes:
        """Returns the answer, if it may have `answer_bytes`; otherwise it is not read. Raises
        DeliveryFailed. The id is the same at each try, so that receivers recognise a
        repetition."""
        now = self._clock.now()
        headers = {
            "Content-Type": "application/json",
            "webhook-id": message_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": self._signer.sign(message_id, now, body.decode()),
        }
        try:
            # No redirects: the signed body would go to an address that nobody has configured.
            async with self._session.post(
                self._url, data=body, headers=headers, allow_redirects=False
            ) as response:
                status, answer = response.status, b""
                if answer_bytes and 200 <= status < 300:
                    answer = await _read(response, answer_bytes)
        except (ClientError, TimeoutError) as error:
            raise DeliveryFailed(f"the endpoint was not reached: {type(error).__name__}") from error
        if not 200 <= status < 300:
            raise DeliveryFailed(f"the endpoint answered {status}")
        return answer


async def _read(response: ClientResponse, most: int) -> bytes:
    """Raises DeliveryFailed for more bytes than `most`."""
    parts, size = [], 0
    async for part in response.content.iter_any():
        parts.append(part)
        size += len(part)
        if size > most:
            raise DeliveryFailed(f"the endpoint answered with more than {most} bytes")
    return b"".join(parts)
