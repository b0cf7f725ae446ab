"""Documents say what the code does: tables, examples, links."""

import asyncio
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import click
import pytest
from bson import json_util
from document_tables import TABLES, rewritten
from pydantic import BaseModel

from chat_aio import ChatError, Hooks
from chat_aio.actions.maintenance import legal_holds
from chat_aio.admin.cli import main
from chat_aio.errors import MessageHeld
from chat_aio.plugins import (
    Attachments,
    Drafts,
    Filter,
    Plugin,
    Presence,
    Words,
)
from chat_aio.schema.events import DESK_EVENTS, EVENTS, EXTRA_EVENTS, ROOM_EVENTS
from chat_aio.server.settings import SETTINGS
from chat_aio.server.sources import DEFAULT, find_settings
from chat_aio.store import indexes
from chat_aio.store.database import COLLECTIONS
from chat_aio.store.mapping import conversation_from, message_from
from chat_aio.store.tokenizer import search_fields
from chat_aio.web.desk_routes import DESK_ROUTES
from chat_aio.web.held_message_routes import HELD_MESSAGE_ROUTES
from chat_aio.web.inbox_routes import INBOX_ROUTES
from chat_aio.web.openapi.document import ANYWHERE, CHANGING, FILES, READ, STORED
from chat_aio.web.room_routes import ROOM_ROUTES
from chat_aio.web.routes import ROUTES
from tests.conftest import MakePeople
from tests.plugins.attachments.uploading import attached
from tests.plugins.notifications.pushing import a_subscription, make_push
from tests.plugins.notifications.telling import Told, all_told, quick, ready
from tests.support.histories import roll_up_all
from tests.support.people import Person
from tests.support.processes import until

People = Callable[[str], Person]
ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
DATA_MODEL = (ROOT / "docs" / "data-model.md").read_text()
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


