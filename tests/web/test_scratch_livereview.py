import asyncio, gc, time
from typing import Any
from unittest.mock import patch
import pytest
from datetime import UTC, datetime, timedelta
from chat_aio import Chat, Hooks, Options
from chat_aio.capabilities import Capability
from chat_aio.plugins import Plugin, Presence, Receipts, Typing
from chat_aio.plugins.attendance import Attendance
from chat_aio.live.replay import Replay
from chat_aio.live.streams import Stream
from chat_aio.plugin import ToldMessage
from chat_aio.store import missed
from chat_aio.store.signals import Signals
from tests.conftest import Database, MakePeople
from tests.support.ageing import age
from tests.support.membership import change
from tests.web.test_presence import of, shown, is_somewhere
from tests.web.test_gate import Rule
from tests.web.test_plugins import receipts


async def test_H1_broken_conversation_with_gate(serve: MakePeople, database: Database) -> None:
    rule = Rule()
    person = await serve(Hooks(can_read=rule), heartbeat_interval_ms=100)
    alice = person("alice")
    g = await alice.group("bob")
    async with person("bob").tab() as tab:
        await alice.send(g, "one")
        assert await tab.bodies(1) == ["one"]
        row = await database["conversations"].find_one({"_id": g})
        del row["epoch"]
        row["_id"] = "other"; row["change"]["addedUserIds"] = ["bob"]; row["change"]["id"] = "zz"
        await database["conversations"].insert_one(row)
        await alice.send(g, "two")
        await alice.told_all()
        try:
            async with asyncio.timeout(3):
                print(await tab.next())
        except TimeoutError:
            print("DEAF; keepalives", tab.comments)
    async with person("bob").client.get("/api/chat/stream", headers={"X-User": "bob"}) as r:
        print("reopen", r.status)
        assert r.status == 200


async def test_H2_slow_hook_stops_heartbeats(serve: MakePeople) -> None:
    rule = Rule()
    person = await serve(Hooks(can_read=rule), heartbeat_interval_ms=50)
    alice = person("alice")
    g = await alice.group("bob")
    async with person("bob").tab() as tab:
        rule.may_answer.clear()
        await asyncio.sleep(0.3)
        live = alice.chat._live
        n = 0
        beat = live.hub.beat
        async def counted():
            nonlocal n; n += 1; await beat()
        live.hub.beat = counted
        await asyncio.sleep(2)
        rule.may_answer.set()
        print("beats in 2 s of 50 ms:", n)
        assert n > 10


async def test_I_replay_retained(serve: MakePeople, person: Any, database: Database) -> None:
    alice = person("alice")
    g = await alice.group("bob")
    for n in range(20):
        await alice.send(g, "x" * 10000)
    later = await serve(ring_seconds=0)
    async with later("bob").tab(f"{g}:1") as tab:
        await tab.bodies(19)
        await alice.send(g, "live")
        await tab.bodies(1)
        gc.collect()
        kept = [o for o in gc.get_objects() if isinstance(o, Replay)]
        size = sum(len(f.chunk) for o in kept for f in o.frames)
        print(len(kept), size)
        assert size < 1000


async def test_J_many_receipts(serve: MakePeople, database: Database) -> None:
    users = [f"u{n}" for n in range(12)]
    person = await serve(plugins=[Receipts()])
    alice = person("alice")
    g = await alice.group(*users)
    await alice.send(g, "seen")
    for _ in range(10):
        await asyncio.gather(*(alice.chat.api.send_message("alice", g, "x") for n in range(95)))
    await alice.told_all()
    got = 0
    async with alice.tab() as hers:
        async def count():
            nonlocal got
            try:
                while True:
                    f = await hers.next()
                    if f.event == "receipt.delivered": got += 1
            except EOFError:
                print("CUT at", got)
        task = asyncio.create_task(count())
        tabs = [person(u).tab(f"{g}:1") for u in users]
        opened = await asyncio.gather(*(t.__aenter__() for t in tabs))
        await asyncio.gather(*(t.bodies(950) for t in opened))
        await asyncio.sleep(3)
        await alice.told_all()
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.gather(*(t.__aexit__(None, None, None) for t in tabs))
    print("got", got, "of", 950 * 12)
    assert got == 950 * 12


