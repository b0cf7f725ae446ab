"""Rows that another program has written wrongly: they are left out and named, and never an error
for those who read beside them."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any

import pytest
from pymongo import ReplaceOne

from chat_aio import Hooks
from chat_aio.actions.context import utc_now
from chat_aio.actions.maintenance import legal_holds
from chat_aio.actions.maintenance.check.database import violations_in
from chat_aio.plugins import (
    Attachments,
    BlockedWords,
    Filter,
    Notifications,
    Presence,
    Receipts,
    Typing,
)
from chat_aio.store.database import Database as Store
from chat_aio.store.shapes import DOCUMENTS
from tests.admin.world import World, make_world
from tests.conftest import Database, MakePeople
from tests.plugins.attachments.uploading import attached
from tests.plugins.webhooks.receiving import a_row
from tests.support.deleted import settled
from tests.support.drafts import a_draft
from tests.support.histories import roll_up_all
from tests.support.people import Person

HOOKS = Hooks(can_moderate=lambda asked: asked.user_id == "mod")
People = Callable[[str], Person]
LONG = pytest.mark.long


def broken_from(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Rows like this one without one of its fields, or with a field of another type."""
    for name in [key for key in row if key != "_id"]:
        yield {key: value for key, value in row.items() if key != name}
        yield {**row, name: ["x", 7] if isinstance(row[name], dict) else {"x": 1}}


async def plant(database: Database, collection: str, row: dict[str, Any]) -> None:
    await database[collection].replace_one(
        {"_id": row["_id"]}, row, upsert=True, bypass_document_validation=True
    )


async def everything(people: People, world: World) -> list[tuple[str, int]]:
    """What every route answers to those concerned: reads at once, then writes one by one."""

    async def call(user_id: str, method: str, path: str, body: Any) -> tuple[str, int]:
        given = {} if body is None else {"json": body}
        answer = await people(user_id).call(method, path, **given)
        return f"{user_id} {method} {path}", answer.status

    answers = await asyncio.gather(*(call(*read) for read in _reads(world)))
    held_id = await _held(people)
    return [*answers, *[await call(*write) for write in _writes(world, held_id)]]


Call = tuple[str, str, str, Any]


def _reads(world: World) -> Iterator[Call]:
    for here in (world.group, world.direct, world.blocked, world.channel):
        yield "alice", "GET", f"/conversations/{here}", None
        yield "alice", "GET", f"/conversations/{here}/messages?limit=2", None
    group = f"/conversations/{world.group}"
    for path in (
        *("/conversations", "/conversations?limit=1", "/channels", "/channels?limit=1"),
        *(f"{group}/messages", f"{group}/threads/{world.root}/messages", f"{group}/invites"),
        f"{group}/bans",
        *(
            f"{group}/messages/{message_id}"
            for message_id in (world.root, world.answer, world.gone)
        ),
        *(f"{group}/join-requests?status={name}" for name in ("pending", "approved", "denied")),
        *("/search/messages?q=root", "/search/messages?q=%E6%BC%A2%E5%AD%97"),
        *("/search/messages?senderId=bob", "/search/messages?mentions=bob&limit=1"),
        "/search/messages?hasAttachments=true",
        "/search/messages?since=2000-01-01T00:00:00Z&limit=2",
        *(f"/invites/{world.code}", "/moderation/blocks", "/moderation/mutes?limit=1"),
        "/presence?userIds=alice,bob,mallory",
        "/conversations?include=lastMessage,unread&q=o&unread=true",
        *(f"{group}/messages?{name}={world.root}" for name in ("around", "after")),
        *("/mentions", "/mentions?limit=1", "/threads", "/threads?limit=1", "/unread"),
        "/conversations?archived=false&favourite=false",
    ):
        yield "alice", "GET", path, None
    for path in (
        "held",
        "held?limit=1",
        "reports",
        "bans?activeOnly=false",
        "bans?limit=1&activeOnly=false",
        "bans",
    ):
        yield "mod", "GET", f"/moderation/{path}", None


