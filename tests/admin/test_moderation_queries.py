"""`scripts/moderation`: the moderators' queries, over what people have done in a chat."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from chat_aio.plugins import BlockedWords, Filter
from chat_aio.store.database import Database as Store
from tests.admin.running import AS_MOD, Moderate, People, Run, kept
from tests.conftest import Database, MakePeople
from tests.support.guarded import guarded

PATH = Path(__file__).parents[2] / "scripts" / "moderation"
LOADER = SourceFileLoader("moderation_script", str(PATH))
OLD = datetime(2020, 1, 1, tzinfo=UTC)

Ask = Callable[..., Awaitable[Run]]


def load() -> Any:
    spec = spec_from_loader(LOADER.name, LOADER)
    assert spec is not None
    module = module_from_spec(spec)
    LOADER.exec_module(module)
    return module


SCRIPT = load()


@pytest.fixture
def ask(client_url: str, database: Database) -> Ask:
    """Runs a query on the test's database."""
    place = {"CHAT_AIO_MONGO_URL": client_url, "CHAT_AIO_DATABASE": database.name}

    async def run(*words: str, **env: str) -> Run:
        invoke = CliRunner().invoke
        result = await asyncio.to_thread(invoke, SCRIPT.moderation, words, env={**place, **env})
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Run(result.exit_code, result.stdout, result.stderr)

    return run


async def rows(ask: Ask, *words: str) -> Any:
    return (await ask(*words, "--json")).json["rows"]


async def report(people: People, reporter: str, kind: str, target: str) -> str:
    body = {"targetType": kind, "targetId": target, "reason": "rude"}
    answer = await people(reporter).post("/moderation/reports", body)
    return str(answer.json["report"]["id"])


async def test_open_reports_show_their_messages_in_context(people: People, ask: Ask) -> None:
    mallory = people("mallory")
    group = await mallory.group("alice", "bob")
    sent = [await mallory.send(group, f"number {number}") for number in range(6)]
    on_message = await report(people, "alice", "message", sent[3]["id"])
    on_user = await report(people, "bob", "user", "mallory")
    settled = await report(people, "bob", "message", sent[0]["id"])
    dismissed = {"status": "dismissed"}
    await people("mod").call("PATCH", f"/moderation/reports/{settled}", json=dismissed)
    found = await rows(ask, "open-reports", "--around", "1")
    assert [row["report"] for row in found] == [on_user, *[on_message] * 3]
    assert [row.get("body") for row in found] == [None, "number 2", "number 3", "number 4"]
    assert [row[">"] for row in found] == ["", "", ">", ""]
    assert found[1]["sender"] == "mallory"
    table = (await ask("open-reports", "--around", "1")).output
    assert "number 3" in table
    assert "number 5" not in table


async def test_reporters_are_counted_once(people: People, ask: Ask) -> None:
    loud, rude = people("loud"), people("rude")
    group = await loud.group("rude", "alice", "bob", "carol")
    noise = [await loud.send(group, "noise") for _ in range(3)]
    insult = await rude.send(group, "insult")
    for message in noise:
        await report(people, "alice", "message", message["id"])
    await report(people, "alice", "message", insult["id"])
    await report(people, "bob", "user", "rude")
    await report(people, "carol", "conversation", group)
    found = await rows(ask, "most-reported")
    counts = [(row["user"], row["reporters"], row["reports"], row["open"]) for row in found]
    assert counts == [("rude", 2, 2, 2), ("loud", 1, 3, 3)]
    assert [row["user"] for row in await rows(ask, "most-reported", "--least", "2")] == ["rude"]


async def test_old_reports_are_left_out(people: People, ask: Ask, database: Database) -> None:
    await people("alice").direct("rude")
    await report(people, "alice", "user", "rude")
    await database["reports"].update_many({}, {"$set": {"createdAt": OLD}})
    assert await rows(ask, "most-reported", "--days", "3650") != []
    assert await rows(ask, "most-reported") == []


