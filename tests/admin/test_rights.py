"""Missing rights in MongoDB: named in one line, with the command that grants them, and found before
anything is written."""

import json
import re
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest
from pymongo.errors import OperationFailure

from chat_aio import Hooks
from chat_aio.plugins import Filter
from chat_aio.store import indexes, privileges
from chat_aio.store.database import Database as Store
from chat_aio.store.privileges import EVERY_COMMAND, OF_COMMANDS
from tests.admin.deleting import filled_group
from tests.admin.life import HELD, MODERATORS, PAST, USER, live, text_of
from tests.admin.running import AS_MOD, DO, Run, kept, run
from tests.conftest import Database, MakePeople
from tests.support.guarded import Client, Guarded, guarded

ROOT = Path(__file__).parents[2]
HOLD = ("user", USER, "--reason", "case 12", *AS_MOD)
OLD = ("--reports", "1", "--bans", "1", "--join-requests", "1", "--audit", "1", "--presence", "1")
RUNS: dict[str, tuple[tuple[str, ...], ...]] = {
    "legal-hold": (("legal-hold", "place", *HOLD), ("legal-hold", "lift", "user", USER, *AS_MOD)),
    "retention": (("retention", "--older-than", "30", *DO),),
    "purge-records": (("purge-records", *OLD, *DO),),
    "retention --remove": (("retention", "--older-than", "30", "--remove", *DO),),
    "users erase": (("users", "erase", USER, *DO),),
    "conversations delete": (("conversations", "delete", "doomed", *DO),),
}


@pytest.fixture
async def mongod(tmp_path: Path) -> AsyncIterator[Guarded]:
    async with guarded(tmp_path) as started:
        yield started


async def filled(serve: MakePeople, database: Database, mongod: Guarded) -> Database:
    """A database `chat` behind a password, with a user's whole life in it."""
    hooks = Hooks(can_moderate=lambda asked: asked.user_id in MODERATORS)
    options: dict[str, Any] = {"inbox": True, "room_controls": True, "moderation_tools": True}
    life = await live(await serve(hooks, plugins=[Filter([HELD])], **options), database)
    ours = mongod.admin["chat"]
    await indexes.apply(Store(ours))
    for name in await database.list_collection_names():
        if documents := await database[name].find().to_list(None):
            await ours[name].insert_many(documents)
    long_ago = {"$set": {"createdAt": PAST, "resolvedAt": PAST, "revokedAt": PAST}}
    for name in ("reports", "bans", "join_requests"):
        some = await ours[name].find_one({"resolvedAt": {"$ne": None}}, {"_id": 1})
        await ours[name].update_one({"_id": (some or {}).get("_id")}, long_ago)
    await ours["messages"].update_many(
        {"conversationId": life.fenced}, {"$set": {"createdAt": PAST}}
    )
    await ours["audit"].update_one({}, {"$set": {"at": PAST}})
    await filled_group(ours, 3, 1, conversation_id="doomed")
    return ours


def needed(command: str) -> list[dict[str, Any]]:
    """The privileges of a command in the database `chat`."""
    places: dict[str, Iterable[str]] = {"": EVERY_COMMAND, **OF_COMMANDS[command]}
    return [
        {"resource": {"db": "chat", "collection": name}, "actions": [*actions]}
        for name, actions in places.items()
    ]


async def a_user(mongod: Guarded, name: str, rights: list[dict[str, Any]]) -> str:
    """A user with these rights and no others; returns a connection string."""
    role = f"{name}Role"
    await mongod.admin["chat"].command("createRole", role, privileges=rights, roles=[])
    return await mongod.add_user(name, "chat", role)


async def command(url: str, *words: str) -> Run:
    return await run(*words, "--mongo-url", url, "--database", "chat")


