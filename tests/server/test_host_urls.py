"""Names and permissions of `chat-aio serve` from URLs of the host."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient
from click.testing import CliRunner

from chat_aio.admin.cli import main
from chat_aio.errors import HostUnavailable
from chat_aio.hooks import PermissionContext
from chat_aio.schema.models import Conversation
from chat_aio.server import host
from chat_aio.server.host import HostURL
from chat_aio.server.host_permissions import HostPermissions
from tests.conftest import Database
from tests.server.here import app_here
from tests.support.backend import WEBHOOK_SECRET, Backend
from tests.support.people import BASE, PATIENCE, Answer, Tab, app_caught_up
from tests.support.tokens import SECRET, bearer, token_of

Call = Callable[..., Any]


class Standalone:
    """The chat of `serve`, called by users with tokens."""

    def __init__(self, client: TestClient[web.Request, web.Application]) -> None:
        self.client = client

    async def call(self, user_id: str, method: str, path: str, body: Any = None) -> Answer:
        async with self.client.request(
            method, BASE + path, json=body, headers=bearer(token_of(user_id))
        ) as answer:
            return Answer(answer.status, await answer.json(), answer.headers)

    async def group(self, user_id: str, *others: str) -> str:
        made = await self.call(
            user_id, "POST", "/conversations/group", {"name": "x", "userIds": others}
        )
        assert made.status == 201, made
        return f"/conversations/{made.json['conversation']['id']}"

    async def told_all(self) -> None:
        """Wait until all that is committed now has been told to the streams."""
        assert self.client.app is not None
        await app_caught_up(self.client.app)

    async def send(self, user_id: str, path: str, body: str = "hi") -> Answer:
        return await self.call(user_id, "POST", f"{path}/messages", {"body": body})


@pytest.fixture
async def backend() -> Any:
    async with Backend() as opened:
        yield opened


@pytest.fixture
async def start(
    mongo_url: str, database: Database, aiohttp_client: Any, monkeypatch: pytest.MonkeyPatch
) -> Call:
    monkeypatch.setattr(host, "RESTING_SECONDS", 0.0)

    async def make(**given: Any) -> Standalone:
        app = await app_here(
            mongo_url,
            database.name,
            jwt_key=SECRET,
            service_users=["shop"],
            webhook_secret=WEBHOOK_SECRET,
            **given,
        )
        return Standalone(await aiohttp_client(app))

    return make


async def test_names_of_users(start: Call, backend: Backend) -> None:
    """Each is asked about once; unknown ones, and profiles that are wrong, are left out."""
    chat = await start(profiles_url=backend.url, search_users_url=backend.url)
    for _ in "12":
        found = await chat.call("ada", "GET", "/users?ids=ada,bob,eve")
        assert [user["name"] for user in found.json["users"]] == ["Ada", "Bob"]
    assert backend.questions == [{"type": "profiles", "userIds": ["ada", "bob", "eve"]}]
    backend.questions.clear()
    for _ in "12":
        found = await chat.call("ada", "GET", "/users?q=Bo&limit=5")
        assert [user["id"] for user in found.json["users"]] == ["bob"]
    asked = {"type": "users.search", "userId": "ada", "query": "Bo", "limit": 5}
    assert backend.questions == [asked]
    await chat.call("bob", "GET", "/users?q=Bo&limit=5")  # Of another user.
    assert len(backend.questions) == 2


@pytest.mark.parametrize(
    "profile",
    [{}, {"name": ""}, {"name": 7}, {"name": "x", "avatarUrl": "javascript:x"}, [], "Ada"],
)
async def test_a_wrong_profile_is_left_out(start: Call, backend: Backend, profile: Any) -> None:
    chat = await start(profiles_url=backend.url)
    listed = {"bob": {"name": "Bob", "avatarUrl": "/bob.png", "isBot": True}, "ada": profile}
    backend.reply = lambda: web.json_response({"profiles": listed})
    found = await chat.call("ada", "GET", "/users?ids=ada,bob")
    bob = {"id": "bob", "name": "Bob", "avatarUrl": "/bob.png", "isBot": True}
    assert found.json["users"] == [bob]


async def test_pages_do_without_names(start: Call, backend: Backend) -> None:
    chat = await start(profiles_url=backend.url)
    path = await chat.group("ada", "bob")
    await chat.send("ada", path)
    backend.reply = lambda: web.Response(status=500)
    page = await chat.call("ada", "GET", f"{path}/messages?include=users")
    assert (page.status, len(page.json["messages"])) == (200, 1)
    assert (await chat.call("ada", "GET", "/users?ids=bob")).code == "HOST_UNAVAILABLE"


async def test_who_may_create(start: Call, backend: Backend) -> None:
    chat = await start(permissions_url=backend.url)
    backend.allows = lambda asked: "eve" not in asked["userIds"]
    await chat.group("ada", "bob")
    body = {"userIds": ["bob", "eve"], "metadata": {"n": 1}}
    refused = await chat.call("ada", "POST", "/conversations/group", body)
    assert refused.code == "CREATE_NOT_ALLOWED"
    assert backend.of("create")[-1] == {
        "action": "create",
        "userId": "ada",
        "kind": "group",
        "userIds": ["bob", "eve"],
        "metadata": {"n": 1},
    }
    assert (await chat.call("ada", "POST", "/conversations", {"otherUserId": "eve"})).status == 403
    await chat.group("shop", "eve")  # The host need not ask itself.
    # Reading and writing are as by default.
    assert not backend.of("read")
    backend.reply = lambda: web.Response(status=500)
    assert (await chat.call("ada", "POST", "/conversations/group", {})).status == 503
    assert (await chat.call("ada", "GET", "/conversations")).status == 200


async def test_who_may_read_and_write(start: Call, backend: Backend) -> None:
    chat = await start(
        permissions_url=backend.url,
        permissions_read=True,
        permissions_write=True,
        permissions_cache_seconds="300",
        conversation_keys=True,
    )
    body = {"key": "order:7", "userIds": ["ada", "bob"], "metadata": {"open": True}}
    made = await chat.call("shop", "POST", "/conversations/group", body)
    conversation_id = made.json["conversation"]["id"]
    path = f"/conversations/{conversation_id}"
    backend.allows = lambda asked: asked["userId"] == "ada" or asked["action"] == "read"
    assert (await chat.send("ada", path)).status == 201
    assert (await chat.send("bob", path)).code == "FORBIDDEN_WRITE"
    assert (await chat.call("bob", "GET", path)).status == 200
    assert backend.of("write")[0] == {
        "action": "write",
        "userId": "ada",
        "role": "member",
        "conversation": {
            "id": conversation_id,
            "type": "group",
            "key": "order:7",
            "metadata": {"open": True},
        },
    }
    # Kept; and service users are as participants.
    count = len(backend.questions)
    assert (await chat.send("bob", path)).status == 403
    assert (await chat.send("shop", path)).status == 201
    theirs = await chat.group("ada")
    assert (await chat.send("shop", theirs)).status == 403
    assert not [user for user in backend.of("write") if user["userId"] == "shop"]
    backend.allows = lambda asked: asked["action"] == "write"
    assert (await chat.send("bob", path)).status == 403
    assert len(backend.of("write")) == 2
    assert len(backend.questions) == count + 1  # To create a conversation.

    async def is_kept() -> bool:
        asked = len(backend.questions)
        assert (await chat.call("bob", "GET", path)).code == "FORBIDDEN_READ"
        return len(backend.questions) == asked

    # Until it is forgotten.
    forget = ("POST", "/permissions/forget")
    for given in ({"userIds": ["bob"]}, {"conversationIds": [conversation_id]}):
        for user_id, status in (("bob", 404), ("shop", 200)):
            assert (await chat.call(user_id, *forget, given)).status == status
        assert (await chat.send("bob", path)).status == 201
        assert (await chat.call("bob", "GET", path)).code == "FORBIDDEN_READ"
        # A process receives its own notice, too, and forgets the answer once more.
        async with asyncio.timeout(PATIENCE):
            while not await is_kept():
                pass
    wrongs: list[Any] = [{}, {"userIds": []}, {"userIds": "bob"}, {"userIds": [7]}, None]
    wrongs.append({"userIds": [f"u{number}" for number in range(501)]})
    for wrong in wrongs:
        assert (await chat.call("shop", *forget, wrong)).code == "INVALID_INPUT"


async def test_all_processes_forget(start: Call, backend: Backend) -> None:
    """Also if many are to be forgotten at once, in several processes."""
    given = {
        "permissions_url": backend.url,
        "permissions_write": True,
        "permissions_cache_seconds": "300",
    }
    one, other = await start(**given), await start(**given)
    users = ["ada", *(f"u{number}" for number in range(20))]
    path = await one.group(*users)
    async with other.client.get(f"{BASE}/stream", headers=bearer(token_of("ada"))) as response:
        tab = Tab(response)
        answers = await asyncio.gather(*(other.send(user, path) for user in users))
        assert {answer.status for answer in answers} == {201}
        backend.allows = lambda asked: False
        forgetting = await asyncio.gather(
            *(
                one.call("shop", "POST", "/permissions/forget", {"userIds": [user]})
                for user in users
            )
        )
        assert {answer.status for answer in forgetting} == {200}
        # What follows in the feed shows that the other process has read the signals.
        await one.call("ada", "PATCH", path, {"name": "y"})
        await tab.until(lambda frame: frame.event == "conversation.updated")
        answers = await asyncio.gather(*(other.send(user, path) for user in users))
        assert {answer.code for answer in answers} == {"FORBIDDEN_WRITE"}


def conversation() -> Conversation:
    return Conversation(
        id="c",
        type="group",
        pair_key=None,
        name=None,
        created_at=datetime.now(UTC),
        metadata={},
        participants=(),
        visibility="private",
        join_policy="approval",
    )


def question_of(user_id: str) -> PermissionContext:
    return PermissionContext(user_id=user_id, conversation=conversation())


@pytest.fixture
async def url(backend: Backend) -> AsyncIterator[HostURL]:
    url = HostURL("permissions_url", backend.url, WEBHOOK_SECRET, hook_seconds=60)
    await url.open()
    yield url
    await url.close()


async def test_questions_are_batched(backend: Backend, url: HostURL) -> None:
    """100 in a request at most; each pair once, however many ask at the same time."""
    asking = HostPermissions(url, kept_seconds=0, is_service=lambda _: False)
    users = [f"u{number}" for number in range(250)]
    backend.allows = lambda asked: asked["userId"] != "u7"
    answers = await asyncio.gather(*(asking.can_read(question_of(user)) for user in users * 2))
    assert [answers[:250].index(False), answers.count(False)] == [7, 2]
    assert sorted(len(question["questions"]) for question in backend.questions) == [50, 100, 100]


async def test_what_is_forgotten_while_the_host_is_asked_is_not_kept(
    backend: Backend, url: HostURL
) -> None:
    asking = HostPermissions(url, kept_seconds=600, is_service=lambda _: False)
    question = question_of("ada")
    backend.held.clear()
    first = asyncio.create_task(asking.can_read(question))
    await backend.asked(lambda: len(backend.questions) == 1)
    asking.forget(["ada"], [])
    backend.held.set()
    assert await first
    backend.allows = lambda _: False
    assert not await asking.can_read(question)
    assert not await asking.can_read(question)
    assert len(backend.questions) == 2


async def test_the_old_answer_does_not_take_the_place_of_the_new_one(
    backend: Backend, url: HostURL
) -> None:
    """Both are under way at the same time."""
    asking = HostPermissions(url, kept_seconds=600, is_service=lambda _: False)
    question, answers = question_of("ada"), iter([True, False])
    backend.allows = lambda _: next(answers)
    backend.held.clear()
    first = asyncio.create_task(asking.can_read(question))
    await backend.asked(lambda: len(backend.questions) == 1)
    asking.forget(["ada"], [])
    second = asyncio.create_task(asking.can_read(question))
    await backend.asked(lambda: len(backend.questions) == 2)
    backend.held.set()
    assert (await first, await second) == (True, False)
    assert not await asking.can_read(question)
    assert len(backend.questions) == 2


async def test_a_storm_of_questions_while_permissions_end(backend: Backend, url: HostURL) -> None:
    """Whoever asks after an answer was forgotten does not get the old one, however many ask."""
    asking = HostPermissions(url, kept_seconds=600, is_service=lambda _: False)
    users = [f"u{number}" for number in range(30)]
    denied, forgotten, luck = set[str](), set[str](), Random(7)
    backend.allows = lambda asked: asked["userId"] not in denied

    async def ask() -> None:
        while len(forgotten) < len(users):
            user = luck.choice(users)
            is_over = user in forgotten
            assert not (await asking.can_read(question_of(user)) and is_over), user
            await asyncio.sleep(0)  # An answer that is kept comes without a turn of the loop.

    def is_asked(user: str, asked: int) -> bool:
        batches = [batch["questions"] for batch in backend.questions[asked:]]
        return any(user == question["userId"] for batch in batches for question in batch)

    async def end() -> None:
        for user in users:
            asking.forget([user], [])
            asked = len(backend.questions)
            old = asyncio.create_task(asking.can_read(question_of(user)))
            # Its answer is under way, and more users wait for it.
            await backend.asked(partial(is_asked, user, asked))
            denied.add(user)
            asking.forget([user], [])
            forgotten.add(user)
            await old

    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as tasks:
        tasks.create_task(end())
        for _ in range(50):
            tasks.create_task(ask())
    answers = await asyncio.gather(*(asking.can_read(question_of(user)) for user in users))
    assert not any(answers)


async def test_lists_and_streams_ask_together(start: Call, backend: Backend) -> None:
    chat = await start(
        permissions_url=backend.url, permissions_read=True, permissions_cache_seconds="300"
    )
    for _ in range(130):
        await chat.group("ada")
    backend.questions.clear()
    async with chat.client.get(f"{BASE}/stream", headers=bearer(token_of("ada"))) as response:
        assert response.status == 200
    assert len(backend.of("read")) == 130
    backend.questions.clear()
    assert (await chat.call("ada", "GET", "/conversations?limit=50")).status == 200
    assert backend.questions == []


WRONG: dict[str, Callable[[], web.StreamResponse]] = {
    "an error": lambda: web.json_response({"allowed": [True]}, status=500),
    "not found": lambda: web.json_response({"allowed": [True]}, status=404),
    "no JSON": lambda: web.Response(text="yes"),
    "nothing": lambda: web.Response(status=204),
    "a list": lambda: web.json_response([True]),
    "no answer": lambda: web.json_response({}),
    "too few": lambda: web.json_response({"allowed": []}),
    "too many": lambda: web.json_response({"allowed": [True, True]}),
    "a number": lambda: web.json_response({"allowed": [1]}),
    "a text": lambda: web.json_response({"allowed": ["true"]}),
    "an object": lambda: web.json_response({"allowed": {"0": True}}),
    "too large": lambda: web.json_response({"allowed": [True], "x": "x" * (1024 * 1024)}),
    "compressed": lambda: web.Response(
        body=b"\x1f\x8b", headers={"Content-Encoding": "gzip", "Content-Type": "application/json"}
    ),
    "a redirect": lambda: web.Response(status=307, headers={"Location": "/elsewhere"}),
    "another redirect": lambda: web.Response(status=302, headers={"Location": "/elsewhere"}),
}


async def test_an_answer_that_cannot_be_used_is_503(start: Call, backend: Backend) -> None:
    """Neither yes nor no: reading and writing are refused, and nothing is kept."""
    chat = await start(permissions_url=backend.url, permissions_read=True, permissions_write=True)
    path = await chat.group("ada", "bob")
    for name, reply in WRONG.items():
        backend.reply = reply
        for answer in (
            await chat.send("ada", path),
            await chat.call("ada", "GET", path),
            await chat.call("ada", "GET", f"{path}/messages"),
            await chat.call("ada", "GET", "/conversations"),
            await chat.call("ada", "POST", "/conversations/group", {"userIds": ["bob"]}),
        ):
            assert (answer.status, answer.code) == (503, "HOST_UNAVAILABLE"), name
            assert answer.headers["Retry-After"]
    assert backend.stolen == []
    backend.reply = None
    assert (await chat.send("ada", path)).status == 201
    page = await chat.call("ada", "GET", f"{path}/messages")
    assert len(page.json["messages"]) == 1


async def test_a_host_that_does_not_answer(start: Call, backend: Backend) -> None:
    """What needs no answer is served."""
    chat = await start(
        permissions_url=backend.url, permissions_write=True, hook_timeout_seconds="0.5"
    )
    path = await chat.group("shop", "ada")  # The host need not ask itself, within half a second.
    backend.held.clear()
    assert (await chat.send("ada", path)).code == "HOST_UNAVAILABLE"
    assert (await chat.call("ada", "GET", path)).status == 200


async def test_a_host_that_has_failed_is_left_alone(
    backend: Backend, url: HostURL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "RESTING_SECONDS", 1e9)
    backend.reply = lambda: web.Response(status=500)
    for _ in "12":
        with pytest.raises(HostUnavailable):
            await url.ask({"type": "profiles", "userIds": []})
    assert len(backend.questions) == 1


async def test_a_stream_delivers_nothing_that_is_not_confirmed(
    start: Call, backend: Backend
) -> None:
    chat = await start(
        permissions_url=backend.url,
        permissions_read=True,
        permissions_cache_seconds="0",
        heartbeat_interval_ms="100",
    )
    path = await chat.group("shop", "ada")
    headers = bearer(token_of("ada"))
    await chat.told_all()
    async with chat.client.get(f"{BASE}/stream", headers=headers) as response:
        tab = Tab(response)
        await chat.send("shop", path, "one")
        assert await tab.bodies(1) == ["one"]
        backend.reply = lambda: web.Response(status=500)
        backend.questions.clear()
        # The answers of a round are applied before the next round.
        await backend.asked(lambda: len(backend.of("read")) > 2)
        await chat.send("shop", path, "two")
        await chat.told_all()  # Held back: what comes once the host answers again is delivered.
        seen = len(backend.of("read"))
        await backend.asked(lambda: len(backend.of("read")) > seen + 1)
        backend.reply = None
        # It ends, so that its client refetches.
        with suppress(EOFError):
            while frame := await tab.next():
                assert frame.event != "message.created"
    again = {**headers, "Last-Event-ID": tab.last_event_id or ""}
    async with chat.client.get(f"{BASE}/stream", headers=again) as response:
        assert await Tab(response).bodies(1) == ["two"]


async def test_web_push_by_a_key(start: Call) -> None:
    key = "dM1zbPBpCdvS7mZ1WGtfmeMTqpyEcFCvtUdyIuAKNvg"
    chat = await start(
        push_private_key=key,
        push_subject="mailto:ops@example.org",
        webhook_url="http://127.0.0.1:9",
    )
    found = await chat.call("ada", "GET", "/notifications/devices")
    assert found.json["publicKey"]
    without = await start()
    assert (await without.call("ada", "GET", "/notifications/settings")).status == 404


URL = "https://shop.example/chat"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        *(
            ((f"--{name}-url", URL), f"--{name}-url and --webhook-secret")
            for name in ("webhook", "profiles", "permissions", "notifications")
        ),
        (("--webhook-secret", WEBHOOK_SECRET), "--webhook-secret needs a URL"),
        (("--profiles-url", "ftp://x", "--webhook-secret", WEBHOOK_SECRET), "must begin with"),
        (
            ("--search-users-url", URL, "--webhook-secret", WEBHOOK_SECRET),
            "--search-users-url needs --profiles-url",
        ),
        (("--permissions-read",), "need --permissions-url"),
        (("--permissions-write",), "need --permissions-url"),
        (("--permissions-cache-seconds", "301"), "at most 300"),
        (("--push-subject", "mailto:x@example.org"), "--push-private-key and --push-subject"),
        (("--push-subject", "x@example.org"), "must begin with mailto:"),
        (
            ("--push-private-key", "swordfish", "--push-subject", "mailto:x@example.org"),
            "push_private_key is no VAPID private key",
        ),
    ],
)
def test_settings_that_cannot_be(given: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(main, ["serve", "--jwt-key", SECRET, *given])
    (line,) = result.output.splitlines()
    assert said in line
    assert result.exit_code in (1, 2)
    assert "swordfish" not in line
    assert WEBHOOK_SECRET not in line