async def _held(people: People) -> str:
    rows = people("mod").chat._context.database.held_messages
    row = await rows.find_one(sort={"_id": 1})
    return str(row["_id"])


def _writes(world: World, held_id: str) -> Iterator[Call]:
    group = f"/conversations/{world.group}"
    hi = {"body": "hi"}
    yield "alice", "POST", f"{group}/messages", {**hi, "replyToMessageId": world.root}
    yield "bob", "POST", f"{group}/messages", {**hi, "threadRootMessageId": world.root}
    yield "bob", "POST", f"{group}/messages", {"body": "yes", "clientMessageId": "key"}
    yield "alice", "POST", f"{group}/read", {"messageId": world.root}
    yield "alice", "POST", f"{group}/typing", None
    yield "alice", "POST", f"{group}/unread", {"messageId": world.root}
    yield "alice", "PATCH", f"{group}/view", {"archived": False, "hidden": False}
    thread = f"{group}/threads/{world.root}"
    yield "alice", "POST", f"{thread}/follow", None
    yield "alice", "POST", f"{thread}/read", {"messageId": world.root}
    yield "alice", "DELETE", f"{thread}/follow", None
    yield "alice", "PATCH", f"/messages/{world.root}", {"body": "root", "mentions": ["carol"]}
    yield "alice", "POST", f"/messages/{world.root}/reactions", {"emoji": "x"}
    yield "alice", "DELETE", f"/messages/{world.root}/reactions", {"emoji": "x"}
    yield "alice", "POST", f"/messages/{world.root}/forward", {"conversationId": world.direct}
    yield "alice", "POST", f"/messages/{world.plain}/forward", {"conversationId": world.direct}
    yield "alice", "DELETE", f"/messages/{world.root}", None
    yield "alice", "POST", "/conversations", {"otherUserId": "bob"}
    yield "alice", "POST", f"/conversations/{world.direct}/messages", hi
    yield "alice", "PATCH", group, {"name": "New"}
    yield "alice", "POST", f"{group}/participants", {"userIds": ["zoe"]}
    yield "alice", "PATCH", f"{group}/participants", {"userId": "zoe", "role": "admin"}
    yield "alice", "DELETE", f"{group}/participants", {"userId": "zoe"}
    yield "alice", "POST", f"{group}/invites", {}
    yield "gail", "POST", f"/invites/{world.code}/accept", None
    yield "heidi", "POST", f"/invites/{world.code}/accept", None
    yield "gail", "POST", f"{group}/join-requests", None
    yield "alice", "PATCH", f"{group}/join-requests", {"userId": "gail", "decision": "deny"}
    yield "heidi", "POST", f"/conversations/{world.channel}/join", None
    for target in ("mallory", "bob"):
        yield "alice", "POST", "/moderation/blocks", {"targetUserId": target}
        yield "alice", "DELETE", "/moderation/blocks", {"targetUserId": target}
    yield "alice", "POST", "/moderation/mutes", {"conversationId": world.group}
    for kind, target in (("user", "mallory"), ("message", world.plain)):
        body = {"targetType": kind, "targetId": target, "reason": "again"}
        yield "alice", "POST", "/moderation/reports", body
    yield "mod", "POST", "/moderation/bans", {"targetUserId": "oscar"}
    desk = "/moderation/tools"
    yield "mod", "GET", f"{desk}/messages?userId=alice&contains=a", None
    yield "mod", "GET", f"{desk}/messages?since=2020-01-01T00:00:00Z", None
    yield "mod", "GET", f"{desk}/messages/{world.plain}", None
    yield "mod", "GET", f"{desk}/messages/{world.plain}/versions", None
    yield "mod", "POST", f"{desk}/messages/{world.plain}/remove", {}
    yield "mod", "POST", f"{desk}/messages/{world.plain}/restore", None
    yield "mod", "POST", f"{desk}/removals", {"userId": "alice"}
    yield "mod", "GET", f"{desk}/users/mallory", None
    yield "mod", "GET", f"{desk}/reports", None
    yield "mod", "GET", f"{desk}/report-groups", None
    given = {"targetType": "user", "targetId": "mallory", "status": "triaged"}
    yield "mod", "POST", f"{desk}/report-groups/resolve", given
    yield "alice", "GET", "/notifications/settings", None
    yield "alice", "GET", f"{group}/notifications", None
    yield "alice", "PUT", f"{group}/notifications", {"level": "all"}
    yield "alice", "PUT", "/notifications/settings", {"quietHours": None}
    yield "alice", "GET", "/attachments/unknown", None
    yield "alice", "POST", f"{group}/messages", {**hi, "attachmentIds": ["unknown"]}
    held = {"body": "qqq", "clientMessageId": "held"}
    yield "alice", "POST", f"{group}/messages", held
    for act in ("discard", "release"):
        yield "mod", "POST", f"/moderation/held/{act}", {"heldId": held_id}


