"""Uploads: limits, kinds, scanners, and clients that stall, leave or lie. What is refused leaves no
bytes."""

import asyncio
import itertools
import resource
import time
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext
from io import BytesIO
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio.errors import (
    ForbiddenWrite,
    InvalidInput,
    PayloadTooLarge,
    StorageUnavailable,
    UserBanned,
)
from chat_aio.hooks import Hooks
from chat_aio.plugins import Attachments, Refuse
from chat_aio.plugins.attachments import FileInfo, GridFS, uploading
from chat_aio.plugins.attachments.rows import Rows
from chat_aio.plugins.attachments.uploading import Uploading
from chat_aio.web import uploads
from tests.conftest import Database, MakePeople
from tests.plugins.attachments.uploading import (
    PNG,
    TEXT,
    kept_bytes,
    let_pass,
    upload,
)
from tests.support.moderating import ban, is_mod
from tests.support.people import BASE, PATIENCE, Answer, Person
from tests.support.saboteurs import prove

People = Callable[[str], Person]
LIMIT = 64 * 1024
MIB = 1024 * 1024


@pytest.fixture
async def people(serve: MakePeople) -> People:
    return await serve(Hooks(can_moderate=is_mod), plugins=[Attachments(max_bytes=LIMIT)])


async def post(who: Person, group: str, body: Any, **headers: str) -> Answer:
    """A body as it is, which says that it is a form."""
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    named = {**kind, **{k.replace("_", "-"): v for k, v in headers.items()}}
    data = BytesIO(body) if isinstance(body, bytes) else body
    return await who.post(f"/conversations/{group}/attachments", data=data, headers=named)


def form(data: bytes, head: bytes = b'name="file"; filename="a.txt"') -> bytes:
    return b"--b\r\nContent-Disposition: form-data; " + head + b"\r\n\r\n" + data + b"\r\n--b--\r\n"


async def test_a_file_has_at_most_so_many_bytes(people: People, database: Database) -> None:
    alice = people("alice")
    group = await alice.group("bob")
    assert (await upload(alice, group, b"x" * LIMIT)).status == 201
    before = await kept_bytes(database)

    async def endless() -> AsyncIterator[bytes]:
        yield form(b"")[: -len(b"\r\n--b--\r\n")]
        while True:
            yield b"x" * 8192

    for body in (form(b"x" * (LIMIT + 1)), form(b"x" * 3 * LIMIT), endless()):
        answer = await post(alice, group, body)
        assert (answer.status, answer.code) == (413, "PAYLOAD_TOO_LARGE")
    assert await kept_bytes(database) == before


async def test_what_says_that_it_is_too_large_is_not_read(people: People) -> None:
    """The answer comes before the body does."""
    alice = people("alice")
    group = await alice.group("bob")
    reader, writer = await asyncio.open_connection(alice.client.host, alice.client.port)
    writer.write(head_of(group, length=10 * LIMIT))
    assert b" 413 " in await asyncio.wait_for(reader.readline(), PATIENCE)
    writer.close()


def head_of(group: str, *, length: int) -> bytes:
    return (
        f"POST {BASE}/conversations/{group}/attachments HTTP/1.1\r\nHost: a\r\nX-User: alice\r\n"
        f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no form",
        b"--b\r\n\r\n",
        b"--b--\r\n",
        form(b"x", head=b'name="other"; filename="a"'),
        form(b"x", head=b'name="file"'),
        form(b"x", head=b'name="file; filename="a'),
        form(b"x", head=b"name=" + b"x" * 20_000),
        form(b""),
        form(b"x")[:-8],
        form(b"x").replace(b"--b--", b"--b") + form(b"y"),
        form(b"x") + b"x" * 100_000,
        b"preamble\r\n" + form(b"x"),
        b"\r\n" * 30_000,
        b"--b\r\n" * 10_000,
    ],
    ids=range(15),
)
async def test_what_is_no_form_with_one_file(
    people: People, database: Database, body: bytes
) -> None:
    alice = people("alice")
    answer = await post(alice, await alice.group("bob"), body)
    assert (answer.status, answer.code) in [(400, "INVALID_INPUT"), (413, "PAYLOAD_TOO_LARGE")]
    assert await kept_bytes(database) == 0


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/mixed",
    ],
)
async def test_what_does_not_say_that_it_is_a_form(people: People, kind: str) -> None:
    alice = people("alice")
    answer = await post(alice, await alice.group("bob"), form(b"x"), Content_Type=kind)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b'name="file"; filename="a.txt"', "a.txt"),
        (b'NAME=file; FileName="../../etc/passwd"', "passwd"),
        (b'name="file"; filename="C:\\\\evil\\\\a.txt"', "a.txt"),
        (b'name="file"; filename="na\xc3\xafve.txt"', "naïve.txt"),
        (b'name="file"; filename="x"; filename*=UTF-8\'\'na%C3%AFve.txt', "naïve.txt"),
        (b'name="file"; filename="a%22b%0D%0Ac.txt"', "a_bc.txt"),
        (b'name="file"; filename="\xff\xfe.txt"', "\ufffd\ufffd.txt"),
        (b'name="file"; filename="..."', "file"),
        (b'name="file"; filename=""', "file"),
        (b'name="file"; filename="a\xe2\x80\xaetxt.exe"', "atxt.exe"),
        (b'name="file"; filename="' + b"x" * 500 + b'.txt"', "x" * 196 + ".txt"),
    ],
)
async def test_names_are_cleaned(people: People, head: bytes, name: str) -> None:
    alice = people("alice")
    answer = await post(alice, await alice.group("bob"), form(b"x", head=head))
    assert answer.json["attachment"]["name"] == name


