"""Whoever keeps the conversation of an answer keeps a right count: each has the caller's own."""

import asyncio
from collections.abc import Callable
from typing import Any

from tests.support.people import Answer, Person

People = Callable[[str], Person]


def shown(answer: Answer) -> tuple[int, int]:
    """The status, and the unread count of the conversation that an answer has."""
    return answer.status, answer.json["conversation"]["unreadCount"]


async def asked(who: Person, method: str, path: str, **json: Any) -> tuple[int, int]:
    return shown(await who.call(method, path, json=json))


async def test_every_change_of_a_group_answers_with_the_callers_count(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob", name="tea")
    for body in ("one", "two", "three"):
        await bob.send(group, body)
    await alice.send(group, "my own")
    here = f"/conversations/{group}"
    there = f"{here}/participants"
    for name in ("tea", "coffee"):  # The first changes nothing.
        assert await asked(alice, "PATCH", here, name=name) == (200, 3)
    for _ in range(2):
        assert await asked(alice, "POST", there, userIds=["carol"]) == (200, 3)
        assert await asked(alice, "PATCH", there, userId="bob", role="admin") == (200, 3)
    assert await asked(bob, "PATCH", here, name="water") == (200, 1)
    for _ in range(2):
        assert await asked(alice, "DELETE", there, userId="carol") == (200, 3)
    assert await asked(bob, "DELETE", there, userId="bob") == (200, 0)


async def test_who_gets_in_is_told_how_much_is_unread(person: People) -> None:
    alice = person("alice")
    group = await alice.group(name="tea", visibility="public", joinPolicy="open")
    for body in ("one", "two"):
        await alice.send(group, body)
    here = f"/conversations/{group}"
    assert await asked(person("joiner"), "POST", f"{here}/join") == (200, 2)
    invite = (await alice.post(f"{here}/invites", {})).json["invite"]["code"]
    for _ in range(2):  # Let in, then in already.
        assert await asked(person("guest"), "POST", f"/invites/{invite}/accept") == (200, 2)
    await person("guest").send(group, "hi")
    assert await asked(person("guest"), "POST", f"/invites/{invite}/accept") == (200, 2)

    given = {"requiresApproval": True}
    gated = (await alice.post(f"{here}/invites", given)).json["invite"]["code"]
    asker = person("asker")
    assert (await asker.post(f"/invites/{gated}/accept")).json["conversation"] is None
    decided = {"userId": "asker", "decision": "approve"}
    assert await asked(alice, "PATCH", f"{here}/join-requests", **decided) == (200, 1)
    assert await asked(asker, "POST", f"/invites/{gated}/accept") == (200, 3)


async def test_in_process_answers_have_it_too(person: People) -> None:
    api = person("alice").chat.api
    group = await api.create_group_conversation("alice", user_ids=["bob"])
    await api.send_message("bob", group.id, "hi")
    assert (await api.update_conversation("alice", group.id, name="tea")).unread_count == 1
    assert (await api.add_participants("alice", group.id, ["carol"])).unread_count == 1
    assert (await api.remove_participant("bob", group.id, "bob")).unread_count == 0


async def test_counts_are_right_while_others_send(person: People) -> None:
    """Never less than what had been answered before, never more than what was begun by then."""
    api = person("alice").chat.api
    group = await api.create_group_conversation("alice", user_ids=["bob", "carol"])
    begun = answered = 0

    async def send(user_id: str) -> None:
        nonlocal begun, answered
        for _ in range(15):
            begun += 1
            await api.send_message(user_id, group.id, "hi")
            answered += 1

    async def rename(number: int) -> None:
        for turn in range(10):
            least = answered
            changed = await api.update_conversation("alice", group.id, name=f"{number} {turn}")
            assert least <= changed.unread_count <= begun

    sending = [send(name) for name in ("bob", "carol") * 3]
    await asyncio.gather(*sending, *map(rename, range(3)))
    assert (await api.update_conversation("alice", group.id, name="tea")).unread_count == 90