Row = dict[str, Any]
Planted = tuple[str, Row]

LANES: dict[str, tuple[tuple[str, ...], ...]] = {
    "the group": (("conversations",),),
    "its counter": (("counters",),),
    "a message and the rows around it": (
        *(("messages",), ("a direct conversation", "a direct counter")),
        *(("invites", "join_requests"), ("blocks", "mutes", "reports")),
        *(("message_versions", "thread_states"), ("bans", "conversation_bans", "audit")),
        *(("held_messages", "legal_holds"), ("deleted_conversations", "departures", "drafts")),
        ("presence", "processes", "settings", "signals", "daily_stats", "notification_devices"),
        ("notification_messages", "notifications", "notification_settings"),
        ("notification_shown", "webhook_deliveries"),
        ("attachments", "attachment_bytes.files", "attachment_bytes.chunks"),
    ),
}
"""What is broken at once: a row of each lane, where none of them hides another from its routes;
within a lane one after the other. No lane is much longer than that of the messages."""


async def row_of(database: Database, world: World, name: str) -> Planted:
    """A row that everybody's routes come by."""
    places: dict[str, tuple[str, Row]] = {
        "conversations": ("conversations", {"_id": world.group}),
        "counters": ("counters", {"_id": world.group}),
        "a direct conversation": ("conversations", {"_id": world.direct}),
        "a direct counter": ("counters", {"_id": world.direct}),
        "messages": ("messages", {"_id": world.root}),
        "settings": ("settings", {"erasures": {"$exists": True}}),
    }
    collection, where = places.get(name, (name, {}))
    row = await database[collection].find_one(where, sort={"_id": 1})
    assert row is not None, name
    return collection, row


async def lane_of(
    database: Database, world: World, names: tuple[str, ...], *, in_full: bool
) -> list[Planted]:
    """The rows that are broken one after the other. Each field of a row is broken in both ways, or,
    if not `in_full`, in one: it is missing in the first row, of another type in the second, and so
    on."""
    rows = [await row_of(database, world, name) for name in names]
    planted = [(collection, broken) for collection, row in rows for broken in broken_from(row)]
    return planted if in_full else planted[::4] + planted[3::4]


async def served(serve: MakePeople, database: Database) -> tuple[People, World]:
    """People, and a world with something in every collection."""
    plugins = [Presence(), Receipts(), Typing(), Filter([BlockedWords(["qqq"], action="hold")])]
    plugins += [Notifications(), Attachments()]
    # With extra events a deletion writes departures.
    options = {"extra_events": True, "inbox": True, "room_controls": True}
    people = await serve(
        HOOKS, plugins=plugins, moderation_tools=True, search_filters=True, **options
    )
    world = await make_world(people)
    await people("carol").edit(world.plain, "as it was")
    await people("alice").post(f"/conversations/{world.group}/bans", {"userId": "oscar"})
    await people("mod").post("/moderation/bans", {"targetUserId": "oscar"})
    context = people("mod").chat._context
    await legal_holds.place(context, "mod", "user", "nobody", "case 12")
    gone = await people("alice").group("bob")
    await people("alice").chat.conversations.delete_conversation("alice", gone)
    await settled(database, gone)
    for key in ("held", "another"):
        held = {"body": "qqq", "clientMessageId": key}
        await people("alice").post(f"/conversations/{world.group}/messages", held)
    await people("alice").post("/moderation/mutes", {"conversationId": world.group})
    followed = f"/conversations/{world.group}/threads/{world.root}/follow"
    assert (await people("alice").post(followed)).status == 200
    settings = people("mod").chat._context.settings
    pseudonym = await settings.pseudonym("bob")
    await database["settings"].insert_one({"_id": pseudonym, "erasures": 0})
    async with people("alice").tab():
        await people("alice").told_all()
    await roll_up_all(database)
    await be_notified(database, world)
    await attached(people("alice"), world.group)
    return people, world