async def test_only_who_may_write_uploads(people: People) -> None:
    alice, mallory = people("alice"), people("mallory")
    group, direct = await alice.group("bob"), await alice.direct("bob")
    assert (await upload(mallory, group)).code == "FORBIDDEN_WRITE"
    assert (await upload(alice, "unknown")).code == "CONVERSATION_NOT_FOUND"
    await people("bob").post("/moderation/blocks", {"targetUserId": "alice"})
    assert (await upload(alice, direct)).code == "DIRECT_INTERACTION_BLOCKED"


async def test_a_client_that_stalls_or_leaves_leaves_no_bytes(
    people: People, database: Database
) -> None:
    alice = people("alice")
    group = await alice.group("bob")
    begun = form(b"x" * 40_000)[:30_000]
    with patch.object(uploads, "STALL_SECONDS", 0.2):
        reader, writer = await asyncio.open_connection(alice.client.host, alice.client.port)
        writer.write(head_of(group, length=50_000) + begun)
        assert b" 400 " in await asyncio.wait_for(reader.readline(), PATIENCE)
        writer.close()
        await nothing_left(database)
        row = await database["attachments"].find_one({})
        assert row is not None
        assert 0 < row["size"] <= len(begun)  # Not what it said that there would be.
    _, writer = await asyncio.open_connection(alice.client.host, alice.client.port)
    writer.write(head_of(group, length=50_000) + begun)
    await begun_in(database)
    writer.close()
    await nothing_left(database)


async def test_a_drop_now_and_then_is_a_stall(people: People) -> None:
    """Each byte comes in time, and all of them together do not."""
    alice = people("alice")
    group = await alice.group("bob")
    with patch.object(uploads, "STALL_SECONDS", 0.5):
        reader, writer = await asyncio.open_connection(alice.client.host, alice.client.port)
        writer.write(head_of(group, length=50_000) + form(b"")[:40])

        async def drip() -> None:
            while True:
                writer.write(b"x")
                await asyncio.sleep(0.05)

        dripping = asyncio.create_task(drip())
        assert b" 400 " in await asyncio.wait_for(reader.readline(), PATIENCE)
        dripping.cancel()
        writer.close()


async def begun_in(database: Database) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            if await database["attachments"].find_one({"state": "uploading"}):
                return
            await asyncio.sleep(0.01)


async def nothing_left(database: Database) -> None:
    """Every upload that has begun is over, and there are no bytes."""
    unfinished = {"state": {"$nin": ["removing", "gone"]}}
    async with asyncio.timeout(PATIENCE):
        while True:
            going_on = await database["attachments"].find_one(unfinished)
            if not going_on and not await kept_bytes(database):
                break
            await asyncio.sleep(0.01)
    assert await database["attachments"].count_documents({}) > 0


