"""Quotas: how much one user may do over HTTP."""

import asyncio
import re
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest
from aiohttp import ServerDisconnectedError

from chat_aio import EXEMPT, Hooks, Options, Quotas
from chat_aio.actions.rate_limits import Limits, limits_of
from chat_aio.errors import RateLimited, StorageUnavailable
from chat_aio.hooks import Exempt, RateContext
from chat_aio.store import conversations
from chat_aio.store.sequencer import Sequencer
from chat_aio.web import sse
from tests.conftest import MakePeople
from tests.support.people import Answer, Person

HOUR, MINUTE = 3_600, 60


def test_the_defaults() -> None:
    assert Options().quotas == Quotas()
    assert {field.name: field.default for field in fields(Quotas)} == {
        "conversations_per_hour": 200,
        "invites_per_hour": 100,
        "reports_per_hour": 60,
        "blocks_per_hour": 100,
        "people_per_hour": 2_000,
        "messages_per_minute": 300,
        "reactions_per_minute": 300,
        "user_lookups_per_minute": 300,
        "requests_per_minute": 1_200,
    }


def test_the_table_says_so() -> None:
    text = (Path(__file__).parents[2] / "docs/reference/specification.md").read_text()
    rows = re.findall(r"\| (\w+_per_\w+) \| ([\d,]+) \|", text)
    documented = {name: int(most.replace(",", "")) for name, most in rows}
    assert documented == {field.name: field.default for field in fields(Quotas)}


@pytest.mark.parametrize("most", [-1, 1.5, True, "many"])
def test_quotas_that_make_no_sense(most: Any) -> None:
    with pytest.raises(ValueError, match="messages_per_minute"):
        Quotas(messages_per_minute=most)


async def test_a_quota_of_zero_allows_none(serve: MakePeople) -> None:
    people = await serve(quotas=Quotas(conversations_per_hour=0, people_per_hour=0))
    ann, bob = people("ann"), people("bob")
    there = await ann.chat.api.get_or_create_conversation("ann", "bob")
    assert refused(await ann.post("/conversations/group"), HOUR)
    assert refused(await bob.post("/conversations", {"otherUserId": "cat"}), HOUR)
    # What exists is found no more either: it is counted before it is looked for.
    group = await ann.chat.api.create_group_conversation("ann")
    participants = f"/conversations/{group.id}/participants"
    assert refused(await ann.post(participants, {"userIds": ["bob"]}), HOUR)
    await ann.send(there.id, "the others are not concerned")
    assert len((await ann.get("/conversations")).json["conversations"]) == 2


async def test_who_is_exempt_has_no_quota_and_no_limit(serve: MakePeople) -> None:
    """0 still means that the host does not count: its quotas apply."""
    asked: list[RateContext] = []

    async def rate_limit(context: RateContext) -> float | Exempt | None:
        asked.append(context)
        if context.user_id == "service":
            return EXEMPT
        return 0.0 if context.user_id == "zero" else None

    people = await serve(
        Hooks(rate_limit=rate_limit),
        quotas=Quotas(messages_per_minute=2, conversations_per_hour=0, people_per_hour=0),
        rate_limits={"send_message": "1/hour"},
    )
    service, zero, ann = people("service"), people("zero"), people("ann")
    group = await service.group("zero", "ann")
    assert [context.method for context in asked] == [
        "conversations",
        "people",
        "create_group_conversation",
    ]
    for _ in range(5):
        await service.send(group, "x")
    path = f"/conversations/{group}/messages"
    for who, allowed in ((zero, 2), (ann, 1)):
        answers = [await who.post(path, {"body": "x"}) for _ in range(4)]
        assert [answer.status for answer in answers] == [201] * allowed + [429] * (4 - allowed)


async def test_who_is_exempt_may_call_any_path(serve: MakePeople) -> None:
    people = await serve(
        Hooks(rate_limit=lambda asked: EXEMPT if asked.user_id == "service" else None),
        quotas=Quotas(requests_per_minute=2),
    )
    for path in ("/conversations", "/unknown"):
        statuses = {(await people("service").get(path)).status for _ in range(4)}
        assert statuses == ({200} if path == "/conversations" else {404})
    answers = [await people("ann").get("/conversations") for _ in range(4)]
    assert [answer.status for answer in answers] == [200, 200, 429, 429]


async def test_a_hook_that_fails_about_a_quota_is_500(serve: MakePeople) -> None:
    def rate_limit(context: RateContext) -> None:
        if context.method == "requests":
            raise ZeroDivisionError

    ann = (await serve(Hooks(rate_limit=rate_limit), quotas=Quotas(requests_per_minute=1)))("ann")
    assert (await ann.get("/conversations")).status == 200
    assert (await ann.get("/conversations")).status == 500


def refused(answer: Answer, seconds: int) -> bool:
    """Whether it is too much, and how long to wait is said."""
    if answer.status != 429:
        return False
    assert answer.code == "RATE_LIMITED"
    assert seconds - 30 < int(answer.headers["Retry-After"]) <= seconds
    return True


