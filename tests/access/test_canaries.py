"""What people say, and what lets them in, is in no log (specification 9.1), whatever fails."""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.access.conftest import Served
from tests.access.test_hostile_bodies import status_of
from tests.conftest import Database
from tests.support.people import Answer, Person

SECRETS = {"Cookie": "session=canary-cookie", "Authorization": "Bearer canary-token"}
KEY = {"Idempotency-Key": "canary-key"}


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """All that is logged: at INFO, and of the chat itself at DEBUG."""
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.DEBUG, logger="chat_aio")
    return caplog


def texts(log: pytest.LogCaptureFixture) -> Iterator[str]:
    """Each record, with all that a formatter could show of it."""
    formatter = logging.Formatter()
    for record in log.records:
        trace = formatter.formatException(record.exc_info) if record.exc_info else ""
        yield f"{record.getMessage()} {record.__dict__!r} {trace}"


def require_silence(log: pytest.LogCaptureFixture, *codes: str) -> None:
    said = [text for text in texts(log) if any(word in text for word in ("canary", *codes))]
    assert said == []


async def test_a_story(served: Served, log: pytest.LogCaptureFixture) -> None:
    ada, grace, moderator = map(served.person, ("ada", "grace", "moderator"))
    group = await ada.group(name="canary name", metadata={"canary": "canary metadata"})
    code = await invited(ada, group, metadata={"canary": 1})
    for path in (f"/invites/{code}", f"/conversations/{group}/invites/{code}"):
        await grace.get(path, headers=SECRETS)
    await grace.post(f"/invites/{code}/accept", {"message": "canary note"}, headers=SECRETS)
    here = f"/conversations/{group}"
    async with grace.tab("canary:1", **SECRETS):
        sent = await ada.send(group, "a canary", metadata={"canary": "x"}, clientMessageId="canary")
        await ada.post(f"{here}/messages", {"body": "canary"}, headers={**SECRETS, **KEY})
        await ada.edit(sent["id"], "another canary")
        await ada.react(sent["id"], "canary")
        await grace.read(group, sent["id"])
        await grace.get("/search/messages?q=canary", headers=SECRETS)
        await grace.get("/search/messages?q=canary&cursor=canary")
        await served.ask("GET", "/stream?lastEventId=canary", "grace")
        await ada.post(f"{here}/messages", {"body": 7, "canary": "canary"})
        await ada.post(f"{here}/messages", data=b'{"body":"canary')
        await ada.get("/conversations/canary")
        await ada.get("/canary")
        told = {"targetType": "message", "targetId": sent["id"], "reason": "canary reason"}
        report = (await grace.post("/moderation/reports", told)).json["report"]["id"]
        noted = {"status": "triaged", "moderatorNote": "canary note"}
        await moderator.call("PATCH", f"/moderation/reports/{report}", json=noted)
        banned = {"targetUserId": "mallory", "reason": "canary reason"}
        await moderator.post("/moderation/bans", banned)
        await ada.delete(sent["id"])
    assert any("/invites/{code}/accept" in text for text in texts(log))
    require_silence(log, code)


async def test_requests_that_cannot_be_read(served: Served, log: pytest.LogCaptureFixture) -> None:
    """aiohttp would quote what it stumbled over."""
    cookie = "Cookie: session=canary"
    bad = {
        f"{cookie}{'x' * 40_000}": "a header that is too long",
        f"{cookie}\x01": "a character that no header has",
        f"canary {cookie}": "a header without a name",
        "Content-Length: canary": "no number",
    }
    for headers, what in bad.items():
        status = await status_of(served, "GET /x", "/channels", "ada", headers, b"")
        assert status == 400, what
    chunked = "Transfer-Encoding: chunked"
    for raw in (b"canary\r\n", b"2\r\ncanary\r\n0\r\n\r\n"):
        await status_of(served, "POST /x", "/conversations/group", "ada", chunked, raw)
    for line in (f"/invites/canary{'x' * 40_000}", "/invites/canary HTTP/7.7\r\nX: x", "/ canary"):
        assert await status_of(served, "GET /x", line, "ada", "X: x", b"") == 400
    said = list(texts(log))
    assert len([line for line in said if "Error handling request" in line]) >= len(bad)
    assert any("(no route) 400" in line for line in said)
    assert not any("AssertionError" in line for line in said)
    require_silence(log)