async def test_J2_sender_cut_by_receipts(serve: MakePeople, database: Database) -> None:
    person = await serve(plugins=[Receipts()])
    alice = person("alice")
    g = await alice.group("bob")
    await alice.send(g, "x")
    got = 0
    async with alice.tab() as hers:
        async def count():
            nonlocal got
            try:
                while True:
                    f = await hers.next()
                    if f.event == "receipt.delivered": got += 1
            except EOFError:
                print("CUT at", got)
        task = asyncio.create_task(count())
        seam = alice.chat.api.plugins[0].seam
        seam.tell(*[seam.ephemeral("receipt.delivered", "bob", {"messageId": f"{n:024}", "seq": n}, conversation_id=g, to_users=["alice"]) for n in range(9990)])
        await asyncio.sleep(3)
        await alice.told_all()
        await asyncio.sleep(1)
        task.cancel()
    print("got", got)
    assert got == 9990


async def test_K_go_live_after_end() -> None:
    told = []
    s = Stream("bob", max_bytes=1000, max_events=10, on_message=lambda u, m: told.append(m))
    s.end()
    setattr(s, "replay", Replay(messages=(ToldMessage("m", "c", 1, "alice"),))); s.go_live(None, chunked=True)  # type: ignore
    assert not told


async def test_L_mark_older(serve: MakePeople) -> None:
    person = await serve(plugins=[Receipts()])
    alice, bob = person("alice"), person("bob")
    g = await alice.group("bob")
    a, b = await alice.send(g, "a"), await alice.send(g, "b")
    await alice.told_all()
    async with alice.tab() as hers:
        await bob.read(g, b["id"])
        print(await receipts(hers, 1))
        await bob.read(g, a["id"])
        await bob.read(g, b["id"])
        await bob.send(g, "end")
        f = await hers.until(lambda f: f.event == "message.created" and f.data["message"]["body"] == "end")
        await asyncio.sleep(0.3)
        await alice.told_all()
        await alice.send(g, "end2")
        f += await hers.until(lambda f: f.event == "message.created" and f.data["message"]["body"] == "end2")
        extra = [x.data["payload"] for x in f if x.event == "receipt.read"]
        print(extra)
        assert not extra


async def test_M_round_poisoned(serve: MakePeople, person: Any, database: Database) -> None:
    alice = person("alice")
    g, h = await alice.group("bob"), await alice.group("eve")
    await alice.send(g, "seen"); await alice.send(h, "seen")
    m = await alice.send(g, "missed")
    row = await database["messages"].find_one({"_id": m["id"]})
    del row["deletedAt"]
    await database["messages"].insert_one({**row, "_id": "broken", "seq": 1000, "changedAt": datetime.now(UTC)})
    later = await serve(ring_seconds=0)
    async def status(u, c):
        async with later(u).client.get("/api/chat/stream", headers={"X-User": u, "Last-Event-ID": f"{c}:1"}) as r:
            return r.status
    st = await asyncio.gather(status("bob", g), status("eve", h))
    print(st)
    assert st == [200, 200]


async def test_N_zombie(serve: MakePeople, database: Database) -> None:
    """A process that was stalled and taken for dead; a stream opens before it notices."""
    plugins = [Presence(offline_delay_ms=50, lease_seconds=1.0) for _ in range(2)]
    one, two = await serve(plugins=plugins[:1]), await serve(plugins=plugins[1:])
    alice = one("alice")
    await alice.direct("bob")
    async with alice.tab() as hers:
        p = plugins[1]
        p._renewing.cancel(); await asyncio.wait({p._renewing})   # the stall
        while await database["processes"].count_documents({}) != 1:
            await asyncio.sleep(0.05)
        async with two("bob").tab():                                # awake again, a stream first
            assert await of(hers, "bob") is True
            p._renewing = asyncio.create_task(p._renew())
            await asyncio.sleep(1.0)
        try:
            async with asyncio.timeout(5):
                assert await of(hers, "bob") is False
        except TimeoutError:
            print(await database["presence"].find_one({"_id": "bob"}), await database["processes"].find().to_list(None))
            raise