KINDS: dict[str, tuple[str, str, dict[str, Any], int]] = {
    "messages_per_minute": ("POST", "/conversations/{group}/messages", {"body": "x"}, MINUTE),
    "reactions_per_minute": ("POST", "/messages/{message}/reactions", {"emoji": "x"}, MINUTE),
    "invites_per_hour": ("POST", "/conversations/{group}/invites", {}, HOUR),
    "conversations_per_hour": ("POST", "/conversations/group", {}, HOUR),
    "blocks_per_hour": ("POST", "/moderation/blocks", {"targetUserId": "eve"}, HOUR),
    "reports_per_hour": (
        *("POST", "/moderation/reports"),
        {"targetType": "user", "targetId": "eve", "reason": "spam"},
        HOUR,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_each_quota(serve: MakePeople, kind: str) -> None:
    """So many of a kind at once, and no more; other users and other kinds are not concerned."""
    method, path, body, seconds = KINDS[kind]
    people = await serve(quotas=Quotas(**{kind: 3}))
    ada, bob = people("ada"), people("bob")
    api = ada.chat.api
    group = await api.create_group_conversation("ada", user_ids=["bob"])
    await api.set_participant_role("ada", group.id, "bob", "admin")
    message = await api.send_message("ada", group.id, "hi")
    path = path.format(group=group.id, message=message.id)

    async def ask(who: Person) -> Answer:
        return await who.call(method, path, json=body)

    answers = await asyncio.gather(*(ask(ada) for _ in range(10)))
    assert sum(refused(answer, seconds) for answer in answers) == 7
    assert (await ask(bob)).status < 300
    assert (await ada.get("/conversations")).status == 200
    await api.send_message("ada", group.id, "not counted in process")


async def test_requests_in_all(serve: MakePeople) -> None:
    """Whatever they ask; one that is refused is one, too."""
    people = await serve(quotas=Quotas(requests_per_minute=4))
    ada = people("ada")
    for path, status in (
        ("/conversations", 200),
        ("/conversations/none", 404),
        ("/nothing", 404),
        ("/conversations?limit=0", 400),
    ):
        assert (await ada.get(path)).status == status
    assert refused(await ada.get("/conversations"), MINUTE)
    assert refused(await ada.get("/stream"), MINUTE)
    assert (await people("bob").get("/conversations")).status == 200


async def test_people_are_counted_one_by_one(serve: MakePeople) -> None:
    ada = (await serve(quotas=Quotas(people_per_hour=5)))("ada")
    group = await ada.group("a", "b")
    path = f"/conversations/{group}/participants"
    assert refused(await ada.post(path, {"userIds": ["c", "d", "e", "f"]}), HOUR)
    assert (await ada.post(path, {"userIds": ["c", "d", "e"]})).status == 200
    assert refused(await ada.post(path, {"userIds": ["c"]}), HOUR)
    assert refused(await ada.post("/conversations/group", {"userIds": ["c"]}), HOUR)
    await ada.group()


async def test_what_counts(serve: MakePeople) -> None:
    """What is refused does; what was there already, or could not be served, does not."""
    ada = (await serve(quotas=Quotas(messages_per_minute=3, conversations_per_hour=3)))("ada")
    direct = await ada.direct("bob")
    for _ in range(5):
        assert await ada.direct("bob") == direct
    path = f"/conversations/{direct}/messages"
    await ada.send(direct, "x", clientMessageId="k")
    with patch.object(Sequencer, "append", AsyncMock(side_effect=StorageUnavailable)):
        for _ in range(5):
            assert (await ada.post(path, {"body": "y"})).status == 503
    for _ in range(5):
        assert (await ada.post(path, {"body": "x", "clientMessageId": "k"})).status == 200
    assert (await ada.post(path, {"body": " "})).status == 400
    assert (await ada.post("/conversations/none/messages", {"body": "x"})).status == 404
    assert refused(await ada.post(path, {"body": "x"}), MINUTE)
    assert (await ada.post("/conversations", {"otherUserId": "ada"})).status == 400
    assert (await ada.post("/conversations", data=b"no JSON")).status == 400
    assert refused(await ada.post("/conversations", {"otherUserId": "carol"}), HOUR)


async def test_a_request_that_is_limited_otherwise_is_given_back(serve: MakePeople) -> None:
    ada = (
        await serve(quotas=Quotas(requests_per_minute=2), rate_limits={"list_invites": "1/hour"})
    )("ada")
    for _ in range(2):
        await ada.chat.api.list_conversations("ada")
    with patch.object(conversations, "ids_of_user", AsyncMock(side_effect=StorageUnavailable)):
        for _ in range(5):
            assert (await ada.get("/conversations")).status == 503
    assert (await ada.get("/conversations/none/invites")).status == 404
    for _ in range(5):
        assert refused(await ada.get("/conversations/none/invites"), HOUR)
    assert (await ada.get("/conversations")).status == 200
    assert refused(await ada.get("/conversations"), MINUTE)


def test_they_are_of_any_stretch_of_time_and_nobody_is_remembered_for_ever() -> None:
    now = [0.0]
    spending = Limits(limits_of(Quotas(messages_per_minute=3)), clock=lambda: now[0])
    for now[0] in (0, 30, 59):
        spending.count("ada", "messages")
    for now[0], wait in ((59, 1), (59.5, 1), (60, 0), (60, 30)):
        if wait:
            with pytest.raises(RateLimited) as limited:
                spending.count("ada", "messages")
            assert limited.value.retry_after == wait
        else:
            spending.count("ada", "messages")
    with pytest.raises(RateLimited) as limited:
        spending.count("ada", "messages", 4)
    assert limited.value.retry_after == MINUTE
    for user in range(1_000):
        spending.count(str(user), "messages")
    now[0] = 1_000
    spending.count("bob", "messages")
    assert len(spending) == 1


async def test_a_stream_that_could_not_be_opened_is_given_back(serve: MakePeople) -> None:
    ada = (await serve(quotas=Quotas(requests_per_minute=2)))("ada")
    live = ada.chat._live.feed._live
    with patch.object(sse, "OPENING_SECONDS", 0.01):
        live.clear()
        for _ in range(3):
            with pytest.raises(ServerDisconnectedError):
                await ada.get("/stream")
        live.set()
    async with ada.tab():
        pass
