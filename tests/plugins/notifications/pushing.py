"""Web Push in tests: keys, browsers' subscriptions, and a push service at hand."""

import base64
import secrets
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import http_ece
from aiohttp import TCPConnector, web
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.test_utils import TestServer
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from chat_aio.plugins import Push

HOST = "push.example"
PRIVATE_KEY = base64.urlsafe_b64encode(b"\1" * 32).decode().rstrip("=")
SUBJECT = "mailto:ops@example.org"


def text_of(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def make_push(**given: Any) -> Push:
    return Push(PRIVATE_KEY, SUBJECT, **{"hosts": [HOST], **given})


@dataclass
class Browser:
    """A browser with keys of its own, which can read what is sent to it."""

    endpoint: str
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(16))

    @property
    def subscription(self) -> dict[str, Any]:
        """What `PushSubscription.toJSON()` returns."""
        point = self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        keys = {"p256dh": text_of(point), "auth": text_of(self.secret)}
        return {"endpoint": self.endpoint, "expirationTime": None, "keys": keys}

    @property
    def device(self) -> dict[str, Any]:
        """What a page registers."""
        return {"kind": "web", "token": self.endpoint, "keys": self.subscription["keys"]}

    def read(self, body: bytes) -> bytes:
        found: bytes = http_ece.decrypt(
            body, private_key=self.key, auth_secret=self.secret, version="aes128gcm"
        )
        return found


def a_browser(place: str = HOST) -> dict[str, Any]:
    return Browser(f"https://{place}/{secrets.token_hex(8)}").device


class _Here(AbstractResolver):
    """All names are this machine."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host, host="127.0.0.1", port=port, family=family, proto=0, flags=0
            )
        ]

    async def close(self) -> None:
        return


@dataclass
class PushService:
    """A push service: `answer` is asked for the status of each request."""

    port: int = 0
    connector: Callable[[], TCPConnector] = TCPConnector
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    answer: Callable[[str], Any] = lambda _: 201

    @property
    def place(self) -> str:
        return f"{HOST}:{self.port}"

    def browser(self, name: str) -> Browser:
        return Browser(f"https://{self.place}/{name}")

    def push(self, **given: Any) -> Push:
        return make_push(hosts=[self.place], connector=self.connector, **given)


@asynccontextmanager
async def push_service(folder: Path) -> AsyncIterator[PushService]:
    service = PushService()

    async def take(request: web.Request) -> web.Response:
        body = await request.read()
        service.requests.append((request.path, dict(request.headers), body))
        found = service.answer(request.path)
        status = found if isinstance(found, int) else await found
        return web.Response(status=status, headers={"Location": "https://push.example/other"})

    app = web.Application()
    app.router.add_post("/{name}", take)
    certificate, key = _certificate(folder)
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(certificate, key)
    trusting = ssl.create_default_context(cafile=certificate)
    server = TestServer(app, scheme="https")
    await server.start_server(ssl=own)
    service.port = server.port or 0
    service.connector = lambda: TCPConnector(resolver=_Here(), ssl=trusting, limit=0)
    try:
        yield service
    finally:
        await server.close()


def _certificate(folder: Path) -> tuple[str, str]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate_file, key_file = folder / "certificate.pem", folder / "key.pem"
    certificate_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return str(certificate_file), str(key_file)