async def test_the_kind_is_that_of_the_bytes(serve: MakePeople, database: Database) -> None:
    plugin = Attachments(content_types=["image/*", "application/pdf"])
    alice = (await serve(plugins=[plugin]))("alice")
    group = await alice.group("bob")
    answer = await upload(alice, group, PNG, name="a.html", kind="text/html")
    assert answer.json["attachment"]["contentType"] == "image/png"
    for data in (b"<html>", b"MZ\x90", TEXT, b"\0" * 100, b"PK\x03\x04" + bytes(60)):
        answer = await upload(alice, group, data, name="a.png", kind="image/png")
        assert (answer.status, answer.code) == (415, "ATTACHMENT_TYPE_UNSUPPORTED")
    assert (await upload(alice, group, b"%PDF-1.7 ...")).status == 201
    assert await database["attachments"].count_documents({"state": "stored"}) == 2


async def test_a_user_has_limits_for_each_day(serve: MakePeople, database: Database) -> None:
    people = await serve(plugins=[Attachments(files_per_day=5, bytes_per_day=10_000)])
    alice, bob = people("alice"), people("bob")
    group = await alice.group("bob")

    async def too_many_at_once() -> None:
        await database["attachments"].delete_many({})
        answers = await asyncio.gather(*(upload(alice, group, TEXT) for _ in range(20)))
        # Exactly as many as fit: those that begin at once do not refuse one another.
        assert sorted(answer.status for answer in answers) == [201] * 5 + [422] * 15
        stored = await database["attachments"].count_documents({"state": "stored"})
        assert stored == 5

    async def never(*_: Any) -> None:
        return

    await prove(too_many_at_once, sabotage=patch.object(Rows, "_require_room", never))
    no_turns = patch.object(Uploading, "_turn_of", lambda *_: nullcontext())
    await prove(too_many_at_once, sabotage=no_turns)
    await database["attachments"].delete_many({})
    assert [(await upload(alice, group, TEXT)).status for _ in range(6)] == [201] * 5 + [422]
    assert (await upload(alice, group, TEXT)).code == "ATTACHMENT_LIMIT_EXCEEDED"
    assert (await upload(bob, group, TEXT)).status == 201
    await database["attachments"].delete_many({})

    async def unannounced() -> AsyncIterator[bytes]:
        yield form(b"x" * 9_000)

    answers = [await post(alice, group, unannounced()) for _ in range(2)]
    assert [answer.status for answer in answers] == [201, 422]
    await database["attachments"].delete_many({})
    # No more is reserved than there is in a day: this one is refused when it is complete.
    assert (await upload(alice, group, TEXT * 2_000)).code == "ATTACHMENT_LIMIT_EXCEEDED"
    assert await database["attachments"].count_documents({"state": "stored"}) == 0


async def test_a_refused_upload_refuses_no_other_one(serve: MakePeople) -> None:
    """Its row exists for a moment: a complete upload of the same user is counted after that."""
    attachments = Attachments(files_per_day=1)
    alice = (await serve(plugins=[attachments]))("alice")
    group = await alice.group()
    counts, begun, held, released = itertools.count(), *(asyncio.Event() for _ in range(3))
    require_room, whole = Rows._require_room, form(b"x" * 100)

    async def body() -> AsyncIterator[bytes]:
        yield whole[:-50]
        await asyncio.wait_for(held.wait(), PATIENCE)
        yield whole[-50:]

    async def wait_in_the_second(*given: Any) -> None:
        number = next(counts)
        begun.set()
        if number == 1:
            held.set()
            await asyncio.wait_for(released.wait(), PATIENCE)
        await require_room(*given)

    with patch.object(Rows, "_require_room", wait_in_the_second):
        first = asyncio.create_task(post(alice, group, body()))
        async with asyncio.timeout(PATIENCE):
            await begun.wait()
            second = asyncio.create_task(upload(alice, group, TEXT))
            await held.wait()
            turn = attachments._uploading._turn_of("alice")
            while not (first.done() or turn._waiters):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            released.set()
            assert [(await task).status for task in (first, second)] == [201, 422]


async def test_an_outage_uses_up_nothing(serve: MakePeople) -> None:
    """The row is written already, and the database is not heard when the limit is asked for."""
    people = await serve(plugins=[Attachments(bytes_per_day=5_000)])
    alice = people("alice")
    group = await alice.group("bob")

    async def unheard(*_: Any) -> None:
        raise StorageUnavailable

    with patch.object(Rows, "_require_room", unheard):
        for _ in range(3):
            assert (await upload(alice, group, b"x" * 4_000)).status == 503
    assert (await upload(alice, group, b"x" * 4_000)).status == 201


