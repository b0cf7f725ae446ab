"""The store of examples/attachments_in_s3.py, over HTTP, beside a bucket that checks signatures."""

import hashlib
import secrets
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from chat_aio.client import ChatClient
from chat_aio.plugins import Attachments
from tests.conftest import Database, MakePeople
from tests.examples.conftest import loaded
from tests.plugins.attachments.uploading import PNG, attached, fetch, let_pass, sent
from tests.support.people import Person

LARGE = b"0123456789abcdef" * (9 * 1024 * 1024 // 16)


class Bucket:
    """What a bucket does with the requests of the store; others are refused."""

    def __init__(self, example: Any) -> None:
        self._example = example
        self.objects: dict[str, bytes] = {}
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.callers: list[str | None] = []
        self.app = web.Application(client_max_size=16 * 1024 * 1024)
        self.app.router.add_route("*", "/files/{file_id}", self._answer)

    async def _answer(self, request: web.Request) -> web.Response:
        self.callers.append(request.headers.get("X-User"))
        if not self._is_signed(request):
            return web.Response(status=403)
        file_id, query = request.match_info["file_id"], request.query
        match request.method:
            case "POST" if "uploads" in query:
                upload_id = secrets.token_hex(4)
                self.uploads[upload_id] = {}
                return web.Response(text=f"<X><UploadId>{upload_id}</UploadId></X>")
            case "PUT":
                data = await request.read()
                self.uploads[query["uploadId"]][int(query["partNumber"])] = data
                return web.Response(headers={"ETag": hashlib.md5(data).hexdigest()})
            case "POST":
                parts, listed = self.uploads.pop(query["uploadId"]), await request.text()
                assert all(hashlib.md5(part).hexdigest() in listed for part in parts.values())
                self.objects[file_id] = b"".join(parts[number] for number in sorted(parts))
                return web.Response()
            case "DELETE" if "uploadId" in query:
                del self.uploads[query["uploadId"]]
                return web.Response(status=204)
            case "DELETE":
                self.objects.pop(file_id, None)
                return web.Response(status=204)
        return self._read(request, self.objects.get(file_id))

    def _read(self, request: web.Request, found: bytes | None) -> web.Response:
        if found is None:
            return web.Response(status=404)
        headers = {
            "Content-Type": request.query.get("response-content-type", "binary/octet-stream"),
            "Content-Disposition": request.query.get("response-content-disposition", "x"),
        }
        part = request.http_range
        return web.Response(body=found[part], headers=headers)

    def _is_signed(self, request: web.Request) -> bool:
        """Whether the same request, signed again, is the same one."""
        query = dict(request.query)
        signature = query.pop("X-Amz-Signature", "")
        stamp = query.pop("X-Amz-Date", "20000101T000000Z")
        at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        if (datetime.now(UTC) - at).total_seconds() > int(query.get("X-Amz-Expires", "0")):
            return False
        given = {name: value for name, value in query.items() if not name.startswith("X-Amz-")}
        store = store_of(self._example, f"http://{request.host}")
        again = store.presigned(request.method, request.match_info["file_id"], given, at=at)
        return bool(again.endswith(f"X-Amz-Signature={signature}"))


def store_of(example: Any, endpoint: str) -> Any:
    return example.S3(endpoint, "files", region="us-east-1", key="key", secret="secret")


@pytest.fixture
async def bucket() -> AsyncIterator[tuple[Bucket, Any]]:
    example = loaded("attachments_in_s3")
    made = Bucket(example)
    async with TestServer(made.app) as server:
        yield made, store_of(example, str(server.make_url("")).rstrip("/"))


def test_urls_are_signed_as_amazon_documents_it() -> None:
    """The example of "Authenticating Requests: Using Query Parameters"."""
    store = loaded("attachments_in_s3").S3(
        "https://examplebucket.s3.amazonaws.com",
        "",
        region="us-east-1",
        key="AKIAIOSFODNN7EXAMPLE",
        secret="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        seconds=86_400,
    )
    store._base = "https://examplebucket.s3.amazonaws.com"
    url = store.presigned("GET", "test.txt", at=datetime(2013, 5, 24, tzinfo=UTC))
    signature = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
    assert url.endswith(f"&X-Amz-Signature={signature}")


async def test_files_go_there_and_come_from_there(
    serve: MakePeople, bucket: tuple[Bucket, Any], database: Database
) -> None:
    files, store = bucket
    plugin = Attachments(store, cleanup_interval_seconds=3_600)
    alice = (await serve(plugins=[plugin]))("alice")
    group = await alice.group("bob")
    message = await sent(alice, group, LARGE, name="naïve.txt")
    (attachment,) = message["attachments"]
    assert files.objects == {attachment["id"]: LARGE}
    assert await database["attachment_bytes.chunks"].count_documents({}) == 0
    found = await fetch(alice, f"/attachments/{attachment['id']}")
    assert found.status == 307
    async with alice.client.session.get(found.headers["Location"]) as answer:
        assert await answer.read() == LARGE
        assert answer.headers["Content-Type"] == "text/plain"
        assert answer.headers["Content-Disposition"].startswith("attachment; filename=")
    async with alice.client.session.get(found.headers["Location"].replace("text", "html")) as no:
        assert no.status == 403
    await alice.delete(message["id"])
    await plugin.close()  # What was released is noted at the end.
    await plugin.open()
    await let_pass(database)
    assert await plugin.sweep() == 1
    assert (files.objects, files.uploads) == ({}, {})


async def test_clients_follow_without_what_authenticates_them(
    serve: MakePeople, bucket: tuple[Bucket, Any]
) -> None:
    files, store = bucket
    people = await serve(plugins=[Attachments(store)])
    person: Person = people("ada")
    base = str(person.client.make_url("/api/chat"))
    async with ChatClient(base, headers={"X-User": "ada"}) as ada:
        group = await ada.create_group_conversation()
        image = await ada.attachments.upload(group.id, PNG, name="a.png")
        await ada.send_message(group.id, "look", attachment_ids=[image.id])
        assert await ada.attachments.get(image.id) == PNG
        assert (await ada.attachments.get_thumbnail(image.id)).startswith(b"RIFF")
        async with ada.attachments.open(image.id, start=1) as response:
            assert await response.read() == PNG[1:]
    assert len(files.callers) > 3
    assert set(files.callers) == {None}


async def test_what_is_refused_leaves_nothing_there(
    serve: MakePeople, bucket: tuple[Bucket, Any]
) -> None:
    files, store = bucket

    async def scan(*_: object) -> bool:
        return False

    alice = (await serve(plugins=[Attachments(store, scan=scan)]))("alice")
    group = await alice.group("bob")
    with pytest.raises(AssertionError, match="ATTACHMENT_REJECTED"):
        await attached(alice, group)
    assert (files.objects, files.uploads) == ({}, {})
