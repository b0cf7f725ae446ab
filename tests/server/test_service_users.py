"""Tokens and service users of `chat-aio serve`."""

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from click.testing import CliRunner
from pymongo import AsyncMongoClient

from chat_aio.admin.cli import main
from tests.conftest import Database
from tests.server.here import served_here
from tests.support.people import Answer, Tab
from tests.support.processes import Service, until
from tests.support.tokens import SECRET, bearer, jwk_of, token_of, write_jwks

BY_KEY = {"CHAT_AIO_JWT_KEY": SECRET}
GIVEN: dict[str, Any] = {
    "jwt_key": SECRET,
    "service_users": ["shop"],
    "conversation_keys": True,
    "editable_metadata": True,
    "extra_events": True,
}
OPTIONS = ("--service-user", "shop", "--conversation-keys", "--editable-metadata", "--extra-events")


@asynccontextmanager
async def served(
    mongo_url: str, database: str, *options: str, **environment: str
) -> AsyncIterator[Service]:
    service = Service(mongo_url, database, *options, environment={**BY_KEY, **environment})
    async with service.running():
        yield service
    assert "Traceback" not in service.log
    assert SECRET not in service.log


class Caller:
    """A user with a token."""

    def __init__(self, session: ClientSession, base: str, user_id: str, **claims: Any) -> None:
        self._session, self._base = session, base
        self.headers = bearer(token_of(user_id, **claims))

    async def call(self, method: str, path: str, body: Any = None) -> Answer:
        url = self._base + path
        async with self._session.request(method, url, json=body, headers=self.headers) as response:
            return Answer(response.status, await response.json(), response.headers)

    async def post(self, path: str, body: Any = None) -> Answer:
        return await self.call("POST", path, body)


async def test_what_service_users_may_do(mongo_url: str, database: Database) -> None:
    """And what other users may not, for whom all is as without them."""
    quotas = '{"messages_per_minute": 1, "requests_per_minute": null}'
    limits = '{"mark_read": "1/hour"}'
    async with (
        served(
            mongo_url, database.name, *OPTIONS, "--rate-limits", limits, CHAT_AIO_QUOTAS=quotas
        ) as service,
        ClientSession() as session,
    ):
        shop, ada, bob = (Caller(session, service.base, name) for name in ("shop", "ada", "bob"))
        keyed = {"key": "order:7", "name": "Order 7", "userIds": ["ada"], "metadata": {"n": 1}}
        assert (await ada.post("/conversations/group", keyed)).code == "KEY_NOT_ALLOWED"
        made = await shop.post("/conversations/group", keyed)
        assert made.status == 201
        admins = [
            participant["userId"]
            for participant in made.json["conversation"]["participants"]
            if participant["role"] == "admin"
        ]
        assert admins == ["shop"]
        path = f"/conversations/{made.json['conversation']['id']}"
        found = await shop.post("/conversations/group", keyed)
        assert (found.status, found.json["conversation"]["id"]) == (200, path.split("/")[2])

        # As themselves, whatever the body names.
        said = {"body": "Your parcel is on its way", "role": "system", "senderId": "ada"}
        for silent in (None, False, True):
            sent = await shop.post(f"{path}/messages", {**said, "silent": silent})
            assert (sent.status, sent.json["message"]["senderId"]) == (201, "shop")
        assert (await ada.post(f"{path}/messages", said)).code == "ROLE_NOT_ALLOWED"
        loud = {"body": "hi", "role": "user"}
        for wrong in ("yes", 1):
            answer = await shop.post(f"{path}/messages", {**loud, "silent": wrong})
            assert answer.code == "INVALID_INPUT"
        # Repeated: the same request, or another one.
        once = {**loud, "silent": True, "clientMessageId": "c"}
        assert [(await shop.post(f"{path}/messages", once)).status for _ in "12"] == [201, 200]
        other = await shop.post(f"{path}/messages", {**once, "silent": False})
        assert other.code == "MESSAGE_CONFLICT"

        # Quotas and limits: a refused message counts, too.
        assert (await ada.post(f"{path}/messages", loud)).code == "RATE_LIMITED"
        read = {"messageId": sent.json["message"]["id"]}
        for caller, codes in ((shop, [None, None]), (ada, [None, "RATE_LIMITED"])):
            assert [(await caller.post(f"{path}/read", read)).code for _ in "12"] == codes

        # A silent message of others; the quota of bob is still there.
        await shop.call("POST", f"{path}/participants", {"userIds": ["bob"]})
        refused = await bob.post(f"{path}/messages", {**loud, "silent": True})
        assert refused.code == "SILENT_NOT_ALLOWED"

        # Deletion, also of a conversation that it is not in.
        assert (await ada.call("DELETE", path)).code == "NOT_CONVERSATION_ADMIN"
        theirs = await ada.post("/conversations", {"otherUserId": "bob"})
        for gone in (path, f"/conversations/{theirs.json['conversation']['id']}"):
            assert (await shop.call("DELETE", gone, {"reason": "over"})).status == 200
            assert (await ada.call("GET", gone)).code == "CONVERSATION_NOT_FOUND"
    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        entries = client[database.name]["audit"].find({"actorUserId": "shop"})
        assert [entry["details"]["reason"] async for entry in entries] == ["over", "over"]


