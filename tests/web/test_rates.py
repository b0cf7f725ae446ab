"""How often users may do what."""

import asyncio
import sys
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest

from chat_aio import Hooks, Options
from chat_aio.actions.rate_limits import Limits, RateLimits, rate_limits_from
from chat_aio.errors import RateLimited, SetupError, StorageUnavailable
from chat_aio.hooks import RateContext
from chat_aio.plugins import Plugin, PluginRequest, PluginRoute, Typing
from chat_aio.store import conversations
from chat_aio.store.sequencer import Sequencer
from tests.conftest import MakeChat, MakePeople

HOUR = {"send_message": "3/hour"}


async def test_a_user_is_limited_and_nobody_else(serve: MakePeople) -> None:
    people = await serve(rate_limits=HOUR)
    ada, bob = people("ada"), people("bob")
    group = await ada.group("bob")
    path = f"/conversations/{group}/messages"
    answers = await asyncio.gather(*(ada.post(path, {"body": "x"}) for _ in range(20)))
    assert sorted(answer.status for answer in answers) == [201] * 3 + [429] * 17
    refused = next(answer for answer in answers if answer.status == 429)
    assert refused.code == "RATE_LIMITED"
    assert 3_500 < int(refused.headers["Retry-After"]) <= 3_600
    assert len(await ada.listed(path)) == 3
    await bob.send(group, "x")
    await ada.edit((await ada.listed(path))[1]["id"], "not limited")


async def test_what_is_repeated_is_not_counted(serve: MakePeople) -> None:
    ada = (await serve(rate_limits=HOUR))("ada")
    group = await ada.group()
    path = f"/conversations/{group}/messages"
    await ada.send(group, "x", clientMessageId="k")
    for _ in range(5):
        assert (await ada.post(path, {"body": "x", "clientMessageId": "k"})).status == 200
    await ada.send(group, "y")
    await ada.send(group, "z")
    assert (await ada.post(path, {"body": "w"})).status == 429
    assert (await ada.post(path, {"body": "x", "clientMessageId": "k"})).status == 200


REFUSED: list[tuple[str, dict[str, Any], int]] = [
    ("/conversations/{group}/messages", {"json": {"body": " "}}, 400),
    ("/conversations/{group}/messages", {"data": b"no JSON"}, 400),
    ("/conversations/none/messages", {"json": {"body": "x"}}, 404),
    ("/conversations/{other}/messages", {"json": {"body": "x"}}, 403),
]


@pytest.mark.parametrize(("path", "request_", "status"), REFUSED)
async def test_what_is_refused_is_counted(
    serve: MakePeople, path: str, request_: dict[str, Any], status: int
) -> None:
    people = await serve(rate_limits=HOUR)
    ada = people("ada")
    names = {"group": await ada.group(), "other": await people("bob").group()}
    for _ in range(3):
        assert (await ada.post(path.format(**names), **request_)).status == status
    for _ in range(5):
        assert (await ada.post(path.format(**names), **request_)).status == 429
    sent = await ada.post(f"/conversations/{names['group']}/messages", {"body": "x"})
    assert sent.status == 429


async def test_what_storage_cannot_do_is_not_counted(serve: MakePeople) -> None:
    ada = (await serve(rate_limits={"send_message": "1/hour", "list_conversations": "1/hour"}))(
        "ada"
    )
    group = await ada.group()
    path = f"/conversations/{group}/messages"
    away = AsyncMock(side_effect=StorageUnavailable)
    with patch.object(Sequencer, "append", away), patch.object(conversations, "ids_of_user", away):
        for _ in range(3):
            assert (await ada.post(path, {"body": "x"})).status == 503
            assert (await ada.get("/conversations")).status == 503
    for expected in (201, 429):
        assert (await ada.post(path, {"body": "x"})).status == expected
    for expected in (200, 429):
        assert (await ada.get("/conversations")).status == expected


async def test_a_send_in_process_is_counted_once(make_chat: MakeChat) -> None:
    """It counts itself, so that plugins' sends are counted too, and not as one of all the rest."""
    chat = await make_chat(rate_limits={"send_message": "3/hour", "*": "1/hour"})
    group = await chat.api.create_group_conversation("ada")
    for number in range(3):
        await chat.api.send_message("ada", group.id, str(number))
    with pytest.raises(RateLimited):
        await chat.api.send_message("ada", group.id, "too much")


async def test_several_limits_and_all_the_rest(serve: MakePeople) -> None:
    limits = {"list_channels": "1/hour"} | {"mark_read": "9/hour", "*": "5/hour;2/minute"}
    with pytest.raises(ValueError, match="no method 'list_channels'"):
        await serve(rate_limits=limits)
    people = await serve(plugins=[Typing()], rate_limits={"*": "5/hour;2/minute"})
    ada = people("ada")
    group = await ada.group()
    statuses = [(await ada.get("/channels")).status for _ in range(3)]
    assert statuses == [200, 200, 429]
    typed = [(await ada.post(f"/conversations/{group}/typing")).status for _ in range(3)]
    assert typed == [200, 200, 429]
    revoked = [
        (await ada.call("DELETE", f"/conversations/{group}/invites/{number}")).status
        for number in range(3)
    ]
    assert revoked == [200, 200, 429]