async def test_messages_of_a_user_in_a_period(people: People, ask: Ask, database: Database) -> None:
    mallory = people("mallory")
    here, there = await mallory.group("alice", name="Here"), await mallory.direct("bob")
    first = await mallory.send(here, "first")
    gone = await mallory.send(here, "gone")
    await mallory.delete(gone["id"])
    last = await mallory.send(there, "last")
    await people("alice").send(here, "of somebody else")
    found = await rows(ask, "messages-of", "--user", "mallory")
    shown = [(row["message"], row["body"], row["deleted"], row.get("name")) for row in found]
    assert shown == [
        (last["id"], "last", "", None),
        (gone["id"], "", "deleted", "Here"),
        (first["id"], "first", "", "Here"),
    ]
    await database["messages"].update_one({"_id": first["id"]}, {"$set": {"createdAt": OLD}})
    early = await rows(ask, "messages-of", "--user", "mallory", "--until", "2021-01-01T00:00:00Z")
    assert [row["message"] for row in early] == [first["id"]]
    late = await rows(ask, "messages-of", "--user", "mallory", "--since", "2021-01-01T00:00:00Z")
    assert [row["message"] for row in late] == [last["id"], gone["id"]]


async def test_new_users_who_write_to_many_strangers(
    people: People, ask: Ask, database: Database
) -> None:
    for sender in ("spammer", "regular"):
        for number in range(3):
            direct = await people(sender).direct(f"stranger{number}")
            await people(sender).send(direct, "hello")
            if number == 0:
                await people("stranger0").send(direct, "who are you?")
    await people("shy").direct("alice")
    group = await people("regular").group()
    earlier = await people("regular").send(group, "long ago")
    await database["messages"].update_one({"_id": earlier["id"]}, {"$set": {"createdAt": OLD}})
    (found,) = await rows(ask, "strangers")
    assert (found["user"], found["strangers"], found["answered"]) == ("spammer", 3, 1)
    assert await rows(ask, "strangers", "--least", "4") == []


async def test_bans_about_to_end(people: People, ask: Ask, moderate: Moderate) -> None:
    for user, length in (("soon", "2"), ("sooner", "1"), ("later", "30")):
        assert (await moderate("ban", user, "--for", length, *AS_MOD)).code == 0
    assert (await moderate("ban", "for good", *AS_MOD)).code == 0
    assert (await moderate("ban", "revoked", "--for", "1", "--json", *AS_MOD)).code == 0
    revoked = (await moderate("bans", "--json")).json["bans"][0]
    assert revoked["userId"] == "revoked"
    assert (await moderate("unban", revoked["id"], *AS_MOD)).code == 0
    found = await rows(ask, "ending-bans")
    assert [row["user"] for row in found] == ["sooner", "soon"]


async def test_words_that_are_held(serve: MakePeople, ask: Ask) -> None:
    held = Filter([BlockedWords(["casino"], action="hold", reason="no gambling")])
    people = await serve(plugins=[held])
    for sender in ("alice", "bob"):
        group = await people(sender).group()
        body = {"body": "Casino bonus, CASINO casino"}
        await people(sender).post(f"/conversations/{group}/messages", body)
    await people("bob").post(f"/conversations/{group}/messages", {"body": "a casino trip"})
    found = await rows(ask, "held-words")
    assert [(row["word"], row["messages"], row["senders"]) for row in found] == [
        ("casino", 3, 2),
        ("bonus", 2, 2),
        ("trip", 1, 1),
    ]
    assert found[0]["reasons"] == ["no gambling"]
    assert len(await rows(ask, "held-words", "--least", "2")) == 2


async def test_decisions_of_moderators(people: People, ask: Ask, moderate: Moderate) -> None:
    for user in ("one", "two"):
        await moderate("ban", user, "--as", "mod")
    await moderate("ban", "three", "--as", "other")
    counts = [
        (row["moderator"], row["action"], row["count"]) for row in await rows(ask, "decisions")
    ]
    assert counts == [("mod", "ban", 2), ("other", "ban", 1)]
    assert [row["count"] for row in await rows(ask, "decisions", "--by", "other")] == [1]


