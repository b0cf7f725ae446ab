"""Mutes: a hint for the client, and no more."""

from tests.support.ageing import next_millisecond
from tests.support.moderating import People


async def test_mutes_are_a_hint(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    direct, group = await alice.direct("bob"), await bob.group("alice")
    made = await alice.post("/moderation/mutes", {"conversationId": direct})
    assert made.json["mute"] == {
        "userId": "alice",
        "conversationId": direct,
        "createdAt": made.json["mute"]["createdAt"],
    }
    again = await alice.post("/moderation/mutes", {"conversationId": direct})
    assert again.json == made.json
    await next_millisecond()
    await alice.post("/moderation/mutes", {"conversationId": group})
    page = (await alice.get("/moderation/mutes?limit=1")).json
    assert [mute["conversationId"] for mute in page["mutes"]] == [group]
    async with alice.tab() as tab:
        await bob.send(direct, "hi")
        assert await tab.bodies(1) == ["hi"]
    assert await alice.unread(direct) == 1
    body = {"conversationId": group}
    await bob.call("DELETE", f"/conversations/{group}/participants", json={"userId": "alice"})
    for _ in range(2):
        answer = await alice.call("DELETE", "/moderation/mutes", json=body)
        assert answer.json == {"ok": True}
    for where, status, code in (
        (group, 403, "FORBIDDEN_READ"),
        ("none", 404, "CONVERSATION_NOT_FOUND"),
        ("", 400, "INVALID_INPUT"),
    ):
        answer = await alice.post("/moderation/mutes", {"conversationId": where})
        assert (answer.status, answer.code) == (status, code)
