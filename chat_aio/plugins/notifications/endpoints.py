"""Where Web Push may be sent. Endpoints come from users, so only known push services are allowed,
and only at public addresses."""

import re
import socket
from collections.abc import Iterable
from ipaddress import IPv6Address, ip_address

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

PUSH_HOSTS = (
    "fcm.googleapis.com",
    "updates.push.services.mozilla.com",
    "web.push.apple.com",
    "*.push.apple.com",
    "*.notify.windows.com",
)
"""The push services of Chrome, Firefox, Safari and Edge."""


_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_ENDPOINT = re.compile(
    rf"https://(?P<host>{_LABEL}(?:\.{_LABEL})*)(?::(?P<port>[0-9]{{1,5}}))?"
    r"(?:[/?][!-~]*)?",
    re.ASCII | re.IGNORECASE,
)
"""The whole address: parsers disagree about control characters, users, escapes and backslashes."""


def host_of(endpoint: str, allowed: Iterable[str]) -> str:
    """The host of an endpoint, with its port if it names one. Raises ValueError unless it is HTTPS
    at one of the allowed hosts; `*.example.org` allows all below it."""
    found = _ENDPOINT.fullmatch(endpoint)
    # Both are allowed by the pattern, and read differently by programs.
    if found is None or "\\" in endpoint or "#" in endpoint:
        raise ValueError("must be a URL of https in ASCII, with a plain host and without a user")
    host, port = found["host"].lower(), int(found["port"] or 443)
    place = host if port == 443 else f"{host}:{port}"
    if not any(
        place.endswith(pattern[1:]) if pattern.startswith("*.") else place == pattern
        for pattern in allowed
    ):
        raise ValueError("must be of a push service that is allowed here")
    return place


class PublicResolver(AbstractResolver):
    """Resolves names to public addresses only: the name of a push service must not lead into the
    network of the host."""

    def __init__(self) -> None:
        self._resolver = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        public = [address for address in found if is_public(address["host"])]
        if not public:
            raise OSError(f"{host} has no public address")
        return public

    async def close(self) -> None:
        await self._resolver.close()


def is_public(address: str) -> bool:
    found = ip_address(address.partition("%")[0])
    # `::ffff:127.0.0.1` is this machine, and is no loopback address of IPv6.
    inner = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return (inner or found).is_global and not (inner or found).is_multicast