async def test_the_limit_bounds_rows_and_says_so(
    people: People, ask: Ask, moderate: Moderate
) -> None:
    for number in range(3):
        await moderate("ban", f"user{number}", "--for", "1", *AS_MOD)
    run = await ask("ending-bans", "--limit", "2")
    assert len(run.output.splitlines()) == 3
    assert run.errors == "There are more than 2: raise --limit to see them.\n"
    document = (await ask("ending-bans", "--limit", "2", "--json")).json
    assert (len(document["rows"]), document["more"]) == (2, True)
    assert (await ask("ending-bans", "--limit", "501")).code == 2


async def test_mongodb_stops_slow_queries(people: People, database: Database) -> None:
    await people("alice").send(await people("alice").group(), "hello")
    many: list[dict[str, Any]] = [{"$set": {"n": {"$range": [0, 1_000]}}}, {"$unwind": "$n"}]
    asked = SCRIPT.Query("messages", many * 4, ("body",))
    slow = SCRIPT.Query("messages", [*asked.stages, {"$group": {"_id": "$n"}}], ("body",))
    with pytest.raises(click.ClickException, match=r"took longer than 0\.5 s"):
        await SCRIPT.rows_of(Store(database), slow, 0.5)
    assert len(await SCRIPT.rows_of(Store(database), asked, 60)) == SCRIPT.MOST_ROWS + 1


async def test_a_mistake_in_a_stage_is_explained(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(_: list[Any], *, prefix: str) -> list[Any]:
        return [{"$mtach": {}}]

    monkeypatch.setattr(SCRIPT, "only_reading", wrong)
    assert "Unrecognized pipeline stage name: '$mtach'" in (await ask("decisions")).refusal


async def test_queries_only_read(people: People, ask: Ask, database: Database) -> None:
    for stages in (
        [{"$out": "stolen"}],
        [{"$lookup": {"from": "x", "as": "y", "pipeline": [{"$merge": "messages"}]}}],
    ):
        with pytest.raises(click.ClickException, match="queries only read"):
            SCRIPT.only_reading(stages, prefix="")
    await people("alice").send(await people("alice").group("bob"), "hello")
    names = sorted(await database.list_collection_names())
    before = await kept(database, *names)
    for name in SCRIPT.moderation.commands:
        words = ("--user", "alice") if name == "messages-of" else ()
        assert (await ask(name, *words)).code == 0, name
    assert await kept(database, *names) == before
    assert sorted(await database.list_collection_names()) == names


async def test_the_right_to_find_is_enough(tmp_path: Path, ask: Ask) -> None:
    finding = {"resource": {"db": "chat", "collection": ""}, "actions": ["find"]}
    async with guarded(tmp_path) as mongod:
        chat = mongod.admin["chat"]
        await chat["bans"].insert_one({"_id": "b", "expiresAt": datetime.now(UTC) + timedelta(1)})
        await chat.command("createRole", "reader", privileges=[finding], roles=[])
        url = await mongod.add_user("moderator", "chat", "reader")
        place = ("--mongo-url", url, "--database", "chat")
        for name in SCRIPT.moderation.commands:
            words = ("--user", "alice") if name == "messages-of" else ()
            assert (await ask(name, *words, *place)).code == 0, name
        assert [row["ban"] for row in await rows(ask, "ending-bans", *place)] == ["b"]


async def test_collections_have_the_prefix(serve: MakePeople, ask: Ask) -> None:
    people = await serve(collection_prefix="chat_")
    mallory = people("mallory")
    await mallory.send(await mallory.group(name="Here"), "hello")
    words = ("messages-of", "--user", "mallory", "--collection-prefix", "chat_")
    (row,) = await rows(ask, *words)
    assert (row["body"], row["name"]) == ("hello", "Here")


async def test_every_query_is_in_the_guide() -> None:
    guide = (PATH.parents[1] / "docs/moderation/api-and-cli.md").read_text()
    for name, command in SCRIPT.moderation.commands.items():
        assert f"`{name}`" in guide
        assert command.help, name
