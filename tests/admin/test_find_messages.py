"""`chat-aio moderation find`: by every option, newest first."""

from tests.admin.running import Moderate, People


async def test_messages_are_found(people: People, moderate: Moderate) -> None:
    alice, bob = people("alice"), people("bob")
    one, two = await alice.group("bob"), await bob.group("alice")
    first = await alice.send(one, "The red moth")
    reply = await bob.send(one, "A moth, 東京タワー", replyToMessageId=first["id"])
    moths = await alice.send(two, "moths")
    gone = await alice.send(two, "moth again")
    await alice.post("/moderation/blocks", {"targetUserId": "a stranger"})
    await alice.delete(gone["id"])
    wanted: dict[tuple[str, ...], list[str]] = {
        ("--user", "alice"): [gone["id"], moths["id"], first["id"]],
        ("--user", "alice", "--limit", "2"): [gone["id"], moths["id"]],
        ("--user", "alice", "--conversation", one): [first["id"]],
        ("--conversation", one): [reply["id"], first["id"]],
        ("--conversation", one, "--contains", "MOTH red"): [first["id"]],
        ("--user", "bob", "--contains", "京タ"): [reply["id"]],
        ("--since", first["createdAt"], "--contains", "moth"): [reply["id"], first["id"]],
        ("--conversation", two, "--until", first["createdAt"]): [],
        ("--user", "nobody"): [],
    }
    runs = [await moderate("find", *message_id, "--json") for message_id in wanted]
    for asked, got in zip(wanted, runs, strict=True):
        assert [message["id"] for message in got.json["messages"]] == wanted[asked], asked
        assert got.json["more"] == ("--limit" in asked)
    assert runs[3].json["messages"] == await alice.listed(f"/conversations/{one}/messages")
    table = await moderate("find", "--user", "alice", "--limit", "1")
    assert "(deleted)" in table.output
    assert "Finding" in table.errors
    assert "--limit" in table.errors


async def test_a_message_is_shown_with_what_is_around_it(
    people: People, moderate: Moderate
) -> None:
    alice = people("alice")
    group, other = await alice.group(), await alice.group()
    sent = []
    for number in range(5):
        sent.append(await alice.send(group, f"{number}"))
        await alice.send(other, "elsewhere")
    reply = await alice.send(group, "in a thread", threadRootMessageId=sent[0]["id"])
    await alice.delete(sent[4]["id"])
    for options, bodies in (
        (("--before", "1", "--after", "9"), ["2", "3", "", "in a thread"]),
        (("--before", "0", "--after", "0"), ["3"]),
        ((), ["0", "1", "2", "3", "", "in a thread"]),
    ):
        run = await moderate("context", sent[3]["id"], *options, "--json")
        assert [message["body"] for message in run.json["messages"]] == bodies
    table = await moderate("context", reply["id"], "--before", "1")
    assert [line.split()[0] for line in table.output.splitlines()] == [
        *("ID", sent[4]["id"], reply["id"]),
    ]
    assert "no such message" in (await moderate("context", "none")).refusal