async def test_a_write_that_comes_late_leaves_no_bytes(
    serve: MakePeople, database: Database
) -> None:
    """Of an upload that is refused already: what is left is removed once more."""
    plugin = Attachments(content_types=["image/*"], cleanup_interval_seconds=3600.0)
    alice = (await serve(plugins=[plugin]))("alice")
    group = await alice.group("bob")
    assert (await upload(alice, group, TEXT)).code == "ATTACHMENT_TYPE_UNSUPPORTED"
    (row,) = await database["attachments"].find().to_list()
    late = {"_id": f"{row['_id']}:0", "files_id": row["_id"], "n": 0, "data": b"late"}
    await database["attachment_bytes.chunks"].insert_one(late)
    await let_pass(database)
    await plugin.sweep()
    assert await kept_bytes(database) == 0
    assert await database["attachments"].count_documents({"state": "gone"}) == 1


async def test_an_upload_does_not_outlast_its_row(people: People, database: Database) -> None:
    alice = people("alice")
    group = await alice.group("bob")
    with patch.object(uploading, "LONGEST_SECONDS", -1.0):
        answer = await upload(alice, group, b"x" * 20_000)
    assert answer.code == "INVALID_INPUT"
    await nothing_left(database)


async def test_a_boundary_of_any_bytes(people: People) -> None:
    alice = people("alice")
    group = await alice.group("bob")
    for boundary in (b"\xff", b"\xed\xa0\x80", "é".encode()):
        reader, writer = await asyncio.open_connection(alice.client.host, alice.client.port)
        writer.write(head_of(group, length=4).replace(b"=b\r\n", b"=" + boundary + b"\r\n"))
        writer.write(b"some")
        assert b" 400 " in await asyncio.wait_for(reader.readline(), PATIENCE)
        writer.close()


async def test_what_was_removed_counts_for_the_day(serve: MakePeople, database: Database) -> None:
    plugin = Attachments(files_per_day=1)
    alice = (await serve(plugins=[plugin]))("alice")
    group = await alice.group("bob")
    assert (await upload(alice, group, PNG)).status == 201
    await let_pass(database)
    assert await plugin.sweep() == 1
    assert (await upload(alice, group, PNG)).code == "ATTACHMENT_LIMIT_EXCEEDED"


async def test_what_was_refused_or_failed_does_not_count(
    serve: MakePeople, database: Database
) -> None:
    plugin = Attachments(
        store := GivesUp(), files_per_day=1, bytes_per_day=1_000, content_types=["image/*"]
    )
    alice = (await serve(plugins=[plugin]))("alice")
    group = await alice.group("bob")
    for _ in range(3):
        assert (await upload(alice, group, TEXT)).code == "ATTACHMENT_TYPE_UNSUPPORTED"
        assert (await upload(alice, group, PNG, name="fails")).status == 500
        assert (await upload(alice, group, b"")).status in (400, 415)
    await let_pass(database)
    await plugin.sweep()
    store.failing = False
    assert (await upload(alice, group, PNG)).status == 201
    assert (await upload(alice, group, PNG)).code == "ATTACHMENT_LIMIT_EXCEEDED"


class GivesUp(GridFS):
    """A store that fails at first."""

    failing = True

    async def save(self, file_id: str, chunks: AsyncIterator[bytes]) -> None:
        await super().save(file_id, chunks)
        if self.failing:
            raise RuntimeError("the disk is full")


async def test_a_scanner_may_refuse(serve: MakePeople, database: Database) -> None:
    seen: list[tuple[FileInfo, bytes]] = []

    async def scan(info: FileInfo, chunks: AsyncIterator[bytes]) -> bool | Refuse:
        data = b"".join([chunk async for chunk in chunks])
        seen.append((info, data))
        if data.startswith(b"raise"):
            raise OSError("the scanner is away")
        return Refuse("It has a virus.") if b"EICAR" in data else b"no" not in data

    alice = (await serve(plugins=[Attachments(scan=scan)]))("alice")
    group = await alice.group("bob")
    large = b"x" * (MIB + 7)
    assert (await upload(alice, group, large, name="a.txt")).status == 201
    assert seen[-1][1] == large
    assert seen[-1][0] == FileInfo(
        user_id="alice",
        conversation_id=group,
        name="a.txt",
        content_type="text/plain",
        size=MIB + 7,
    )
    before = await kept_bytes(database)
    for data, said in (
        (b"EICAR", "It has a virus."),
        (b"no", "The file was refused"),
        (b"raise", "This file could not be checked; try again later."),
    ):
        answer = await upload(alice, group, data)
        assert (answer.status, answer.code) == (422, "ATTACHMENT_REJECTED")
        assert answer.json["error"]["message"] == said
    assert await kept_bytes(database) == before