async def test_a_silent_message_is_stored_as_such(client_url: str, database: Database) -> None:
    async with (
        served_here(client_url, database.name, **GIVEN) as base,
        served_here(client_url, database.name, jwt_key=SECRET) as without,
        ClientSession() as session,
    ):
        shop = Caller(session, base, "shop")
        made = await shop.post("/conversations/group", {"name": "x", "userIds": ["ada"]})
        path = f"/conversations/{made.json['conversation']['id']}/messages"
        for place, silent, kept in (
            (base, True, True),
            (base, False, None),
            (base, None, None),
            (without, True, None),  # Without service users the field is as any unknown one.
        ):
            body = {"body": "psst", "silent": silent}
            sent = await Caller(session, place, "shop").post(path, body)
            assert sent.status == 201, sent
            found = await database["messages"].find_one({"_id": sent.json["message"]["id"]})
            assert (found or {}).get("silent") is kept


@pytest.mark.parametrize("rooms", [False, True])
async def test_metadata_of_conversations_that_they_are_in(
    client_url: str, database: Database, rooms: bool
) -> None:
    """Without being admins, and nothing else of them."""
    async with (
        served_here(client_url, database.name, **GIVEN, room_controls=rooms) as base,
        ClientSession() as session,
    ):
        shop, ada, bob = (Caller(session, base, name) for name in ("shop", "ada", "bob"))
        made = await ada.post("/conversations/group", {"name": "x", "userIds": ["bob"]})
        path = f"/conversations/{made.json['conversation']['id']}"
        change = {"metadata": {"state": "paid"}, "metadataVersion": 1}
        assert (await shop.call("PATCH", path, change)).code == "NOT_CONVERSATION_ADMIN"
        await ada.post(f"{path}/participants", {"userIds": ["shop"]})
        assert (await bob.call("PATCH", path, change)).code == "NOT_CONVERSATION_ADMIN"
        changed = await shop.call("PATCH", path, change)
        assert changed.json["conversation"]["metadata"] == {"state": "paid"}
        assert (await shop.call("PATCH", path, change)).code == "METADATA_CONFLICT"
        for more in ({"name": "mine"}, {"name": "mine", "metadata": {}}, {"visibility": "private"}):
            assert (await shop.call("PATCH", path, more)).code == "NOT_CONVERSATION_ADMIN"
        await ada.call("DELETE", f"{path}/participants", {"userId": "shop"})
        change = {"metadata": {"state": "gone"}}
        assert (await shop.call("PATCH", path, change)).code == "NOT_CONVERSATION_ADMIN"