async def test_each_command_needs_its_rights_and_no_others(
    serve: MakePeople, database: Database, mongod: Guarded
) -> None:
    """For a user in whom every collection has something. A missing right stops a command before it
    begins; with the right that its error grants, the command comes through."""
    ours = await filled(serve, database, mongod)
    for name, runs in RUNS.items():
        collections = sorted(await ours.list_collection_names())
        before = await kept(ours, *collections)
        rights = needed(name)
        rights[-1]["actions"].pop()
        rights = [right for right in rights if right["actions"]]
        last = [*OF_COMMANDS[name]][-1]
        operator = f"operator-of-{name.replace(' ', '-')}"
        url = await a_user(mongod, operator, rights)
        refused = await command(url, *runs[0])
        assert refused.refusal_at_work.startswith(
            "Error: nothing was done: this user of MongoDB lacks"
        ), name
        assert f"{OF_COMMANDS[name][last][-1]} on {last}." in refused.errors
        assert await kept(ours, *collections) == before, name
        await grant(mongod, refused.errors, f"{operator}Role")
        assert await rights_of(mongod, f"{operator}Role") == in_order(needed(name)), name
        for words in runs:
            done = await command(url, *words)
            assert done.code == 0, (words, done)
            assert "Deleted 0" not in done.output
            assert "Removed 0" not in done.output
    assert {name for name, text in (await text_of(ours)).items() if USER in text} == set()
    assert RUNS.keys() == OF_COMMANDS.keys()


def in_order(rights: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    return sorted((right["resource"]["collection"], sorted(right["actions"])) for right in rights)


async def rights_of(mongod: Guarded, role: str) -> list[tuple[str, list[str]]]:
    """The privileges of a role, as MongoDB has them."""
    found = await mongod.admin["chat"].command("rolesInfo", role, showPrivileges=True)
    return in_order(found["roles"][0]["privileges"])


async def grant(mongod: Guarded, line: str, role: str) -> None:
    """Do what a line says, for the role of the user."""
    call = r'getSiblingDB\("(.*?)"\)\.grantPrivilegesToRole\("chatService", (.*)\), w'
    found = re.search(call, line)
    assert found is not None, line
    await mongod.admin[found[1]].command(
        "grantPrivilegesToRole", role, privileges=json.loads(found[2])
    )


async def test_a_right_that_lacks_amid_a_command_is_named(mongod: Guarded) -> None:
    """By action and collection; granted step by step, the command comes through."""
    await indexes.apply(Store(mongod.admin["chat"]))
    rights: list[dict[str, Any]] = [
        {"resource": {"db": "chat", "collection": ""}, "actions": [*EVERY_COMMAND]}
    ]
    url = await a_user(mongod, "operator", rights)
    ban = ("moderation", "ban", "mallory", *AS_MOD)
    named = []
    while (done := await command(url, *ban)).code:
        (line,) = done.errors.splitlines()
        named += re.findall(r"lacks (.*?)\. An administrator", line)
        await grant(mongod, line, "operatorRole")
        assert len(named) < 20
    assert "insert and update on bans" in named
    assert "insert on audit" in named


async def test_the_names_of_rights(mongod: Guarded) -> None:
    """Of each kind of command; texts of documents are not repeated."""
    url = await a_user(mongod, "nobody", [])
    async with Client(url) as client:
        rows = client["chat"]["messages"]
        calls = {
            "insert on messages": rows.insert_one({"body": "secret"}),
            "update on legal_holds": client["chat"]["legal_holds"].update_one(
                {"body": "secret"}, {"$set": {"body": "x"}}
            ),
            "insert and update on presence": client["chat"]["p_presence"].update_one(
                {"body": "secret"}, {"$set": {"body": "x"}}, upsert=True
            ),
            "remove on messages": rows.delete_many({"body": "secret"}),
            "find on messages": rows.find_one({"body": "secret"}),
            "insert and find and update on messages": rows.find_one_and_update(
                {}, {"$set": {"body": "x"}}
            ),
            "createIndex on messages": rows.create_index("body"),
        }
        for name, call in calls.items():
            with pytest.raises(OperationFailure) as refused:
                await call
            right = privileges.missing_right(refused.value)
            assert str(right).replace("p_", "") == name
            assert right is not None
            assert "secret" not in privileges.lacks([right])


def test_the_documented_rights_are_the_needed_ones() -> None:
    page = (ROOT / "docs/reference/cli.md").read_text().partition("## Rights")[2]
    rows = dict(re.findall(r"^\| `([a-z -]+)` \| (.*) \|$", page.partition("\n## ")[0], re.M))
    documented = {
        command: {
            collection: tuple(re.findall(r"`(\w+)`", actions))
            for actions, collections in re.findall(r"([^;]*?) on ([^;]*)", cells)
            for collection in re.findall(r"`(\w+)`", collections)
        }
        for command, cells in rows.items()
    }
    assert documented == OF_COMMANDS
