"""`chat-aio doctor`: each point turns red for what it looks at, and for nothing else."""

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from pymongo import AsyncMongoClient

from chat_aio import embedded
from chat_aio.admin.doctor import database as looking
from chat_aio.admin.doctor import proxy as in_front
from chat_aio.admin.doctor import versions
from chat_aio.admin.doctor.members import Member, judge_members
from chat_aio.admin.doctor.points import Point
from chat_aio.admin.doctor.proxy import check_http, points_of_proxy
from chat_aio.embedded import _end_with_parent, _free_port, find_mongod
from chat_aio.server.clients import client_of_member, is_direct
from chat_aio.store import indexes, privileges
from chat_aio.store.database import Database as Store
from chat_aio.store.maintenance import doctor
from chat_aio.store.maintenance.doctor import Oplog
from tests.admin.running import Run, Tool, run
from tests.conftest import Database
from tests.support.failpoints import failing
from tests.support.guarded import Guarded, documented_role, guarded
from tests.support.processes import serving
from tests.support.replica_set import ReplicaSet

HEARTBEAT = 0.3
TRIES = 10


def states_of(done: Run) -> dict[str, str]:
    """The state of each point, after a run whose exit code goes with them."""
    document = json.loads(done.output)
    states = {point["name"]: point["state"] for point in document["points"]}
    problems = [*states.values()].count("problem")
    assert document["problems"] == problems
    assert done.code == (1 if problems else 0)
    assert all(bool(point["advice"]) == (point["state"] != "ok") for point in document["points"])
    return states


def not_ok(states: dict[str, str]) -> dict[str, str]:
    """The points that are not ok, but for the version: that of the tests is never a recent one."""
    assert states.pop(versions.NAME, "warning") == "warning"
    return {name: state for name, state in states.items() if state != "ok"}


async def examine(url: str, database: str) -> dict[str, str]:
    """What is not ok."""
    done = await run("doctor", "--json", "--mongo-url", url, "--database", database)
    return not_ok(states_of(done))


@pytest.fixture
async def mongod(tmp_path: Path) -> AsyncIterator[Guarded]:
    async with guarded(tmp_path) as started:
        yield started


ONE_NODE = {"replica set": "warning"}
UNSEEN = {"feature compatibility": "unknown", "oplog": "unknown"}


async def test_users_and_what_they_may(mongod: Guarded) -> None:
    """The documented role is as it should be; one that lacks something, and root, are not."""
    for name in ("chat", "less", "least"):
        await indexes.apply(Store(mongod.admin[name]))
    assert await examine(await mongod.add_chat("chat"), "chat") == ONE_NODE | UNSEEN
    less = await examine(await mongod.add_chat("less", without=["changeStream"]), "less")
    assert less == ONE_NODE | UNSEEN | {"role": "problem", "change stream": "problem"}
    least = await mongod.add_user("nobody", "least")
    assert (await examine(least, "least"))["role"] == "problem"
    root = mongod.url("root", "admin")
    assert await examine(root, "chat") == ONE_NODE | {"role": "warning"}
    wrong = root.replace("secret", "guessed")
    assert await examine(wrong, "chat") == {"MongoDB": "problem"}
    await mongod.admin.admin.command("setFeatureCompatibilityVersion", "5.0")
    assert (await examine(root, "chat"))["feature compatibility"] == "problem"


def test_the_documented_role_is_what_is_needed() -> None:
    assert documented_role("chat")["privileges"] == privileges.needed("chat")
    assert privileges.lacking(privileges.needed("c", "p_"), "c", "p_") == []
    assert "insert on messages" in privileges.lacking(privileges.needed("c", "p_"), "c")
    anything = [{"resource": {"anyResource": True}, "actions": ["dropCollection"]}]
    assert privileges.surplus(anything, "c") == ["dropCollection"]
    elsewhere = [{"resource": {"db": "d", "collection": ""}, "actions": ["dropCollection"]}]
    assert privileges.surplus(elsewhere, "c") == []


@asynccontextmanager
async def standalone(folder: Path) -> AsyncIterator[str]:
    """A mongod that is no replica set."""
    port = _free_port()
    process = await asyncio.create_subprocess_exec(
        find_mongod(),
        *("--dbpath", folder, "--port", str(port), "--bind_ip", "127.0.0.1", "--nounixsocket"),
        stdout=asyncio.subprocess.DEVNULL,
        preexec_fn=_end_with_parent,
    )
    try:
        yield f"mongodb://127.0.0.1:{port}/"
    finally:
        process.terminate()
        await process.wait()


