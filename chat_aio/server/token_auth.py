"""The user of a request, in a chat that `serve` makes: a JSON Web Token of the host names them."""

import asyncio
import math
import signal
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import jwt
from aiohttp import web

from chat_aio.server.callers import remember_moderator
from chat_aio.server.token_keys import KeySet, TokenKeys
from chat_aio.web.sse import is_stream

MOST_CHARACTERS = 8_000

IN_URL = "access_token"
"""Where the token of a stream may be: a browser's EventSource sends no headers."""

WRONG = (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError)
"""What the reading of a token raises that somebody has made up."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What a token with a valid signature says; times are in seconds since 1970."""

    user_id: str
    moderates: bool
    starts: float
    expires: float


Known = tuple[KeySet, Claims]
KNOWN = web.RequestKey("known", tuple)
"""The claims of the request's token, and the keys that have verified it. An open stream is checked
at each heartbeat, with the request that opened it, and verifying thousands of signatures would take
long."""


class TokenAuth:
    """The `auth` hook over bearer tokens. A token needs `exp` and `sub`, and with `issuer` and
    `audience` these as well. Tokens of `services` are accepted in the header only: URLs end up in
    logs."""

    def __init__(
        self,
        keys: TokenKeys,
        *,
        issuer: str | None = None,
        audience: str | None = None,
        leeway_seconds: float = 0.0,
        moderator_claim: str | None = None,
        services: Collection[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._keys = keys
        self._issuer, self._audience = issuer, audience
        self._leeway = leeway_seconds
        self._moderator_claim = moderator_claim
        self._services = frozenset(services)
        self._clock = clock

    async def auth(self, request: web.Request) -> dict[str, str] | None:
        claims = await self._valid(request)
        remember_moderator(claims.user_id if claims is not None and claims.moderates else None)
        return None if claims is None else {"id": claims.user_id}

    async def read_keys_on_signal(self, _: web.Application) -> None:
        """Read the keys again on SIGHUP."""
        loop = asyncio.get_running_loop()
        running: set[asyncio.Task[None]] = set()

        def read() -> None:
            task = asyncio.create_task(self._keys.read_again())
            running.add(task)
            task.add_done_callback(running.discard)

        with suppress(NotImplementedError, AttributeError):  # On Windows.
            loop.add_signal_handler(signal.SIGHUP, read)

    async def _valid(self, request: web.Request) -> Claims | None:
        """What the request's token claims, if it is valid now."""
        known: Known | None = request.get(KNOWN)
        # A stream asks at every heartbeat. After a change of the keys, its token is verified again.
        if known is not None and known[0] is self._keys.keys:
            claims: Claims | None = known[1]
        else:
            claims = await self._verified(request)
            if claims is not None:
                request[KNOWN] = self._keys.keys, claims
        now = self._clock()
        if (
            claims is None
            or not claims.starts - self._leeway <= now < claims.expires + self._leeway
        ):
            return None
        return claims

    async def _verified(self, request: web.Request) -> Claims | None:
        """What the request's token claims, if its signature, issuer and audience are right."""
        token, in_header = _token_of(request)
        # Before any decoding, which anybody may cause.
        if not 0 < len(token) <= MOST_CHARACTERS:
            return None
        try:
            key = await self._keys.find(jwt.get_unverified_header(token).get("kid"))
            if key is None:
                return None
            claims = self._claims_of(
                jwt.decode(
                    token,
                    key.key,
                    # The key decides on the algorithm, and not the token: else a public key could
                    # be used as a shared secret.
                    algorithms=[key.algorithm],
                    issuer=self._issuer,
                    audience=self._audience,
                    options={
                        "require": ["exp", "sub"],
                        # Times are compared at each use, and not only here.
                        "verify_exp": False,
                        "verify_nbf": False,
                        "verify_iat": False,
                    },
                )
            )
        except WRONG:
            return None
        return claims if in_header or claims.user_id not in self._services else None

    def _claims_of(self, payload: Mapping[str, Any]) -> Claims:
        """Raises TypeError and ValueError for claims of a wrong type."""
        moderates = self._moderator_claim is not None and payload.get(self._moderator_claim) is True
        return Claims(
            user_id=payload["sub"],
            moderates=moderates,
            starts=_seconds(payload.get("nbf", 0)),
            expires=_seconds(payload["exp"]),
        )


def _token_of(request: web.Request) -> tuple[str, bool]:
    """The token of a request, "" if it has none, and whether it is in the header."""
    values = request.headers.getall("Authorization", ())
    if values:
        scheme, _, token = values[0].partition(" ")
        # Of two headers, a proxy may have checked the other one.
        is_bearer = len(values) == 1 and scheme.lower() == "bearer"
        return (token.strip(), True) if is_bearer else ("", True)
    # Only without a header: a wrong header does not fall back to another login.
    in_url = request.query.getall(IN_URL, ()) if is_stream(request) else ()
    return (in_url[0], False) if len(in_url) == 1 else ("", False)


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("a time must be a number")
    return float(value)
