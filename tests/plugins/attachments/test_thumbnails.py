"""Thumbnails: their size and turning, and images that are none, lie, or are bombs."""

import asyncio
import io
import os
import signal
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import patch

import pytest
from PIL import Image

from chat_aio.plugins import Attachments
from chat_aio.plugins.attachments import thumbnails
from chat_aio.plugins.attachments.thumbnails import Drawn, Thumbnails
from tests.conftest import Database, MakePeople
from tests.plugins.attachments.uploading import PNG, fetch, png, sent, upload
from tests.support.people import PATIENCE, Person


@pytest.fixture
async def drawing() -> AsyncIterator[Thumbnails]:
    made = Thumbnails(side=100, most_pixels=1_000_000)
    yield made
    await made.close()


async def draw(
    drawing: Thumbnails, data: bytes, kind: str = "image/png", *, user_id: str = "alice"
) -> Drawn:
    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(data), 1000):
            yield data[at : at + 1000]

    return await drawing.draw(user_id, kind, len(data), chunks())


def image(kind: str, size: tuple[int, int], **saved: Any) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, "red").save(out, kind, **saved)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_a_thumbnail_fits(drawing: Thumbnails, kind: str) -> None:
    drawn = await draw(drawing, image(kind, (400, 200)), f"image/{kind.lower()}")
    assert (drawn.width, drawn.height) == (400, 200)
    with Image.open(io.BytesIO(drawn.thumbnail)) as small:
        assert (small.format, small.size) == ("WEBP", (100, 50))


async def test_turned_photographs_stand_upright_and_say_nothing_else(drawing: Thumbnails) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "a camera"
    drawn = await draw(drawing, image("JPEG", (400, 200), exif=exif), "image/jpeg")
    assert (drawn.width, drawn.height) == (200, 400)
    with Image.open(io.BytesIO(drawn.thumbnail)) as small:
        assert small.size == (50, 100)
        assert not dict(small.getexif())


async def test_what_has_too_many_pixels_is_not_decoded(drawing: Thumbnails) -> None:
    drawn = await draw(drawing, png(says=(60_000, 60_000)))
    assert (drawn.width, drawn.height, drawn.thumbnail) == (60_000, 60_000, b"")


@pytest.mark.parametrize(
    "data",
    [PNG[:40], PNG[:50] + bytes(50), b"\x89PNG\r\n\x1a\n" + b"\xff" * 100, png(says=(900, 900))],
)
async def test_a_broken_image_has_no_thumbnail(drawing: Thumbnails, data: bytes) -> None:
    assert (await draw(drawing, data)).thumbnail == b""
    assert (await draw(drawing, PNG)).thumbnail  # The process goes on.


def process_of(drawing: Thumbnails) -> asyncio.subprocess.Process:
    assert drawing._process is not None
    return drawing._process


async def test_a_process_that_dies_is_replaced(drawing: Thumbnails) -> None:
    assert (await draw(drawing, PNG)).thumbnail
    stuck = process_of(drawing)
    os.kill(stuck.pid, signal.SIGSTOP)
    with patch.object(thumbnails, "SECONDS", 0.2):
        assert await draw(drawing, PNG) == Drawn()
    assert stuck.returncode is not None
    assert (await draw(drawing, PNG)).thumbnail
    dead = process_of(drawing)
    dead.kill()
    await asyncio.wait_for(dead.wait(), PATIENCE)
    assert (await draw(drawing, PNG)).thumbnail


async def test_many_at_once_wait_or_go_without(drawing: Thumbnails) -> None:
    drawn = await asyncio.gather(
        *(draw(drawing, png(side, side), user_id=f"user {side}") for side in range(1, 30))
    )
    sizes = [outcome.width for outcome in drawn if outcome.thumbnail]
    assert len(sizes) >= thumbnails.MOST_WAITING
    for number, outcome in enumerate(drawn, 1):
        assert outcome.width in (number, None)  # Nobody gets the answer about another image.


async def test_one_user_leaves_room_for_others(drawing: Thumbnails) -> None:
    """At most two images of a user wait with those of others; the rest come when these are done."""
    assert (await draw(drawing, PNG)).thumbnail
    stuck = process_of(drawing)
    os.kill(stuck.pid, signal.SIGSTOP)
    of_alice = [asyncio.create_task(draw(drawing, png(width, 1))) for width in range(1, 21)]
    await asyncio.sleep(0)
    assert drawing._waiting == thumbnails.MOST_OF_A_USER
    of_bob = asyncio.create_task(draw(drawing, png(50, 50), user_id="bob"))
    await asyncio.sleep(0)
    os.kill(stuck.pid, signal.SIGCONT)
    await asyncio.wait([of_bob, *of_alice[4:]], return_when=asyncio.FIRST_COMPLETED)
    assert of_bob.done()
    assert (await of_bob).thumbnail
    assert [(await task).width for task in of_alice] == [*range(1, 21)]


@pytest.fixture
async def alice(serve: MakePeople) -> Person:
    return (await serve(plugins=[Attachments()]))("alice")


async def test_a_thumbnail_over_http(alice: Person) -> None:
    message = await sent(alice, await alice.group("bob"), image("PNG", (1000, 500)))
    (attachment,) = message["attachments"]
    assert attachment["hasThumbnail"]
    found = await fetch(alice, f"/attachments/{attachment['id']}/thumbnail")
    assert (found.status, found.headers["Content-Type"]) == (200, "image/webp")
    with Image.open(io.BytesIO(found.body)) as small:
        assert small.size == (320, 160)
    await alice.delete(message["id"])
    assert (await fetch(alice, f"/attachments/{attachment['id']}/thumbnail")).status == 404


async def test_other_files_have_none(alice: Person) -> None:
    message = await sent(alice, await alice.group("bob"), b"text")
    (attachment,) = message["attachments"]
    assert (attachment["width"], attachment["hasThumbnail"]) == (None, False)
    found = await fetch(alice, f"/attachments/{attachment['id']}/thumbnail")
    assert (found.status, b"ATTACHMENT_NOT_FOUND" in found.body) == (404, True)


async def test_without_pillow_there_are_none(serve: MakePeople, database: Database) -> None:
    with patch.object(thumbnails, "find_spec", lambda _: None):
        alice = (await serve(plugins=[Attachments()]))("alice")
    answer = await upload(alice, await alice.group("bob"))
    found = answer.json["attachment"]
    assert (found["width"], found["height"], found["hasThumbnail"]) == (None, None, False)


async def test_a_bomb_costs_no_upload(alice: Person) -> None:
    """Few bytes that say to be an image of three and a half thousand megapixels."""
    answer = await upload(alice, await alice.group("bob"), png(says=(60_000, 60_000)))
    assert answer.status == 201
    assert not answer.json["attachment"]["hasThumbnail"]