async def test_a_single_mongod(tmp_path: Path) -> None:
    async with standalone(tmp_path) as url, AsyncMongoClient[dict[str, Any]](url) as client:
        await indexes.apply(Store(client["chat"]))
        found = await examine(url, "chat")
    assert found["replica set"] == found["change stream"] == "problem"
    assert "indexes" not in found


async def test_a_mongod_that_is_away() -> None:
    url = "mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=200"
    assert await examine(url, "chat") == {"MongoDB": "problem"}


async def test_each_member_is_asked(tmp_path: Path) -> None:
    """Of three members one does not even refuse connections, and then it dies."""
    async with ReplicaSet(tmp_path) as mongods:
        async with AsyncMongoClient[dict[str, Any]](mongods.url) as client:
            await indexes.apply(Store(client["chat"]))
        assert await examine(mongods.url, "chat") == {"role": "warning"}
        primary = await mongods.wait_primary()
        dead, alive = [member for member in mongods.members if member is not primary]
        mongods.pause(dead)
        assert (await examine(mongods.url, "chat"))["members"] == "problem"
        await mongods.kill(dead)
        done = await run("doctor", "--mongo-url", mongods.url, "--database", "chat")
        assert f"{dead.host} does not answer" in done.output
        assert f"{alive.host} secondary" in done.output
        assert done.code == 1
        direct = f"mongodb://{primary.host}/?directConnection=true"
        assert (await examine(direct, "chat"))["members"] == "unknown"


def test_members_that_are_behind_or_out_of_order() -> None:
    now = datetime(2026, 1, 31)
    members = [Member("a:1", "primary", now), Member("b:1", "arbiter")]
    late = Member("c:1", "secondary", now - timedelta(seconds=11))
    judged = judge_members([*members, late], reachable=True)
    assert (judged.state, "c:1 is 11 s behind" in judged.found) == ("warning", True)
    close = Member("c:1", "secondary", now - timedelta(seconds=9))
    assert judge_members([*members, close], reachable=True).state == "ok"
    recovering = Member("c:1", "neither primary nor secondary")
    assert judge_members([*members, recovering], reachable=True).state == "problem"


@pytest.mark.parametrize(
    ("url", "direct"),
    [
        ("mongodb://u:p%40@a:1,b:2/chat?replicaSet=rs0&tls=true&authSource=x", False),
        ("mongodb+srv://u:p%40@cluster.example/chat?authSource=x", False),
        ("mongodb://u:p%40@a:1/chat?authSource=x&tls=true&directConnection=true", True),
    ],
)
async def test_a_client_of_a_member_keeps_login_and_tls(url: str, direct: bool) -> None:
    async with client_of_member(url, "b:2") as client:
        login = client.options.pool_options._credentials
        assert login is not None
        assert (login.username, login.password, login.source) == ("u", "p@", "x")
        assert client.options._options["tls"] is True
        assert [*client._topology_settings.seeds] == [("b", 2)]
    assert is_direct(url) is direct


async def test_members_behind_a_password(mongod: Guarded) -> None:
    await indexes.apply(Store(mongod.admin["chat"]))
    async with client_of_member(await mongod.add_chat("chat"), f"127.0.0.1:{mongod.port}") as one:
        assert (await one["chat"].command("connectionStatus"))["authInfo"]["authenticatedUsers"]


async def test_what_is_in_the_database(tool: Tool, database: Database) -> None:
    async def examined() -> dict[str, str]:
        return not_ok(states_of(await tool("doctor", "--json")))

    usual = ONE_NODE | {"role": "warning"}
    assert await examined() == usual
    await database["mutes"].drop_index("user_newest")
    assert await examined() == usual | {"indexes": "problem"}
    await tool("indexes", "apply")
    await database.command("collMod", "mutes", validator={})
    assert await examined() == usual | {"validators": "warning"}
    await tool("indexes", "apply")
    for version, state in ((99, "problem"), (0, "problem")):
        row = {"$set": {"version": version}}
        await database["settings"].update_one({"_id": "schema"}, row, upsert=True)
        assert await examined() == usual | {"schema version": state}
    await database["settings"].delete_one({"_id": "schema"})
    said = (await tool("doctor")).output
    assert "warning  role: MongoDB requires no password\n         -> start MongoDB with" in said