async def test_both_doors_count_together(serve: MakePeople) -> None:
    ada = (await serve(rate_limits={"get_conversation": "2/hour"}))("ada")
    group = await ada.group()
    await ada.get(f"/conversations/{group}")
    await ada.chat.api.get_conversation("ada", group)
    with pytest.raises(RateLimited) as refused:
        await ada.chat.api.get_conversation("ada", group)
    assert refused.value.retry_after is not None
    assert refused.value.retry_after > 3_500


async def test_the_hosts_hook_goes_first(make_chat: MakeChat) -> None:
    asked: list[RateContext] = []

    async def rate_limit(context: RateContext) -> float | None:
        asked.append(context)
        return {"bot": 0, "pest": 7.2}.get(context.user_id)

    chat = await make_chat(Hooks(rate_limit=rate_limit), rate_limits={"*": "1/hour"})
    for _ in range(3):
        await chat.api.list_conversations("bot")
    with pytest.raises(RateLimited) as refused:
        await chat.api.list_conversations("pest")
    assert refused.value.retry_after == 8
    await chat.api.list_conversations("ada")
    with pytest.raises(RateLimited):
        await chat.api.list_conversations("ada")
    assert asked[-1] == RateContext(user_id="ada", method="list_conversations")


@pytest.mark.parametrize("written", ["often", "3/fortnight", ""])
async def test_a_limit_that_cannot_be_read(make_chat: MakeChat, written: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        await make_chat(rate_limits={"send_message": written})


def test_a_limit_that_is_written_twice_is_one() -> None:
    rates = Limits(rate_limits_from({"*": "4/minute;4/minute"}, methods=()))
    for _ in range(4):
        rates.count("ada", "x")
    with pytest.raises(RateLimited):
        rates.count("ada", "x")


def test_several_limits_say_when_all_of_them_allow_it() -> None:
    limits = rate_limits_from({"*": "2/second;2/minute"}, methods=())
    rates = Limits(limits, clock=lambda: 0.0)
    for _ in range(2):
        rates.count("ada", "x")
    with pytest.raises(RateLimited) as refused:
        rates.count("ada", "x")
    assert refused.value.retry_after == 60


def test_limits_are_of_any_stretch_of_time_and_nobody_is_remembered_for_ever() -> None:
    now = [0.0]
    rates = Limits(rate_limits_from({"*": "3/minute"}, methods=()), clock=lambda: now[0])
    for now[0] in (0, 30, 59):
        rates.count("ada", "x")
    with pytest.raises(RateLimited) as refused:
        rates.count("ada", "x")
    assert refused.value.retry_after == 1
    for now[0] in (60, 90):
        rates.count("ada", "x")
    with pytest.raises(RateLimited) as refused:
        rates.count("ada", "x")
    assert refused.value.retry_after == 29
    for user in range(1_000):
        rates.count(str(user), "x")
    now[0] = 1_000
    rates.count("bob", "x")
    assert len(rates) == 1


@pytest.mark.parametrize(
    "wrong", ["https://ours.example", ["*"], ["null"], ["https://Ours.example"], ["https://x/"]]
)
def test_origins_are_as_browsers_write_them(wrong: str | list[str]) -> None:
    with pytest.raises(ValueError, match="allowed_origins"):
        Options(allowed_origins=wrong)


class Looks(Plugin):
    """A route whose database is out of reach the first time."""

    def __init__(self) -> None:
        self.routes = (PluginRoute(method="POST", path="/looks", handler=self._look),)
        self._looked = False

    async def _look(self, request: PluginRequest) -> dict[str, Any]:
        if not self._looked:
            self._looked = True
            raise StorageUnavailable
        return {}


async def test_what_a_plugin_could_not_serve_is_not_counted(serve: MakePeople) -> None:
    ada = (await serve(rate_limits={"looks": "1/hour"}, plugins=[Looks()]))("ada")
    assert [(await ada.post("/looks", {})).status for _ in range(3)] == [503, 200, 429]


async def test_what_the_host_has_allowed_is_not_taken_back() -> None:
    """Nothing was counted then; an earlier call must not go."""
    answers = iter([None, 0, None])
    limits = RateLimits(
        Limits(rate_limits_from({"x": "1/hour"}, methods={"x"})),
        hook=lambda _: next(answers),
        patience=1,
    )
    await limits.count("ada", "x")
    with pytest.raises(StorageUnavailable):
        async with limits.counting("ada", "x"):
            raise StorageUnavailable
    with pytest.raises(RateLimited):
        await limits.count("ada", "x")


def test_without_limits_no_package_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "limits", None)
    assert rate_limits_from({}, methods=()) == {}
    with pytest.raises(SetupError, match="extra limits"):
        rate_limits_from({"*": "1/second"}, methods=())