def table(title: str, text: str = REFERENCE) -> list[list[str]]:
    """The rows of the table whose head begins with `title`."""
    (found,) = re.findall(rf"^\| {re.escape(title)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.M)
    return [
        [cell.strip(" `") for cell in row.strip("|").split(" | ")] for row in found.splitlines()
    ]


def test_every_route_is_documented() -> None:
    for title, routes in (
        ("Method", ROUTES),
        ("Method with `room_controls`", ROOM_ROUTES),
        ("Method with `inbox`", INBOX_ROUTES),
        ("Method with `moderation_desk`", DESK_ROUTES),
        ("Method with such a plugin", HELD_MESSAGE_ROUTES),
    ):
        documented = [(row[0].strip("| "), row[1]) for row in table(f"{title} | Path")]
        assert documented == [(each.method, each.path) for each in routes]


def test_every_plugin_is_documented() -> None:
    documented = {row[0].strip("| "): row[1] for row in table("Plugin | Route")}
    built = [each() for each in Plugin.__subclasses__() if each.__module__.startswith("chat_aio.")]
    assert documented == {
        type(each).__name__: "<br>".join(f"{route.method} {route.path}" for route in each.routes)
        or "-"
        for each in built
    }


def test_every_error_is_documented() -> None:
    documented = [(int(row[0].strip("| ")), row[1]) for row in table("Status")]
    assert documented == sorted((each.status, code) for code, each in ChatError.catalogue.items())


def test_every_error_of_any_route_is_documented() -> None:
    (text,) = re.findall(r"in addition to those of any route\.(.*?)\n\n", REFERENCE, re.S)
    named = {*re.findall(r"\b[A-Z_]{5,}\b", text)}
    assert named == {*ANYWHERE, *STORED, *READ, *CHANGING, *FILES, "NOT_FOUND"}


@pytest.mark.parametrize(("name", "head", "rows"), TABLES)
def test_the_tables_that_follow_from_the_code(name: str, head: str, rows: Any) -> None:
    """`make tables` writes them."""
    text = (ROOT / "docs" / name).read_text()
    assert text == rewritten(text, head, rows())


def test_every_hook_is_documented() -> None:
    assert [row[0].strip("| ") for row in table("Hook")] == [each.name for each in fields(Hooks)]


def test_every_command_is_documented() -> None:
    documented = {row[0].strip("| "): row[1].split(", ") for row in table("Command | Options")}
    settings = {each.flag for each in SETTINGS.values()}
    for name, options in commands(main):
        if settings <= {*options}:
            others = [each for each in options if each not in {*settings, "--config"}]
            assert documented.pop(name) == [*others, "all settings"]
        else:
            assert documented.pop(name) == options, name
    assert documented == {}


def test_the_file_of_the_documents_is_one(tmp_path: Path) -> None:
    configuration = (ROOT / "docs" / "configuration.md").read_text()
    (example,) = re.findall(r"```toml\n(.*?)```", configuration, re.S)
    file = tmp_path / "chat.toml"
    file.write_text(example)
    found = find_settings(config=str(file))
    assert all(found[name].place != DEFAULT for name in tomllib.loads(example))


def commands(command: click.Command, *names: str) -> Iterator[tuple[str, list[str]]]:
    """Each command by its full name, with its options."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner, *names, name)
        return
    shown = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    yield " ".join(names), [each.opts[0] for each in shown]


@pytest.mark.parametrize(
    ("title", "events"),
    [
        ("Event", EVENTS),
        ("Extra event", EXTRA_EVENTS),
        ("Room event", ROOM_EVENTS),
        ("Desk event", DESK_EVENTS),
    ],
)
def test_every_event_is_documented(title: str, events: tuple[type[BaseModel], ...]) -> None:
    documented = {
        row[0].strip("| "): set(re.findall(r"\w+", row[1].split("`")[0])) for row in table(title)
    }
    assert documented == {
        name: {field.alias or name for name, field in each.model_fields.items()}
        for each in events
        for name in types_of(each)
    }


def test_every_event_of_a_plugin_is_documented() -> None:
    documented = {
        row[0].strip("| "): re.findall(r"\w+\.\w+", row[-1]) for row in table("Plugin | Route")
    }
    assert documented == {
        each.__name__: [name for event in each.events for name in types_of(event)]
        for each in Plugin.__subclasses__()
        if each.__module__.startswith("chat_aio.")
    }


def types_of(event: type[BaseModel]) -> tuple[str, ...]:
    return get_args(event.model_fields["type"].annotation) or (event.model_fields["type"].default,)


def test_every_collection_is_documented_with_an_example() -> None:
    assert [row[0].strip("| ") for row in table("Collection", DATA_MODEL)] == list(COLLECTIONS)


def examples() -> dict[str, Any]:
    found = re.findall(r"^## ([\w.]+)\n\n```json\n(.*?)```", DATA_MODEL, re.M | re.S)
    return {name: json_util.loads(text) for name, text in found}


def test_the_example_documents_are_real() -> None:
    example = examples()
    assert set(example) == set(COLLECTIONS) - {"settings", "signals"}
    message = message_from(example["messages"], {})
    conversation = conversation_from(example["conversations"])
    assert (message.conversation_id, conversation.id) == (example["counters"]["_id"],) * 2
    found_by = search_fields(message.conversation_id, message.body)
    assert found_by.items() <= example["messages"].items()


async def test_the_example_documents_have_the_keys_of_stored_ones(
    serve: MakePeople, database: Any
) -> None:
    hooks = Hooks(can_moderate=lambda _: True)
    told = Told()
    plugins = [
        *(Presence(), Filter([Words(["spam"], action="hold")]), Drafts(["ada"])),
        *(quick(told, channels=[make_push()]), Attachments()),
    ]
    person = await serve(
        hooks, plugins=plugins, inbox=True, room_controls=True, moderation_desk=True
    )
    chat = person("ada").chat
    async with person("ada").tab():
        while await database["presence"].find_one({}) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    group = await chat.api.create_group_conversation("ada", name="Engine room")
    sent = await chat.api.send_message("ada", group.id, "x", client_message_id="k")
    await chat.api.send_message("ada", group.id, "x", thread_root_message_id=sent.id)
    await chat.api.edit_message("ada", sent.id, "y")
    with pytest.raises(MessageHeld):
        await chat.api.send_message("ada", group.id, "spam")
    await chat.api.create_invite("ada", group.id)
    await chat.api.request_to_join("grace", group.id)
    await chat.api.moderation.block_user("ada", "mallory")
    await chat.api.moderation.mute_conversation("ada", group.id)
    await chat.api.moderation.report("ada", "user", "mallory", "spam")
    await chat.api.moderation.ban_user("ada", "mallory")
    await chat.rooms.ban_from_conversation("ada", group.id, "mallory")
    await chat.inbox.follow_thread("ada", group.id, sent.id)
    drafted = await person("ada").post(f"/conversations/{group.id}/drafts", {})
    assert drafted.status == 200
    await legal_holds.place(chat._context, "ada", "user", "mallory", "case 12")
    await roll_up_all(database)
    await be_notified(person, group.id, told)
    await attached(person("ada"), group.id)
    for name, example in examples().items():
        stored = await database[name].find_one({})
        assert list(stored) == list(example) or set(stored) == set(example), name


async def be_notified(person: People, group_id: str, told: Told) -> None:
    """Grace is notified of a message, and sees the next one. Ada has subscribed a browser."""
    ada, grace = person("ada"), person("grace")
    await ada.chat.api.add_participants("ada", group_id, ["grace"])
    level = {"level": "all"}
    await grace.call("PUT", f"/conversations/{group_id}/notifications", json=level)
    await ada.post("/notifications/subscriptions", a_subscription())
    await ready(ada.chat._context.database.handle)
    await ada.send(group_id, "first")
    async with grace.tab() as tab:
        await ada.send(group_id, "second")
        await tab.event("message.created")
        await until(lambda: told.of("grace") == ["first"])
        await all_told(ada.chat._context.database.handle, 1)


def test_index_files_name_what_they_serve() -> None:
    found = list(indexes.load())
    assert {each.collection for each in found} <= set(COLLECTIONS)
    assert all(each.serves["what"] and each.serves["find"] for each in found)
    assert len({(each.collection, each.name) for each in found}) == len(found)
    for file in (ROOT / "indexes").iterdir():
        assert json.loads(file.read_text())["collection"] == file.stem


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda each: str(each.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for link, place in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", document.read_text()):
        if not link.startswith("http"):
            target = document.parent / link if link else document
            assert target.exists(), link
            assert not place or place in headings_of(target), f"{link}#{place}"
    # Examples of HTML are of a host's own pages.
    prose = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.DOTALL | re.MULTILINE)
    for picture in re.findall(r'src(?:set)?="([^"]+)"', prose):
        assert (document.parent / picture).exists(), picture


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    listed = re.findall(r"[\w/.-]+\.md$", navigation, re.M)
    assert sorted(listed) == sorted(str(each.relative_to(ROOT)) for each in DOCUMENTS)


def headings_of(document: Path) -> set[str]:
    """The anchors of a document's headings, as they are made of them on the web."""
    titles = re.findall(r"^#+ (.*)$", document.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in titles}


def test_rules_that_the_code_refers_to_exist() -> None:
    behaviour = (ROOT / "docs" / "behaviour.md").read_text()
    parts = re.split(r"^## (\d+) .*$", behaviour, flags=re.M)[1:]
    rules = {
        f"{number}.{rule}"
        for number, text in zip(parts[::2], parts[1::2], strict=True)
        for rule in re.findall(r"^(\d+)\. ", text, re.M)
    }
    files = [*ROOT.glob("chat_aio/**/*.py"), *ROOT.glob("tests/**/*.py")]
    named = {
        rule
        for file in files
        for rule in re.findall(r"docs/behaviour\.md (\d+\.\d+)", file.read_text())
    }
    assert named
    assert named <= rules