async def test_a_majority_that_does_not_answer(client_url: str) -> None:
    late = {"code": 64, "errmsg": "waiting for replication", "errInfo": {"wtimeout": True}}
    async with AsyncMongoClient[dict[str, Any]](client_url, appname="doctor") as client:
        store = Store(client["chat"])
        assert (await looking.check_majority(store)).state == "ok"
        async with failing(client, ["update"], app_name="doctor", writeConcernError=late):
            assert (await looking.check_majority(store)).state == "problem"


@pytest.mark.parametrize(("ahead", "state"), [(0, "ok"), (5, "warning"), (-5, "warning")])
async def test_clocks(database: Database, ahead: int, state: str) -> None:
    found = await looking.check_clock(Store(database), now=lambda: time.time() + ahead)
    assert found.state == state, found


async def test_the_oplog(database: Database) -> None:
    """That of the tests has room left; of a full one it counts how far it reaches."""
    found = await doctor.oplog(Store(database))
    assert found.seconds >= 0
    for oplog, state in (
        (Oplog(60, is_full=False), "ok"),
        (Oplog(60, is_full=True), "problem"),
        (Oplog(3_600, is_full=True), "warning"),
        (Oplog(86_400, is_full=True), "ok"),
    ):
        assert looking.judge_oplog(oplog, 300).state == state


CVE, OLD = "is open to CVE-2025-14847", "is past its end of life (2025-07-31)"
TODAY, BEFORE = date(2026, 1, 31), date(2025, 7, 31)


@pytest.mark.parametrize(
    ("version", "today", "set_name", "state", "found"),
    [
        ("5.0.31", TODAY, "rs0", "problem", "5.0.31"),
        ("6.0.5", TODAY, "chat", "warning", "6.0.5, the embedded mongod"),
        ("6.0.5", TODAY, "rs0", "warning", f"6.0.5 {CVE} and {OLD}"),
        ("6.0.26", BEFORE, "rs0", "warning", f"6.0.26 {CVE}"),
        ("6.0.27", TODAY, "rs0", "warning", f"6.0.27 {OLD}"),
        ("6.0.27", BEFORE, "rs0", "ok", "6.0.27"),
        ("7.0.27", TODAY, "rs0", "warning", f"7.0.27 {CVE}"),
        ("7.0.28", TODAY, "rs0", "ok", "7.0.28"),
        ("8.0.16", TODAY, "rs0", "warning", f"8.0.16 {CVE}"),
        ("8.0.17-rc0", TODAY, "rs0", "ok", "8.0.17-rc0"),
        ("8.2.2", TODAY, "rs0", "warning", f"8.2.2 {CVE}"),
        ("8.2.3", TODAY, "rs0", "ok", "8.2.3"),
    ],
)
def test_versions(version: str, today: date, set_name: str, state: str, found: str) -> None:
    judged = versions.judge_version(version, {"setName": set_name}, today)
    assert (judged.state, judged.found) == (state, found)


async def test_the_embedded_mongod_is_the_one_that_is_named(database: Database) -> None:
    """Unless the tests run on another one."""
    version = await doctor.version(Store(database))
    assert version in (embedded.VERSION, "6.0.27")


async def test_orphans_that_mongodb_does_not_end(database: Database, client_url: str) -> None:
    """As on Atlas's smaller tiers."""
    async with AsyncMongoClient[dict[str, Any]](client_url, appname="refused") as client:
        store = Store(client[database.name])
        assert (await looking.check_orphans(store)).state == "ok"
        async with failing(
            database.client, ["killSessions"], app_name="refused", errorCode=8000, times=1
        ):
            assert (await looking.check_orphans(store)).state == "warning"