async def be_notified(database: Database, world: World) -> None:
    """A row of each kind that notifications keep."""
    here, now = {"userId": "alice", "conversationId": world.group}, utc_now()
    named = {**here, "messageId": world.plain}
    message = {"conversationId": world.group, "seq": 2, "dueAt": now, "state": "decided"}
    await database["notification_messages"].insert_one({"_id": "noted", **message})
    await database["notifications"].insert_one(
        {
            "_id": {"userId": "alice", "messageId": world.plain},
            **named,
            "seq": 2,
            "at": now,
            "dueAt": now,
            "state": "dead",
            "held": False,
            "count": 1,
            "tries": 9,
            "notBefore": now,
            "done": [],
            "error": None,
        }
    )
    settings = database["notification_settings"]
    await settings.insert_one({"_id": here, **here, "level": "none"})
    stretch = {**here, "first": 1}
    await database["notification_shown"].insert_one(
        {"_id": stretch, **stretch, "last": 2, "at": now}
    )
    keys = {"p256dh": "x", "auth": "x"}
    row = {"userId": "alice", "kind": "web", "token": "https://push.example/x", "keys": keys}
    await database["notification_devices"].insert_one(
        {"_id": "s", **row, "createdAt": now, "failures": 0}
    )
    await database["webhook_deliveries"].insert_one(a_row("e", actorId="alice"))
    await database["drafts"].insert_one(a_draft(named["conversationId"], "alice", now))


def test_every_collection_is_in_a_lane() -> None:
    names = {name for lanes in LANES.values() for lane in lanes for name in lane}
    assert names - {"a direct conversation", "a direct counter"} == set(DOCUMENTS)


IN_FULL = [pytest.param(False, id="one way"), pytest.param(True, id="both ways", marks=LONG)]


@pytest.mark.parametrize("in_full", IN_FULL)
@pytest.mark.parametrize("lanes", LANES.values(), ids=LANES)
async def test_no_route_fails_for_a_broken_row(
    serve: MakePeople, database: Database, lanes: tuple[tuple[str, ...], ...], in_full: bool
) -> None:
    people, world = await served(serve, database)
    names = await database.list_collection_names()
    before = {name: await database[name].find().to_list() for name in names}
    chat = people("alice").chat
    broken = [await lane_of(database, world, names, in_full=in_full) for names in lanes]
    for at_once in zip_longest(*broken):
        planted = [planting for planting in at_once if planting is not None]
        for planting in planted:
            await plant(database, *planting)
        chat._context.snapshots.set_feed_live(True)  # Nothing is known of before.
        chat._context.bans.forget()
        failed = [answer for answer in await everything(people, world) if answer[1] >= 500]
        assert not failed, planted
        await put_back(database, before)


async def put_back(database: Database, before: dict[str, list[dict[str, Any]]]) -> None:
    async def put(name: str, rows: list[dict[str, Any]]) -> None:
        await database[name].delete_many({})
        # Not inserted: the chat, which works on, may have written its row again by now.
        if rows:
            written = [ReplaceOne({"_id": row["_id"]}, row, upsert=True) for row in rows]
            await database[name].bulk_write(written, ordered=False)

    await asyncio.gather(*(put(*item) for item in before.items()))