async def test_moderators_by_claim(client_url: str, database: Database) -> None:
    given = {"jwt_key": SECRET, "jwt_moderator_claim": "mod", "moderators": ["grace"]}
    async with (
        served_here(client_url, database.name, **given) as base,
        ClientSession() as session,
    ):
        for user_id, claims, status in (
            ("ada", {"mod": True}, 200),
            ("ada", {}, 403),
            ("ada", {"mod": "true"}, 403),
            ("ada", {"mod": 1}, 403),
            ("ada", {"mod": None}, 403),
            ("grace", {}, 200),
        ):
            caller = Caller(session, base, user_id, **claims)
            answer = await caller.call("GET", "/moderation/bans")
            assert answer.status == status, (user_id, claims)


async def test_keys_change_while_it_serves(
    mongo_url: str, database: Database, tmp_path: Path
) -> None:
    """An unknown `kid`, SIGHUP, a file that is wrong; a stream ends whose key is gone."""
    secrets = {name: name * 32 for name in "abc"}
    jwks = {name: jwk_of(key.encode(), name, "HS256") for name, key in secrets.items()}
    path = write_jwks(tmp_path / "keys.json", jwks["a"])
    service = Service(
        mongo_url,
        database.name,
        *("--jwt-keys-file", str(path), "--heartbeat-interval-ms", "200"),
    )

    async with service.running(), ClientSession() as session:

        def headers(name: str) -> dict[str, str]:
            return bearer(token_of("ada", secrets[name], kid=name))

        async def statuses() -> dict[str, int]:
            found = {}
            for name in secrets:
                async with session.get(
                    f"{service.base}/conversations", headers=headers(name)
                ) as answer:
                    found[name] = answer.status
            return found

        write_jwks(path, jwks["a"], jwks["b"])
        assert await statuses() == {"a": 200, "b": 200, "c": 401}
        async with session.get(f"{service.base}/stream", headers=headers("a")) as response:
            write_jwks(path, jwks["b"], jwks["c"])
            service.send(signal.SIGHUP)
            await Tab(response).end()
        assert await statuses() == {"a": 401, "b": 200, "c": 200}
        path.write_text("{")
        service.send(signal.SIGHUP)
        await until(lambda: "the keys of before remain in use" in service.log)
        assert await statuses() == {"a": 401, "b": 200, "c": 200}
    assert not [key for key in secrets.values() if key in service.log]


JWKS = ("--jwt-keys-file", "keys.json")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "requests have no user: give --jwt-key KEY"),
        (("--jwt-key", SECRET, "--auth-header", "X-User"), "only one may name the users"),
        (("--jwt-key", SECRET, *JWKS), "only one may name the users"),
        (("--jwt-key", SECRET, "--app", "a:b"), "only one may name the users"),
        (("--auth-header", "X-User", "--service-user", "shop"), "--service-user needs tokens"),
        (("--app", "a:b", "--service-user", "shop"), "--service-user needs tokens"),
        (("--auth-header", "X", "--jwt-moderator-claim", "m"), "--jwt-moderator-claim needs"),
        (("--jwt-key", SECRET, "--moderator-header", "X"), "give --jwt-moderator-claim"),
        (("--jwt-key", "swordfish"), "too short: HS256 needs 32 bytes"),
        (("--jwt-key", SECRET, "--jwt-algorithm", "RS256"), "no key of RS256"),
        (JWKS, "keys.json: the keys cannot be read"),
    ],
)
def test_settings_that_cannot_be(
    given: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, before anything is started, and without the key."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keys.json").write_text("{")
    result = CliRunner().invoke(main, ["serve", *given])
    (line,) = result.output.splitlines()
    assert result.exit_code in (1, 2)
    assert said in line
    assert "swordfish" not in line
    assert SECRET not in line
