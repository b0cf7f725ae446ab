"""gzip for large answers: off unless the host switches it on, and only for who asks for it."""

import gzip
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from aiohttp import compression_utils

from chat_aio.web import replies
from chat_aio.web.compression import LARGE_BYTES
from tests.conftest import MakePeople
from tests.support.people import BASE, Person

LISTED = "https://app.example.org"


async def spoken(person: Callable[[str], Person], *, bodies: int) -> tuple[Person, str]:
    """A user, and the path of a page with so many messages of 1 KiB."""
    alice = person("alice")
    group = await alice.group()
    for number in range(bodies):
        await alice.send(group, f"{number} {'tea ' * 256}")
    return alice, f"/conversations/{group}/messages"


async def asked(alice: Person, path: str, **headers: str) -> tuple[Any, bytes]:
    """The headers of an answer, and its body as it is without compression."""
    given = {"X-User": "alice", "Accept-Encoding": "identity", **headers}
    async with alice.client.get(BASE + path, headers=given) as response:
        return response.headers, await response.read()


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [
        ("gzip", True),
        ("br, deflate, GZIP;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000, deflate", False),
        ("deflate, br", False),
        ("x-gzip-like", False),
        ("identity", False),
    ],
)
async def test_only_for_who_asks(serve: MakePeople, accepted: str, *, compressed: bool) -> None:
    alice, path = await spoken(await serve(gzip=True), bodies=8)
    _, plain = await asked(alice, path)
    headers, body = await asked(alice, path, **{"Accept-Encoding": accepted})
    assert headers.get("Content-Encoding") == ("gzip" if compressed else None)
    assert headers["Vary"] == "Accept-Encoding"
    assert body == plain
    assert (int(headers["Content-Length"]) < len(plain) // 4) == compressed


async def test_off_by_default(person: Callable[[str], Person]) -> None:
    alice, path = await spoken(person, bodies=8)
    headers, body = await asked(alice, path, **{"Accept-Encoding": "gzip"})
    assert len(body) > LARGE_BYTES
    assert not {"Content-Encoding", "Vary"} & set(headers)


async def test_small_answers_errors_and_streams_stay_as_they_are(serve: MakePeople) -> None:
    alice, path = await spoken(await serve(gzip=True), bodies=1)
    for small in (path, "/conversations/nowhere", f"{path}?limit=0", "/nowhere"):
        headers, body = await asked(alice, small, **{"Accept-Encoding": "gzip"})
        assert 0 < len(body) < LARGE_BYTES
        assert not {"Content-Encoding", "Vary"} & set(headers)
    with patch("chat_aio.web.compression.LARGE_BYTES", 0):
        headers, _ = await asked(alice, "/conversations/nowhere", **{"Accept-Encoding": "gzip"})
        assert "Content-Encoding" not in headers
        async with alice.tab(**{"Accept-Encoding": "gzip"}) as tab:
            assert not {"Content-Encoding", "Vary"} & set(tab.response.headers)
            await alice.group()


@pytest.mark.parametrize(
    ("headers", "compressed"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "none"}, True),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, False),
        ({"Sec-Fetch-Site": "cross-site", "Origin": LISTED}, True),
    ],
)
async def test_not_for_pages_of_other_sites(
    serve: MakePeople, headers: dict[str, str], *, compressed: bool
) -> None:
    """A page that may make a user's browser ask must not learn from the size of the answer."""
    alice, path = await spoken(await serve(gzip=True, allowed_origins=[LISTED]), bodies=8)
    found, _ = await asked(alice, path, **{"Accept-Encoding": "gzip", **headers})
    assert ("Content-Encoding" in found) == compressed
    assert found.getall("Vary") == ["Accept-Encoding", "Origin"]


async def test_what_is_long_is_compressed_in_a_thread(serve: MakePeople) -> None:
    alice, path = await spoken(await serve(gzip=True), bodies=8)
    on_the_loop: list[int] = []
    compress = compression_utils.ZLibCompressor.compress_sync

    def noted(self: Any, body: bytes) -> bytes:
        on_the_loop.append(len(body))
        return compress(self, body)

    with patch.object(compression_utils.ZLibCompressor, "compress_sync", noted):
        _, plain = await asked(alice, path, **{"Accept-Encoding": "gzip"})
        assert on_the_loop == [len(plain)]
        with patch.object(replies, "COMPRESSED_AT_ONCE", len(plain) - 1):
            _, again = await asked(alice, path, **{"Accept-Encoding": "gzip"})
    assert (len(on_the_loop), again) == (1, plain)


async def test_head_says_what_get_does(serve: MakePeople) -> None:
    alice, path = await spoken(await serve(gzip=True), bodies=8)
    given = {"X-User": "alice", "Accept-Encoding": "gzip"}
    found = []
    for method in ("GET", "HEAD"):
        async with alice.client.request(method, BASE + path, headers=given) as response:
            names = ("Content-Encoding", "Content-Length", "Vary")
            found.append([response.headers[name] for name in names])
    assert found[0] == found[1]


async def test_the_bytes_are_gzip(serve: MakePeople) -> None:
    alice, path = await spoken(await serve(gzip=True), bodies=8)
    _, plain = await asked(alice, path)
    session = alice.client.session
    given = {"X-User": "alice", "Accept-Encoding": "gzip"}
    url = alice.client.make_url(BASE + path)
    async with session.get(url, headers=given, auto_decompress=False) as response:
        assert gzip.decompress(await response.read()) == plain