async def invited(ada: Person, group: str, **given: Any) -> str:
    answer = await ada.post(f"/conversations/{group}/invites", given)
    return str(answer.json["invite"]["code"])


async def test_what_the_database_refuses(
    served: Served, database: Database, log: pytest.LogCaptureFixture
) -> None:
    """A driver's error quotes the document that it is about."""
    ada = served.person("ada")
    group, other = await ada.group(), await ada.group("grace")
    here = f"/conversations/{group}"
    plain = await ada.send(group, "plain", clientMessageId="canary-key")
    code = await invited(ada, group)
    await database["messages"].create_index("clientMessageId", unique=True, sparse=True)
    answers = [
        await ada.post(
            f"/conversations/{other}/messages", {"body": "canary", "clientMessageId": "canary-key"}
        )
    ]
    for name, field in (("messages", "body"), ("conversations", "name"), ("reports", "reason")):
        rule = {field: {"$not": {"$regex": "canary"}}}
        await database.command("collMod", name, validator=rule)
    await database.command("collMod", "invites", validator={"uses": {"$lt": 1}})
    report = {"targetType": "user", "targetId": "grace", "reason": "canary"}
    answers += [
        *await asyncio.gather(
            *(ada.post(f"{here}/messages", {"body": f"canary {number}"}) for number in range(3))
        ),
        await ada.call("PATCH", f"/messages/{plain['id']}", json={"body": "canary"}),
        await ada.post("/conversations/group", {"name": "canary"}),
        await ada.call("PATCH", here, json={"name": "canary"}),
        await ada.post("/moderation/reports", report),
        await served.person("eve").post(f"/invites/{quote(code)}/accept"),
    ]
    assert [answer.code for answer in answers] == ["INTERNAL_ERROR"] * len(answers)
    assert_explained(log, answers)
    require_silence(log, code)


async def test_rows_that_cannot_be_read(
    served: Served, database: Database, log: pytest.LogCaptureFixture
) -> None:
    """Written by other programs; whoever looks into the log is told which."""
    ada = served.person("ada")
    group = await ada.group("grace")
    sent = await ada.send(group, "plain")
    stored: Any = await database["messages"].find_one({"_id": sent["id"]})
    async with served.person("grace").tab() as tab:
        for number, name in enumerate(stored):
            if name not in ("_id", "seq", "conversationId", "timelines"):
                broken = {**stored, "_id": f"broken-{name}", name: {"x": "a canary"}}
                await database["messages"].insert_one(
                    {**broken, "seq": number + 100}, bypass_document_validation=True
                )
        await ada.send(await ada.group("grace"), "behind all that")
        await tab.until(lambda frame: bool(frame.data) and "behind all that" in str(frame.data))
    await ada.get(f"/conversations/{group}/messages")
    changed = {"$set": {"participants": [{"userId": "a canary"}], "name": {"x": "a canary"}}}
    await database["conversations"].update_one(
        {"_id": group}, changed, bypass_document_validation=True
    )
    await ada.get(f"/conversations/{group}")
    await ada.get("/conversations")
    said = "\n".join(texts(log))
    assert "broken-body" in said
    require_silence(log)


def assert_explained(log: pytest.LogCaptureFixture, answers: list[Answer]) -> None:
    """The log still says what kind of thing the database said, and where."""
    said = "\n".join(texts(log))
    assert "121" in said
    assert "11000" in said
    assert all(answer.headers["X-Request-Id"] in said or "batch" in said for answer in answers)