class Fails(Plugin):
    async def open(self) -> None:
        raise RuntimeError("no")


async def test_O_open_failure(database: Database) -> None:
    p = Presence()
    chat = Chat(database, plugins=[p, Fails()])
    with pytest.raises(RuntimeError):
        await chat.open()
    done = p._renewing.done()
    p._renewing.cancel()
    assert done


async def test_Q_resolved_otherwise(serve: MakePeople) -> None:
    person = await serve(extra_events=True)
    alice, carol = person("alice"), person("carol")
    g = await alice.group("bob")
    async with alice.tab() as hers, carol.tab() as tab:
        await carol.post(f"/conversations/{g}/join-requests")
        await hers.event("join_request.created"); await tab.event("join_request.created")
        await alice.post(f"/conversations/{g}/participants", {"userIds": ["carol"]})
        await tab.event("participant.added")
        print(await tab.event("join_request.resolved"))


class Raises(Plugin):
    def stream_opened(self, user_id: str) -> None:
        if user_id == "bob":
            raise RuntimeError("oops")


async def test_S_opened_raises(serve: MakePeople, database: Database) -> None:
    person = await serve(plugins=[Presence(offline_delay_ms=1), Raises()])
    alice = person("alice")
    await alice.direct("bob")
    async with person("bob").client.get("/api/chat/stream", headers={"X-User": "bob"}) as r:
        print(r.status)
    await asyncio.sleep(0.5)
    assert (await shown(alice, "bob"))["bob"]["online"] is False


async def test_T_renew_dies(serve: MakePeople, database: Database) -> None:
    p = Presence(offline_delay_ms=1, lease_seconds=0.5)
    person = await serve(plugins=[p])
    alice = person("alice")
    await database["processes"].insert_one({"_id": "foreign", "seenAt": None})
    await database["presence"].insert_one({"_id": "x", "processes": "foreign", "lastSeenAt": datetime.now(UTC)})
    await asyncio.sleep(1)
    async with alice.tab():
        await asyncio.sleep(1)
        print(p._renewing)
        assert (await shown(alice, "alice"))["alice"]["online"] is True


async def test_U_streams_off(serve: MakePeople) -> None:
    person = await serve(plugins=[Presence(), Typing(), Receipts()], without={Capability.STREAMS}, extra_events=True)
    alice = person("alice")
    g = await alice.group("bob")
    m = await alice.send(g, "x")
    print(await shown(alice, "bob", "alice"), (await alice.post(f"/conversations/{g}/typing")).json, (await alice.get("/stream")).code)
    await person("bob").read(g, m["id"])
    print((await alice.get("/presence/")).json, (await alice.call("HEAD", "/presence")).status, (await alice.call("DELETE", "/presence")).code, (await alice.call("POST", "/presence")).code)
    r = await person("bob").client.get("/api/chat/presence"); print(r.status)


async def test_R_leave_rate(serve: MakePeople, database: Database) -> None:
    p = Presence(lease_seconds=30)
    person = await serve(plugins=[p])
    old = datetime.now(UTC) - timedelta(seconds=100)
    await database["presence"].insert_many([{"_id": f"u{n}", "processes": ["dead"], "lastSeenAt": old} for n in range(400)])
    await database["processes"].insert_one({"_id": "dead", "seenAt": old})
    t = time.monotonic()
    await p._attendance.sweep()
    print("one process, 400 users:", time.monotonic() - t)