async def test_the_rest_of_a_page_is_there(serve: MakePeople, database: Database) -> None:
    """Paging goes on behind what cannot be read, and nothing that can be is left out."""
    person = await serve()
    alice = person("alice")
    group = await alice.group("bob")
    for number in range(9):
        await alice.send(group, str(number))
    await database["messages"].update_many(
        {"seq": {"$in": [2, 5, 6, 7, 8]}},
        {"$unset": {"mentions": ""}},
        bypass_document_validation=True,
    )
    await database["messages"].update_one(
        {"seq": 4}, {"$set": {"seq": "four"}}, bypass_document_validation=True
    )
    found: list[str] = []
    path = cursor = f"/conversations/{group}/messages?limit=2"
    while cursor:
        page = (await alice.get(cursor)).json
        found += [message["body"] for message in page["messages"]]
        cursor = page["nextCursor"] and f"{path}&cursor={page['nextCursor']}"
    assert found == ["8", "2", "0"]
    after = alice.chat.api.list_messages_after
    assert [message.body for message in await after("alice", group, 3, limit=2)] == ["8"]
    lost = await database["messages"].find_one({"seq": 2})
    answer = await alice.get(f"/conversations/{group}/messages/{(lost or {})['_id']}")
    assert (answer.status, answer.code) == (404, "MESSAGE_NOT_FOUND")


async def test_a_ban_that_cannot_be_read_stays_in_force(
    serve: MakePeople, database: Database
) -> None:
    person = await serve(HOOKS)
    past = datetime(2020, 1, 1, tzinfo=UTC)
    odd: list[dict[str, Any]] = [
        {"expiresAt": "soon"},
        {"expiresAt": None, "revokedAt": "no"},
        {"expiresAt": {"a": 1}, "revokedAt": False, "createdAt": "noon"},
        {},
    ]
    for number, fields in enumerate(odd):
        user_id = f"user {number}"
        await plant(database, "bans", {"_id": f"b{number}", "userId": user_id, **fields})
        await person("mod").told_all()
        assert (await person(user_id).get("/conversations")).code == "USER_BANNED"
    listed: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = (await person("mod").get(f"/moderation/bans?limit=1{cursor}")).json
        listed += [ban["id"] for ban in page["bans"]]
        cursor = page["nextCursor"] and f"&cursor={page['nextCursor']}"
    assert {"b0", "b3"} <= set(listed)
    await person("mod").call("DELETE", "/moderation/bans/b1")
    await plant(database, "bans", {"_id": "b0", "userId": "user 0", "expiresAt": past})
    await person("mod").told_all()
    for user_id in ("user 0", "user 1"):
        assert (await person(user_id).get("/conversations")).status == 200


async def test_a_block_that_cannot_be_read_stays_in_force(
    serve: MakePeople, database: Database
) -> None:
    person = await serve(HOOKS)
    alice, bob = person("alice"), person("bob")
    direct = await alice.direct("bob")
    for odd in ("alice", 7, ["alice", 7], {"alice": 1}):
        await database["conversations"].update_one(
            {"_id": direct}, {"$set": {"blockedBy": odd}}, bypass_document_validation=True
        )
        alice.chat._context.snapshots.set_feed_live(True)
        answer = await bob.post(f"/conversations/{direct}/messages", {"body": "x"})
        assert answer.status in (403, 404)
        for one, other in (("alice", "bob"), ("bob", "alice")):
            await person(one).post("/moderation/blocks", {"targetUserId": other})
            body = {"targetUserId": other}
            await person(one).call("DELETE", "/moderation/blocks", json=body)
        await bob.send(direct, "again")


async def test_check_names_each(serve: MakePeople, database: Database) -> None:
    people, world = await served(serve, database)
    await people("mod").chat.close()  # It would repair its own row, and sweep other processes'.
    planted = set()
    for collection in DOCUMENTS:
        _, row = await row_of(database, world, collection)
        odd = {"signals": "kind", "settings": "erasures", "counters": "floorSeq"}
        name = odd.get(collection) or next(key for key in row if key != "_id")
        await plant(database, collection, {**row, name: {"x": 1}})
        planted.add((collection, str(row["_id"])))
    found = await violations_in(Store(database))
    named = {(violation.collection, str(violation.id)) for violation in found}
    assert planted <= named
    assert {collection for collection, _ in planted} == set(DOCUMENTS)
