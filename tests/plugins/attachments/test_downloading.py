"""Files that go out: ranges and conditions, headers that keep browsers from running them, and
clients that read nothing."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

import pytest
from aiohttp import ClientPayloadError, ClientResponse

from chat_aio import Options, Quotas
from chat_aio.plugins import Attachments
from chat_aio.plugins.attachments.gridfs import CHUNK_BYTES, GridFS
from chat_aio.web import downloads
from tests.conftest import Database, MakePeople
from tests.plugins.attachments.uploading import PNG, fetch, sent
from tests.support.people import BASE, PATIENCE, Person

People = Callable[[str], Person]
LARGE = bytes(range(256)) * (3 * CHUNK_BYTES // 256) + b"the end"


@pytest.fixture
async def alice(serve: MakePeople) -> Person:
    return (await serve(plugins=[Attachments()]))("alice")


async def path_of(who: Person, data: bytes = PNG, **given: Any) -> str:
    message = await sent(who, await who.group("bob"), data, **given)
    return f"/attachments/{message['attachments'][0]['id']}"


async def test_ranges(alice: Person) -> None:
    path, size = await path_of(alice, LARGE), len(LARGE)
    for asked, start, end in (
        ("bytes=0-0", 0, 1),
        ("bytes=0-", 0, size),
        ("bytes=-7", size - 7, size),
        (f"bytes={CHUNK_BYTES - 1}-{CHUNK_BYTES}", CHUNK_BYTES - 1, CHUNK_BYTES + 1),
        (f"bytes={CHUNK_BYTES}-{3 * CHUNK_BYTES + 100}", CHUNK_BYTES, size),
        (f"bytes=-{10 * size}", 0, size),
    ):
        found = await fetch(alice, path, Range=asked)
        whole = (start, end) == (0, size)
        assert (found.status, found.body) == (200 if whole else 206, LARGE[start:end]), asked
        if not whole:
            assert found.headers["Content-Range"] == f"bytes {start}-{end - 1}/{size}"
    for asked in ("bytes=5-1", "lines=1-2", "bytes=0-1,4-5", "bytes=a-b", "bytes=", "x" * 4_000):
        assert (await fetch(alice, path, Range=asked)).status == 200, asked
    for asked in (f"bytes={size}-", f"bytes={10**30}-"):
        found = await fetch(alice, path, Range=asked)
        assert (found.status, found.headers["Content-Range"]) == (416, f"bytes */{size}"), asked


async def test_what_a_client_has_is_not_sent_again(alice: Person) -> None:
    path = await path_of(alice)
    found = await fetch(alice, path)
    etag = found.headers["ETag"]
    for named in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        known = await fetch(alice, path, If_None_Match=named)
        assert (known.status, known.body, known.headers["ETag"]) == (304, b"", etag)
    assert (await fetch(alice, path, If_None_Match='"other"')).body == PNG
    assert (await fetch(alice, path, Range="bytes=0-3", If_Range=etag)).status == 206
    assert (await fetch(alice, path, Range="bytes=0-3", If_Range='"other"')).status == 200
    head = await fetch(alice, path, "HEAD")
    assert (head.status, head.body, head.headers["Content-Length"]) == (200, b"", str(len(PNG)))


async def test_the_permission_is_asked_before_a_client_may_use_what_it_has(alice: Person) -> None:
    message = await sent(alice, await alice.group("bob"))
    path = f"/attachments/{message['attachments'][0]['id']}"
    found = await fetch(alice, path)
    assert found.headers["Cache-Control"] == "private, no-cache"
    await alice.delete(message["id"])
    assert (await fetch(alice, path, If_None_Match=found.headers["ETag"])).status == 404


@pytest.mark.parametrize(
    ("data", "kind", "shown"),
    [
        (PNG, "image/png", True),
        (b"\xff\xd8\xff\xe0 a picture", "image/jpeg", True),
        (b"GIF89a", "image/gif", True),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp", True),
        (b"\0\0\0\x20ftypisom", "video/mp4", True),
        (b"%PDF-1.7", "application/pdf", False),
        (b"<!DOCTYPE html><script>alert(1)</script>", "text/html", False),
        (b"\xef\xbb\xbf  <svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", False),
        (b"<?xml version='1.0'?><svg onload='alert(1)'/>", "image/svg+xml", False),
        (b"hello <script>alert(1)</script>", "text/html", False),
        (b"hello", "text/plain", False),
        (b"\xfe\xff\0<\0h\0t\0m\0l\0>", "application/octet-stream", False),
        (b"PK\x03\x04" + bytes(40) + b"word/document.xml", None, False),
        (b"\0\1\2\3", "application/octet-stream", False),
        ("ä".encode() * 2047 + "ä".encode(), "text/plain", False),
    ],
)
async def test_only_what_cannot_run_is_shown(
    alice: Person, data: bytes, kind: str | None, shown: bool
) -> None:
    found = await fetch(alice, await path_of(alice, data, name="a.html", kind="text/html"))
    assert found.body == data
    kept = found.headers["Content-Type"]
    assert kept == kind or (kind is None and kept.endswith("wordprocessingml.document"))
    begins = "inline; " if shown else "attachment; "
    assert found.headers["Content-Disposition"].startswith(begins)
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    assert found.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"


async def test_names_are_safe_in_headers(alice: Person) -> None:
    path = await path_of(alice, name='naïve "a";b\\c%41.png')
    said = (await fetch(alice, path)).headers["Content-Disposition"]
    assert said == "inline; filename=\"c_41.png\"; filename*=UTF-8''c%2541.png"
    path = await path_of(alice, name="naïve 😀.png")
    said = (await fetch(alice, path)).headers["Content-Disposition"]
    assert said.startswith('inline; filename="na_ve _.png"; ')
    assert said.endswith("filename*=UTF-8''na%C3%AFve%20%F0%9F%98%80.png")


@pytest.mark.parametrize(
    ("name", "data", "kept"),
    [
        ("page.html", PNG, "page.html.png"),
        ("photo.JPEG", b"\xff\xd8\xff\xe0 a picture", "photo.JPEG"),
        ("film.mp3", b"\0\0\0\x20ftypisom", "film.mp3.mp4"),
        ("", b"GIF89a", "file.gif"),
        ("page.html", b"<!DOCTYPE html>", "page.html"),  # It is stored, never shown.
        ("é" * 150 + ".svg", PNG, "é" * 98 + ".png"),
    ],
)
async def test_names_of_files_that_are_shown_end_as_their_kind(
    alice: Person, name: str, data: bytes, kept: str
) -> None:
    message = await sent(alice, await alice.group("bob"), data, name=name)
    (attachment,) = message["attachments"]
    assert attachment["name"] == kept
    found = await fetch(alice, f"/attachments/{attachment['id']}")
    assert found.headers["Content-Disposition"].endswith(f"UTF-8''{quote(kept)}")


OWN, OTHER = "https://chat.example.org", "https://example.org"
HOST = "Chat.Example.org"


@pytest.mark.parametrize(
    ("origins", "shown_by"),
    [
        (None, "same-origin"),
        ([OWN], "same-origin"),
        ([OTHER], "same-site"),
        ([OWN, OTHER], "same-site"),
    ],
)
async def test_pages_of_other_sites_show_no_files(
    serve: MakePeople, origins: list[str] | None, shown_by: str
) -> None:
    """So they learn nothing from whether a picture loads."""
    alice = (await serve(plugins=[Attachments()], allowed_origins=origins))("alice")
    path = await path_of(alice)
    found = await fetch(alice, path, Host=HOST)
    for answer in (
        found,
        await fetch(alice, f"{path}/thumbnail", Host=HOST),
        await fetch(alice, path, Host=HOST, Range="bytes=0-3"),
        await fetch(alice, path, Host=HOST, If_None_Match=found.headers["ETag"]),
    ):
        assert answer.headers["Cross-Origin-Resource-Policy"] == shown_by


async def test_a_client_that_reads_nothing_is_left(alice: Person) -> None:
    path = await path_of(alice, LARGE * 8)
    with patch.object(downloads, "STALL_SECONDS", 0.2):
        client = socket.create_connection((alice.client.host, alice.client.port))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(f"GET {BASE}{path} HTTP/1.1\r\nHost: a\r\nX-User: alice\r\n\r\n".encode())
        left = asyncio.Event()
        leave = downloads._leave

        def noted(request: Any) -> None:
            left.set()
            leave(request)

        with patch.object(downloads, "_leave", noted):
            await asyncio.wait_for(left.wait(), PATIENCE)
        client.close()


async def opened(who: Person, path: str, **headers: str) -> ClientResponse:
    """A download of which nothing is read yet."""
    return await who.client.get(BASE + path, headers={"X-User": who.user_id, **headers})


async def test_downloads_at_once_are_limited_for_each_user(serve: MakePeople) -> None:
    people = await serve(plugins=[Attachments()], downloads_per_user=3)
    alice, bob = people("alice"), people("bob")
    message = await sent(alice, await alice.group("bob"), LARGE * 8)
    path = f"/attachments/{message['attachments'][0]['id']}"
    answers = await asyncio.gather(*(opened(alice, path) for _ in range(12)))
    admitted = [answer for answer in answers if answer.status == 200]
    refused = [answer for answer in answers if answer.status == 429]
    assert (len(admitted), len(refused)) == (3, 9)
    assert (await refused[0].json())["error"]["code"] == "RATE_LIMITED"
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in refused)
    # A small part of a large file counts as well: the store reads a whole part of it.
    assert (await fetch(alice, path, Range="bytes=0-99")).status == 429
    assert (await fetch(alice, path, "HEAD")).status == 200
    (await opened(bob, path)).close()
    admitted[0].close()  # The client leaves.
    assert await admitted[1].read() == LARGE * 8  # The download ends.
    async with asyncio.timeout(PATIENCE):
        again = 0
        while again < 2:
            again += (await opened(alice, path)).status == 200
    assert (await opened(alice, path)).status == 429


async def test_downloads_that_fail_are_over(alice: Person, database: Database) -> None:
    path = await path_of(alice, LARGE)
    await database["attachment_bytes.chunks"].delete_many({})
    for _ in range(Options().downloads_per_user + 1):
        answer = await opened(alice, path)
        assert answer.status == 200
        with pytest.raises(ClientPayloadError):
            await answer.read()


async def test_a_process_holds_a_bounded_part_of_files(serve: MakePeople) -> None:
    people = await serve(plugins=[Attachments()], download_buffer_bytes=2 * CHUNK_BYTES)
    alice, bob = people("alice"), people("bob")
    message = await sent(alice, await alice.group("bob"), LARGE * 8)
    path = f"/attachments/{message['attachments'][0]['id']}"
    answers = await asyncio.gather(*(opened(who, path) for who in (alice, bob) * 4))
    assert sorted(answer.status for answer in answers) == [200, 200, *([429] * 6)]
    assert (await fetch(bob, path, Range="bytes=0-99")).status == 429
    for answer in answers:
        answer.close()


async def test_refused_downloads_count_as_requests(serve: MakePeople) -> None:
    quotas = Quotas(requests_per_minute=20)
    people = await serve(plugins=[Attachments()], downloads_per_user=1, quotas=quotas)
    alice = people("alice")
    path = await path_of(alice, LARGE * 8)
    answers = [await opened(alice, path) for _ in range(20)]
    messages = {(await answer.json())["error"]["message"] for answer in answers[1:]}
    assert len(messages) == 2  # Too many downloads, and then too many requests.


async def test_bytes_that_are_gone_end_the_connection(
    alice: Person, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    path = await path_of(alice, LARGE)
    await database["attachment_bytes.chunks"].delete_many({"n": {"$gte": 1}})
    with pytest.raises(ClientPayloadError):
        await fetch(alice, path)
    assert "a file could not be sent to its end" in caplog.text


async def test_the_bytes_are_in_the_layout_of_gridfs(alice: Person, database: Database) -> None:
    from gridfs import AsyncGridFSBucket

    path = await path_of(alice, LARGE)
    bucket = AsyncGridFSBucket(database, bucket_name="attachment_bytes")
    stream = await bucket.open_download_stream(path.rpartition("/")[2])
    assert await stream.read() == LARGE


async def test_a_store_may_send_clients_elsewhere(serve: MakePeople) -> None:
    class Elsewhere(GridFS):
        async def url(self, file_id: str, shown: Any, *, inline: bool) -> str | None:
            return f"https://files.example.org/{file_id}?{shown.content_type}&{inline}"

    alice = (await serve(plugins=[Attachments(Elsewhere())]))("alice")
    path = await path_of(alice)
    attachment_id = path.rpartition("/")[2]
    for at, named in ((path, "image/png"), (f"{path}/thumbnail", "image/webp")):
        found = await fetch(alice, at)
        file_id = attachment_id + ("-thumbnail" if at.endswith("thumbnail") else "")
        assert found.status == 307
        assert found.headers["Location"] == f"https://files.example.org/{file_id}?{named}&True"
        assert found.headers["Cache-Control"] == "no-store"
        assert found.headers["Cross-Origin-Resource-Policy"] == "same-origin"
