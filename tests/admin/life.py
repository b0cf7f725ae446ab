"""A user's life in a chat, with everything in it that names them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from bson import json_util

from chat_aio import Options
from chat_aio.actions.deletion import hide
from chat_aio.chat import operators_chat
from chat_aio.plugins import BlockedWords
from chat_aio.schema.wire import timestamp
from tests.admin.running import People
from tests.conftest import Database
from tests.plugins.webhooks.receiving import a_row
from tests.support.deleted import settled
from tests.support.drafts import a_draft
from tests.support.people import Answer, Person

USER = "mallory"
HELD = BlockedWords(["qqq"], action="hold")
OTHERS = ("alice", "bob")
MODERATORS = ("mod", USER)
PAST = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(kw_only=True)
class Life:
    """Where it took place, and what came of it: rows as the chat answered."""

    led: str
    shared: str
    direct: str
    fenced: str
    own: list[dict[str, Any]] = field(default_factory=list)
    touched: dict[str, dict[str, Any]] = field(default_factory=dict)
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


async def live(people: People, database: Database) -> Life:
    """Everything that can be said or done, by USER, to them, and about them."""
    alice, user = people("alice"), people(USER)
    led = await user.group("bob")
    await done(user, "POST", f"/conversations/{led}/participants", userIds=["alice"])
    alone = await user.group(name="nobody else")
    shared = await alice.group("bob", USER)
    life = Life(
        led=led, shared=shared, direct=await alice.direct(USER), fenced=await user.direct("bob")
    )
    life.rows["groupText"] = [{"conversationId": alone, "field": "name", "text": "nobody else"}]
    await _talk(people, life)
    await _change_minds(people, life)
    await _ask_in(people, life)
    await _ban_from_groups(people, life)
    await _keep_away(people, life)
    await _follow(people, life)
    await _be_held(people, life, database)
    await _report(people, life)
    await _ban(people, life, database)
    await _be_counted(life, database)
    await _be_told(life, database)
    await _upload(life, database)
    await _lose(people, life, database)
    return life


async def _lose(people: People, life: Life, database: Database) -> None:
    """A conversation that they delete, with the departures of its participants."""
    lost = await people("alice").group(USER)
    async with operators_chat(database, Options()) as operators:
        await hide(operators._context, USER, lost, None)
    people("alice").chat._context.removals.wake()
    await settled(database, lost)
    life.rows["departure"] = [{"conversationId": lost}]


async def _talk(people: People, life: Life) -> None:
    alice, bob, user = people("alice"), people("bob"), people(USER)
    here = life.shared
    named = await alice.send(here, "look here", mentions=[USER, "bob"])
    plain = await bob.send(here, "plain")
    first = await user.send(
        *(here, "what I think"),
        mentions=["alice", USER],
        metadata={"mood": "bad"},
        clientMessageId="key",
    )
    await alice.send(here, "an answer", replyToMessageId=first["id"])
    await bob.send(here, "in the thread", threadRootMessageId=first["id"])
    reply = await user.send(here, "in mine", threadRootMessageId=first["id"], alsoSendToMain=True)
    gone = await user.send(here, "regretted", clientMessageId="other")
    copy = await done(user, "POST", f"/messages/{plain['id']}/forward", conversationId=here)
    theirs = await done(bob, "POST", f"/messages/{first['id']}/forward", conversationId=here)
    elsewhere = [
        await user.send(conversation_id, "here too")
        for conversation_id in (life.led, life.direct, life.fenced)
    ]
    await alice.read(here, reply["id"])
    await user.read(here, named["id"])
    await alice.send(life.direct, "hello you")
    life.own = [first, reply, gone, copy["message"], *elsewhere]
    life.touched = {"named": named, "plain": plain, "forward": theirs["message"], "gone": gone}


async def _change_minds(people: People, life: Life) -> None:
    alice, bob, user = people("alice"), people("bob"), people(USER)
    gone, reply = life.touched["gone"], life.own[1]
    await user.delete(gone["id"])
    await user.edit(reply["id"], "in mine, too")
    life.rows["messageVersion"] = [
        {"messageId": gone["id"], "body": "regretted", "how": "deleted"},
        {"messageId": reply["id"], "body": "in mine", "how": "edited"},
    ]
    await alice.edit(life.touched["named"]["id"], "look here!")
    loud = await bob.send(life.shared, "too loud")
    await done(user, "POST", f"/moderation/tools/messages/{loud['id']}/remove")
    await done(user, "GET", f"/moderation/tools/users/alice?sharedWith={USER}")
    for emoji in ("👍", "🦋"):
        await user.react(life.touched["named"]["id"], emoji)
    await bob.react(life.touched["named"]["id"], "👍")
    for who in (bob, user):
        await who.react(life.own[0]["id"], "💡")
    await user.react(life.touched["plain"]["id"], "x")
    await user.unreact(life.touched["plain"]["id"], "x")


async def _ask_in(people: People, life: Life) -> None:
    alice, user = people("alice"), people(USER)
    link = await done(user, "POST", f"/conversations/{life.led}/invites")
    elsewhere = await alice.group()
    asked = await done(user, "POST", f"/conversations/{elsewhere}/join-requests", message="me")
    await done(people("eve"), "POST", f"/conversations/{life.led}/join-requests")
    at = f"/conversations/{life.led}/join-requests"
    denied = await done(user, "PATCH", at, userId="eve", decision="deny")
    life.rows["invite"] = [link["invite"]]
    life.rows["joinRequest"] = [asked["joinRequest"], denied["joinRequest"]]


async def _ban_from_groups(people: People, life: Life) -> None:
    """A ban of them, one that they made, and the time of a message in slow mode."""
    alice, user = people("alice"), people(USER)
    elsewhere = await alice.group()
    of_them = await done(alice, "POST", f"/conversations/{elsewhere}/bans", userId=USER)
    theirs = await done(user, "POST", f"/conversations/{life.led}/bans", userId="frank")
    life.rows["conversationBan"] = [of_them["conversationBan"], theirs["conversationBan"]]
    await done(alice, "PATCH", f"/conversations/{life.shared}", slowModeSeconds=3_600)
    life.own.append(await user.send(life.shared, "slowly"))


async def _keep_away(people: People, life: Life) -> None:
    bob, user = people("bob"), people(USER)
    pairs = ((user, "bob"), (bob, USER), (user, "carol"))
    made = [await done(who, "POST", "/moderation/blocks", targetUserId=whom) for who, whom in pairs]
    muted = await done(user, "POST", "/moderation/mutes", conversationId=life.shared)
    life.rows["block"] = [answer["block"] for answer in made]
    life.rows["mute"] = [muted["mute"]]


async def _follow(people: People, life: Life) -> None:
    root = life.own[0]
    thread = f"/conversations/{life.shared}/threads/{root['id']}"
    await done(people(USER), "POST", f"{thread}/follow")
    await done(people(USER), "POST", f"{thread}/read", messageId=root["id"])
    state = {"conversationId": life.shared, "rootId": root["id"], "follows": True}
    life.rows["threadState"] = [{**state, "lastReadSeq": root["seq"]}]


async def _be_held(people: People, life: Life, database: Database) -> None:
    """A message of theirs, and one that mentions them and that they were about to release."""
    at = f"/conversations/{life.led}/messages"
    for who, mentions in ((USER, []), ("alice", [USER])):
        answer = await people(who).post(at, {"body": "qqq", "mentions": mentions})
        assert answer.code == "MESSAGE_HELD"
    await database["held_messages"].update_one(
        {"senderId": "alice"}, {"$set": {"releasedBy": USER}}
    )
    page = (await people("mod").get("/moderation/held")).json
    life.rows["heldMessage"] = page["heldMessages"]


async def _report(people: People, life: Life) -> None:
    alice, user = people("alice"), people(USER)
    reported = (
        (user, "message", life.touched["plain"]["id"]),
        (user, "user", "bob"),
        (alice, "message", life.own[1]["id"]),
        (alice, "user", USER),
        (alice, "conversation", life.shared),
    )
    rows = []
    for who, kind, target in reported:
        given = {"targetType": kind, "targetId": target, "reason": "spam"}
        rows.append((await done(who, "POST", "/moderation/reports", **given))["report"])
    settled = f"/moderation/reports/{rows[0]['id']}"
    rows[0] = (await done(user, "PATCH", settled, status="resolved"))["report"]
    life.rows["report"] = rows


async def _ban(people: People, life: Life, database: Database) -> None:
    mod, user = people("mod"), people(USER)
    rows = []
    for who, whom in ((user, "eve"), (mod, USER)):
        ban = (await done(who, "POST", "/moderation/bans", targetUserId=whom))["ban"]
        rows.append((await done(who, "DELETE", f"/moderation/bans/{ban['id']}"))["ban"])
    expired = {"_id": "expired", "userId": USER, "createdByUserId": "mod", "expiresAt": PAST}
    await database["bans"].insert_one({**expired, "revokedAt": None, "activeUserId": USER})
    life.rows["ban"] = rows
    await database["presence"].insert_one({"_id": USER, "processes": [], "lastSeenAt": PAST})
    hold = {"targetType": "user", "targetId": "eve", "reason": "case 12"}
    theirs = {"_id": "user:eve", **hold, "createdByUserId": USER, "createdAt": PAST}
    await database["legal_holds"].insert_one(theirs)
    life.rows["legalHold"] = [{**hold, "createdAt": timestamp(PAST)}]
    life.rows["presence"] = [{"lastSeenAt": timestamp(PAST)}]


async def _be_counted(life: Life, database: Database) -> None:
    """A day of the statistics."""
    where = {"day": "2020-01-01", "conversationId": life.shared}
    counts = {"public": False, "messages": 3, "senderIds": ["alice", USER], "answers": [1, 1]}
    await database["daily_stats"].insert_one({"_id": "2020-01-01:shared", **where, **counts})
    life.rows["activeDay"] = [where]


async def _be_told(life: Life, database: Database) -> None:
    """A notification, what they have set, what a stream has shown, and a browser."""
    here = {"conversationId": life.shared}
    named = {"messageId": life.touched["plain"]["id"], **here}
    await database["notifications"].insert_one(
        {
            "_id": {"userId": USER, "messageId": named["messageId"]},
            "userId": USER,
            **named,
            "seq": 2,
            "at": PAST,
            "dueAt": PAST,
            "state": "delivered",
            "held": False,
            "count": 1,
            "tries": 0,
            "notBefore": PAST,
            "done": [],
            "error": None,
        }
    )
    await database["notification_settings"].insert_one(
        {"_id": {"userId": USER, **here}, "userId": USER, **here, "level": "none"}
    )
    stretch = {**here, "first": 1, "last": 2}
    await database["notification_shown"].insert_one(
        {"_id": {"userId": USER, **here, "first": 1}, "userId": USER, **stretch, "at": PAST}
    )
    phone = {"kind": "fcm", "token": "x"}
    row = {"_id": "s", "userId": USER, **phone, "keys": {}, "createdAt": PAST, "failures": 0}
    await database["notification_devices"].insert_one(row)
    about = {"type": "reaction.added", **named, "state": "delivered"}
    await database["webhook_deliveries"].insert_one(
        a_row("e", at=PAST, **about, actorId=USER, affectedUserIds=["alice", USER], emoji="👍")
    )
    at = timestamp(PAST)
    life.rows["webhookEvent"] = [{**about, "at": at}]
    life.rows["notification"] = [{**named, "state": "delivered", "dueAt": at}]
    life.rows["notificationSetting"] = [{**here, "level": "none"}]
    life.rows["shown"] = [{**stretch, "at": at}]
    await database["drafts"].insert_one(a_draft(life.shared, USER, PAST))
    life.rows["draft"] = [{**here, "text": "so far", "startedAt": at}]
    life.rows["device"] = [{"deviceKind": "fcm", "token": "x", "createdAt": at}]


async def _upload(life: Life, database: Database) -> None:
    """A file that a message of theirs carries."""
    shown = {"name": "me.txt", "contentType": "text/plain", "size": 3}
    drawn = {"width": None, "height": None, "hasThumbnail": False}
    kept = {"conversationId": life.shared, "state": "stored", "store": "gridfs", **shown}
    row = {"_id": "file", "userId": USER, **kept, **drawn, "createdAt": PAST, "keepUntil": PAST}
    await database["attachments"].insert_one(row)
    attached = [{"id": "file", **shown, **drawn}]
    await database["messages"].update_one(
        {"_id": life.own[1]["id"]}, {"$set": {"attachments": attached}}
    )
    life.rows["attachment"] = [{"id": "file", **kept, "createdAt": timestamp(PAST)}]


async def done(who: Person, method: str, path: str, **given: Any) -> dict[str, Any]:
    """The answer to a call that succeeds."""
    answer: Answer = await who.call(method, path, json=given)
    assert answer.status in (200, 201), answer
    body: dict[str, Any] = answer.json
    return body


async def text_of(database: Database) -> dict[str, str]:
    """All that stands in each collection, as text; short-lived signals aside."""
    return {
        collection_name: json_util.dumps(
            await database[collection_name].find().sort("_id", 1).to_list(None)
        )
        for collection_name in await database.list_collection_names()
        if collection_name != "signals"
    }