async def test_who_is_banned_meanwhile_has_uploaded_nothing(
    people: People, database: Database
) -> None:
    alice, mod = people("alice"), people("mod")
    group = await alice.group("bob")

    async def body() -> AsyncIterator[bytes]:
        yield form(b"x" * 100)[:80]
        await begun_in(database)
        await ban(mod, "alice")
        yield form(b"x" * 100)[80:]

    answer = await post(alice, group, body())
    assert (answer.status, answer.code) == (403, "USER_BANNED")
    await nothing_left(database)


async def test_refused_bodies_cost_little(people: People) -> None:
    """No body of a megabyte costs a quarter of a second of this process's time."""
    alice = people("alice")
    group = await alice.group("bob")
    begin = form(b"")[: -len(b"\r\n--b--\r\n")]
    for body in (
        b"\r\n" * (MIB // 2),
        b"--b\r\n" * (MIB // 5),
        b'--b\r\nContent-Disposition: form-data; name="' + b"\\" * MIB,
        b"--b\r\n" + b"a: b\r\n" * (MIB // 6),
        begin + b"\r\n--" * (LIMIT // 4),
        begin + b"\r\n--b" * (LIMIT // 5),
        begin + b"\r" * LIMIT,
    ):
        before = time.process_time()
        answer = await post(alice, group, body)
        assert answer.status in (400, 413)
        assert time.process_time() - before < 0.25


@pytest.mark.parametrize(
    "size", [128 * MIB, pytest.param(1024 * MIB, marks=pytest.mark.long)], ids=["small", "1GB"]
)
async def test_memory_stays_flat(serve: MakePeople, size: int) -> None:
    """What an upload and a download hold of a file does not grow with it."""
    plugin = Attachments(max_bytes=size, bytes_per_day=4 * size)
    alice = (await serve(plugins=[plugin]))("alice")
    group = await alice.group("bob")
    await upload(alice, group, b"x" * 4 * MIB)  # What is allocated once is there.
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    async def body() -> AsyncIterator[bytes]:
        yield form(b"")[: -len(b"\r\n--b--\r\n")]
        for _ in range(size // MIB):
            yield b"x" * MIB
        yield b"\r\n--b--\r\n"

    answer = await post(alice, group, body())
    assert (answer.status, answer.json["attachment"]["size"]) == (201, size)
    url = f"{BASE}/attachments/{answer.json['attachment']['id']}"
    async with alice.client.get(url, headers={"X-User": "alice"}) as response:
        got = 0
        async for chunk in response.content.iter_any():
            got += len(chunk)
    assert got == size
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown * 1024 < 48 * MIB


async def test_a_file_is_uploaded_in_process(serve: MakePeople, database: Database) -> None:
    """By the rules of the route: who may write, how large, and what is not banned."""
    files = Attachments(max_bytes=LIMIT)
    people = await serve(Hooks(can_moderate=is_mod), plugins=[files])
    alice, bob = people("alice"), people("bob")
    group = await alice.group("bob")
    uploaded = await files.upload("alice", group, PNG, name="a/moth.png")
    assert (uploaded.name, uploaded.content_type, uploaded.size) == (
        "moth.png",
        "image/png",
        len(PNG),
    )
    await alice.chat.api.send_message("alice", group, "look", attachment_ids=[uploaded.id])
    (message,) = await bob.listed(f"/conversations/{group}/messages")
    assert message["attachments"][0]["id"] == uploaded.id
    before = await kept_bytes(database)
    await ban(people("mod"), "bob")
    for user_id, data, refusal in (
        ("eve", PNG, ForbiddenWrite),
        ("bob", PNG, UserBanned),
        ("alice", b"x" * (LIMIT + 1), PayloadTooLarge),
        ("alice", b"", InvalidInput),
    ):
        with pytest.raises(refusal):
            await files.upload(user_id, group, data, name="x")
    assert await kept_bytes(database) == before
