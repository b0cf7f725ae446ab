"""What people do all at once while a database is checked; each act is done again and again. Some
of it is refused, as somebody else was faster."""

from collections.abc import Awaitable, Callable

from tests.admin.running import People
from tests.admin.world import World

Act = Callable[[People, World, int], Awaitable[None]]


async def talk(people: People, world: World, turn: int) -> None:
    sent = await people("bob").send(world.group, f"{turn}")
    await people("bob").send(world.group, "so it is", threadRootMessageId=world.root)
    await people("erin").send(world.group, "no", replyToMessageId=sent["id"])
    await people("alice").post(f"/conversations/{world.direct}/messages", {"body": "there?"})


async def read(people: People, world: World, turn: int) -> None:
    reader = people(("alice", "carol", "erin")[turn % 3])
    newest = await reader.listed(f"/conversations/{world.group}/messages?limit=1")
    await reader.read(world.group, newest[0]["id"])


async def change(people: People, world: World, turn: int) -> None:
    sent = await people("carol").send(world.group, "as I say", mentions=["bob"])
    await people("alice").react(sent["id"], "👍")
    await people("carol").edit(sent["id"], f"as I said {turn}")
    await people("alice").unreact(sent["id"], "👍")
    await people("carol").delete(sent["id"])


async def come_and_go(people: People, world: World, turn: int) -> None:
    user = people(f"guest {turn}")
    here = f"/conversations/{world.group}"
    await user.post(f"/invites/{world.code}/accept")
    body = {"userId": user.user_id, "decision": "approve"}
    await people("alice").call("PATCH", f"{here}/join-requests", json=body)
    await user.post(f"{here}/messages", {"body": "here I am"})
    await user.call("DELETE", f"{here}/participants", json={"userId": user.user_id})


async def block(people: People, world: World, turn: int) -> None:
    bob = people("bob")
    await bob.direct(f"stranger {turn}")
    await bob.post("/moderation/blocks", {"targetUserId": "alice"})
    await bob.call("DELETE", "/moderation/blocks", json={"targetUserId": "alice"})


async def report(people: People, world: World, turn: int) -> None:
    body = {"targetType": "message", "targetId": world.plain, "reason": f"{turn}"}
    report = (await people("erin").post("/moderation/reports", body)).json["report"]
    for status in ("dismissed", "triaged", "resolved"):
        path = f"/moderation/reports/{report['id']}"
        await people("mod").call("PATCH", path, json={"status": status})
    ban = (await people("mod").post("/moderation/bans", {"targetUserId": "x"})).json["ban"]
    await people("mod").call("DELETE", f"/moderation/bans/{ban['id']}")


ACTS: tuple[Act, ...] = (talk, read, change, come_and_go, block, report)
