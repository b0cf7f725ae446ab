"""A small world with some of everything that a chat's database can hold, made over HTTP."""

import asyncio
from dataclasses import dataclass
from typing import Any

from tests.admin.running import People


@dataclass(frozen=True)
class World:
    """`group` has a thread from `root` to `reply`, `answer` answers `root`, `plain` is by itself,
    `gone` is a tombstone; `direct` is of alice and bob, `blocked` of alice and mallory."""

    group: str
    channel: str
    direct: str
    blocked: str
    root: str
    reply: str
    answer: str
    plain: str
    gone: str
    code: str


async def make_world(people: People) -> World:
    alice, bob, carol = people("alice"), people("bob"), people("carol")
    group = await alice.group("bob", "carol", name="Engine room", metadata={"$topic": "x.y"})
    channel = await bob.group(visibility="public", joinPolicy="approval")
    direct, blocked = await alice.direct("bob"), await alice.direct("mallory")
    root = await alice.send(group, "root", mentions=["bob", "carol"])
    given: dict[str, Any] = {"threadRootMessageId": root["id"]}
    await bob.send(group, "in the thread", **given)
    reply = await carol.send(group, "in both", alsoSendToMain=True, **given)
    answer = await bob.send(group, "yes", replyToMessageId=root["id"], clientMessageId="key")
    plain = await carol.send(group, "plain")
    gone = await bob.send(group, "oops", **given)
    await bob.react(gone["id"], "👍")
    await bob.delete(gone["id"])
    await asyncio.gather(*(person.react(root["id"], "🦋") for person in (alice, bob, carol)))
    await alice.edit(root["id"], "the root", mentions=["bob"])
    await bob.read(group, reply["id"])
    await alice.read(group, gone["id"])
    for place in (direct, blocked):
        await alice.send(place, "hi")
    await alice.post(f"/messages/{plain['id']}/forward", {"conversationId": direct})
    await _moderate(people, plain["id"])
    return World(
        *(group, channel, direct, blocked, root["id"], reply["id"], answer["id"]),
        *(plain["id"], gone["id"], await _invite(people, group, channel)),
    )


async def _invite(people: People, group: str, channel: str) -> str:
    """People who come in by a link, ask to, are denied and leave; the link's code."""
    alice, bob = people("alice"), people("bob")
    here = f"/conversations/{group}"
    link = (await alice.post(f"{here}/invites", {"maxUses": 3})).json["invite"]["code"]
    asking = {"requiresApproval": True, "expiresInSeconds": 60}
    other = (await alice.post(f"{here}/invites", asking)).json["invite"]["code"]
    await people("dave").post(f"/invites/{link}/accept")
    await people("dave").call("DELETE", f"{here}/participants", json={"userId": "dave"})
    for user_id in ("erin", "frank", "gail"):
        await people(user_id).post(f"/invites/{other}/accept", {"message": "let me in"})
    for user_id, decision in (("erin", "approve"), ("frank", "deny")):
        body = {"userId": user_id, "decision": decision}
        answer = await alice.call("PATCH", f"{here}/join-requests", json=body)
        assert answer.status == 200, answer
    for user_id in ("erin", "frank"):
        await people(user_id).post(f"/conversations/{channel}/join")
    await bob.post(f"/conversations/{channel}/participants", {"userIds": ["erin"]})
    await alice.call("PATCH", f"{here}/participants", json={"userId": "bob", "role": "admin"})
    return str(other)


async def _moderate(people: People, message_id: str) -> None:
    alice, mod = people("alice"), people("mod")
    for user_id in ("mallory", "stranger"):
        await alice.post("/moderation/blocks", {"targetUserId": user_id})
    await people("mallory").post("/moderation/blocks", {"targetUserId": "alice"})
    await alice.post("/moderation/mutes", {"conversationId": await alice.group()})
    reports = []
    for kind, target in (("message", message_id), ("user", "mallory"), ("user", "mallory")):
        body = {"targetType": kind, "targetId": target, "reason": "spam"}
        report = (await alice.post("/moderation/reports", body)).json["report"]
        reports.append(report["id"])
        if len(reports) == 2:
            settled = {"status": "resolved"}
            await mod.call("PATCH", f"/moderation/reports/{report['id']}", json=settled)
    again = {"status": "triaged"}  # Another open report has its place: this one goes without.
    answer = await mod.call("PATCH", f"/moderation/reports/{reports[1]}", json=again)
    assert answer.status == 200, answer
    for user_id in ("troll", "mallory"):
        ban = (await mod.post("/moderation/bans", {"targetUserId": user_id})).json["ban"]
        await mod.call("DELETE", f"/moderation/bans/{ban['id']}")
    await mod.post("/moderation/bans", {"targetUserId": "troll", "reason": "again"})