async def test_members(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    said: dict[str, Any] = {}

    async def say(_: Store) -> dict[str, Any]:
        return said

    monkeypatch.setattr(doctor, "hello", say)
    for hello, state in (
        ({"msg": "isdbgrid"}, "ok"),
        ({"setName": "rs", "hosts": ["a", "b", "c"]}, "ok"),
        ({"setName": "rs", "hosts": ["a", "b"], "arbiters": ["c"]}, "warning"),
        ({"setName": "rs", "hosts": ["a"]}, "warning"),
    ):
        said = hello
        assert (await looking.check_replica_set(Store(database))).state == state, hello


class Proxy:
    """A proxy that passes on what comes as it comes, unless `keeps` says how many heartbeats it
    holds back. `adds` are headers of the answer; `waits` seconds pass before a first byte."""

    def __init__(
        self, upstream: str, *, keeps: int = 0, adds: dict[str, str] | None = None, waits: float = 0
    ) -> None:
        self._upstream, self._keeps, self._adds, self._waits = upstream, keeps, adds or {}, waits

    async def answer(self, request: web.Request) -> web.StreamResponse:
        url = f"{self._upstream}{request.path_qs}"
        async with ClientSession() as session, session.get(url, headers=request.headers) as got:
            kept = {"Content-Type": got.headers["Content-Type"]}
            response = web.StreamResponse(status=got.status, headers=kept | self._adds)
            await response.prepare(request)
            held = b""
            await asyncio.sleep(self._waits)
            async for chunk in got.content.iter_any():
                held += chunk
                if held.count(b": keep-alive") >= self._keeps:
                    await response.write(held)
                    held = b""
            await response.write_eof()
        return response


async def seen_through(aiohttp_client: Any, proxy: Proxy, **headers: str) -> dict[str, Point]:
    app = web.Application()
    app.router.add_get("/{path:.*}", proxy.answer)
    client = await aiohttp_client(app)
    url = str(client.make_url("/api/chat"))
    points = points_of_proxy(url, headers, heartbeat=HEARTBEAT)
    return {point.name: point async for point in points}


async def test_a_proxy_in_front(
    mongo_url: str, database: Database, aiohttp_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that passes on; and those that hold back, compress, are slow, or reach nothing."""
    # What is at once on a busy machine, too.
    monkeypatch.setattr(in_front, "AT_ONCE_SECONDS", 6.0)
    interval = ("--heartbeat-interval-ms", str(int(HEARTBEAT * 1000)))
    user = {"X-User": "doctor"}

    def red(points: dict[str, Point]) -> list[str]:
        return [name for name, point in points.items() if point.state != "ok"]

    async with serving(mongo_url, database.name, *interval) as base:
        origin = base.removesuffix("/api/chat")
        # A process that is not scheduled for a while gets two heartbeats together: it looks again.
        for _ in range(TRIES):
            through = await seen_through(aiohttp_client, Proxy(origin), **user)
            if not red(through):
                break
        assert red(through) == [], through
        assert list(through) == ["readyz", "HTTP", "stream's headers", "stream", "heartbeats"]
        for proxy, name in (
            (Proxy(origin, keeps=100), "stream"),
            (Proxy(origin, keeps=3), "heartbeats"),
            (Proxy(origin, adds={"Content-Encoding": "gzip"}), "stream's headers"),
        ):
            seen = await seen_through(aiohttp_client, proxy, **user)
            assert name in red(seen), (name, seen)
        monkeypatch.setattr(in_front, "AT_ONCE_SECONDS", 0.5)
        slow = await seen_through(aiohttp_client, Proxy(origin, waits=1), **user)
        assert "stream" in red(slow), slow
        monkeypatch.setattr(in_front, "AT_ONCE_SECONDS", 6.0)
        assert red(await seen_through(aiohttp_client, Proxy(origin))) == ["stream"]
    gone = await seen_through(aiohttp_client, Proxy(origin), **user)
    assert red(gone) == ["readyz", "stream"]


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 that has signed itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    place, private = folder / "certificate", folder / "private"
    place.write_bytes(made.public_bytes(Encoding.PEM))
    plain = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    private.write_bytes(key.private_bytes(*plain))
    return place, private


@pytest.mark.parametrize(
    ("offers", "trusted", "state"),
    [(["h2"], True, "ok"), (["http/1.1"], True, "warning"), (["h2"], False, "problem")],
)
async def test_what_tls_agrees_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    offers: list[str],
    trusted: bool,
    state: str,
) -> None:
    certificate, private = make_certificate(tmp_path)
    offering = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    offering.load_cert_chain(certificate, private)
    offering.set_alpn_protocols(offers)

    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with await asyncio.start_server(hang_up, "127.0.0.1", 0, ssl=offering) as server:
        port = server.sockets[0].getsockname()[1]
        found = await check_http(f"https://127.0.0.1:{port}/api/chat")
    assert found.state == state, found


async def test_a_header_that_is_none() -> None:
    done = await run("doctor", "--header", "X-User")
    assert (done.code, "'Name: value'" in done.errors) == (2, True)
