"""Documents say what the code does: tables, examples, links."""

import json
import re
import subprocess
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
from chat_aio.actions.maintenance.conversations.deleting import carry_out, plan_deletions
from chat_aio.admin.cli import main
from chat_aio.chat import operators_chat
from chat_aio.errors import MessageHeld
from chat_aio.hooks import (
    BeforeMessageSend,
    Changed,
    FoundMessages,
    KeyContext,
    MessageMutation,
    MessageSearch,
    ModerationContext,
    PermissionContext,
    Profile,
    RateContext,
    UserSearch,
)
from chat_aio.options import Options
from chat_aio.plugins import (
    Attachments,
    BlockedWords,
    Drafts,
    Filter,
    Plugin,
    PluginRequest,
    PluginRoute,
    Presence,
    Webhooks,
)
from chat_aio.schema.events import (
    EVENTS,
    EXTRA_EVENTS,
    INBOX_EVENTS,
    MODERATION_TOOLS_EVENTS,
    ROOM_EVENTS,
)
from chat_aio.schema.models import NO_OPTIONAL_FIELDS
from chat_aio.server.settings import LIBRARY_ONLY, SETTINGS, text_of
from chat_aio.server.sources import DEFAULT, find_settings
from chat_aio.store import indexes
from chat_aio.store.database import COLLECTIONS
from chat_aio.store.mapping import conversation_from, message_from
from chat_aio.store.tokenizer import search_fields
from chat_aio.web.held_message_routes import HELD_MESSAGE_ROUTES
from chat_aio.web.inbox_routes import INBOX_ROUTES
from chat_aio.web.key_routes import KEY_ROUTES
from chat_aio.web.metadata_routes import METADATA_ROUTES
from chat_aio.web.moderation_tools_routes import MODERATION_TOOLS_ROUTES
from chat_aio.web.openapi.document import ANYWHERE, CHANGING, FILES, READ, STORED
from chat_aio.web.room_routes import ROOM_ROUTES
from chat_aio.web.routes import ROUTES
from tests.conftest import MakePeople
from tests.plugins.attachments.uploading import attached
from tests.plugins.notifications.pushing import a_browser, make_push
from tests.plugins.notifications.telling import Told, all_told, eventually, quick, ready
from tests.plugins.webhooks.receiving import quick as webhooks_to
from tests.plugins.webhooks.receiving import ready as webhooks_ready
from tests.support.histories import roll_up_all
from tests.support.people import Person
from tests.support.processes import until

People = Callable[[str], Person]
ROOT = Path(__file__).parents[2]
TABLED = ("http", "server-api", "events", "errors", "hooks", "plugin-api", "options", "cli")
REFERENCE = "\n".join((ROOT / f"docs/reference/{name}.md").read_text() for name in TABLED)
DATA_MODEL = (ROOT / "docs/reference/data-model.md").read_text()
SOURCE = "../chat_aio"
"""What `pip install` is given in all documents, until the package is published."""
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
        ("Method with `conversation_keys`", KEY_ROUTES),
        ("Method with `editable_metadata`", METADATA_ROUTES),
        ("Method with `inbox`", INBOX_ROUTES),
        ("Method with `moderation_tools`", MODERATION_TOOLS_ROUTES),
        ("Method with such a plugin", HELD_MESSAGE_ROUTES),
    ):
        documented = [(row[0].strip("| "), row[1]) for row in table(f"{title} | Path")]
        assert documented == [(route.method, route.path) for route in routes]


PLUGINS = [
    plugin
    for plugin in Plugin.__subclasses__()
    if plugin.__module__.startswith("chat_aio.plugins.")
]


def test_every_route_of_a_plugin_is_documented() -> None:
    documented = sorted((row[0].strip("| "), row[1], row[2]) for row in table("Plugin | Method"))
    assert documented == sorted(
        (plugin.__name__, route.method, route.path)
        for plugin in PLUGINS
        # It needs an endpoint, and has no routes.
        if plugin is not Webhooks
        for route in plugin().routes
    )


def test_every_error_is_documented() -> None:
    documented = [(int(row[0].strip("| ")), row[1]) for row in table("Status")]
    assert documented == sorted((error.status, code) for code, error in ChatError.catalogue.items())


def test_every_error_of_any_route_is_documented() -> None:
    (text,) = re.findall(r"in addition to those of any route\.(.*?)\n\n", REFERENCE, re.S)
    named = {*re.findall(r"\b[A-Z_]{5,}\b", text)}
    assert named == {*ANYWHERE, *STORED, *READ, *CHANGING, *FILES, "NOT_FOUND"}


@pytest.mark.parametrize(("name", "head", "rows"), TABLES)
def test_the_tables_that_follow_from_the_code(name: str, head: str, rows: Any) -> None:
    """`make tables` writes them."""
    text = (ROOT / "docs" / name).read_text()
    assert text == rewritten(text, head, rows())


def test_options_are_settings_of_the_same_name() -> None:
    """So the flags, variables and defaults of `serve` need no second table."""
    different = {}
    for option in fields(Options):
        if (setting := SETTINGS.get(option.name)) is None:
            assert option.name in LIBRARY_ONLY
            continue
        assert setting.flag == "--" + option.name.replace("_", "-")
        assert setting.variable == "CHAT_AIO_" + option.name.upper()
        if setting.default != getattr(Options(), option.name):
            different[option.name] = text_of(setting.default)
    (sentence,) = re.findall(r"`serve` has two other\s+defaults: (.*?)\.\n", REFERENCE)
    assert dict(re.findall(r"`(\w+)` is `(\S+)`", sentence)) == different


def test_every_hook_is_documented() -> None:
    assert [row[0].strip("| ") for row in table("Hook")] == [field.name for field in fields(Hooks)]


@pytest.mark.parametrize(
    "given",
    [
        *(PermissionContext, ModerationContext, RateContext, KeyContext, BeforeMessageSend),
        *(MessageMutation, UserSearch, MessageSearch, FoundMessages, Changed, Profile),
    ],
)
def test_the_fields_of_every_argument_of_a_hook_are_documented(given: type[Any]) -> None:
    documented = [(row[0].strip("| "), row[1]) for row in table(f"`{given.__name__}`")]
    assert documented == [(field.name, shown_type(field.type)) for field in fields(given)]


def shown_type(annotation: Any) -> str:
    """A type as the documents show it: without modules, and "or" for "|"."""
    text = annotation.__name__ if isinstance(annotation, type) else repr(annotation)
    if get_args(annotation):
        text = repr(annotation)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text).replace(" | ", " or ")


@pytest.mark.parametrize(
    ("title", "given"),
    [("Field of `PluginRoute`", PluginRoute), ("Field of `PluginRequest`", PluginRequest)],
)
def test_every_field_of_the_plugin_api_is_documented(title: str, given: type[Any]) -> None:
    assert [row[0].strip("| ") for row in table(title)] == [field.name for field in fields(given)]


def test_every_command_is_documented() -> None:
    documented = {row[0].strip("| "): row[1].split(", ") for row in table("Command | Options")}
    settings = {setting.flag for setting in SETTINGS.values()}
    for name, options in commands(main):
        if settings <= {*options}:
            others = [option for option in options if option not in {*settings, "--config"}]
            assert documented.pop(name) == [*others, "all settings"]
        else:
            assert documented.pop(name) == options, name
    assert documented == {}


def test_commands_are_named_in_full() -> None:
    """Also where the text leaves out the name of the program."""
    names = {name for name, _ in commands(main)}
    folders = ("operations", "moderation")
    pages = [page for folder in folders for page in (ROOT / "docs" / folder).glob("*.md")]
    pages.append(ROOT / "docs/reference/cli.md")
    text = "\n".join(page.read_text() for page in pages)
    with_options = re.findall(r"`([a-z][a-z -]*?) --[a-z-]+[^`]*`", text)
    of_codes = re.findall(r"`([a-z -]+)`", "".join(re.findall(r"^\| [34] \|.*", text, re.M)))
    named = {name.removeprefix("chat-aio ") for name in (*with_options, *of_codes)}
    assert {"retention", "check", "legal-hold place"} <= named
    others = ("docker", "mongo", "opentelemetry")
    assert {command for command in named - names if not command.startswith(others)} == set()


def test_the_file_of_the_documents_is_one(tmp_path: Path) -> None:
    configuration = (ROOT / "docs/operations/configuration.md").read_text()
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
    shown = [
        param for param in command.params if isinstance(param, click.Option) and not param.hidden
    ]
    yield " ".join(names), [param.opts[0] for param in shown]


@pytest.mark.parametrize(
    ("title", "events"),
    [
        ("Event", EVENTS),
        ("Extra event", EXTRA_EVENTS),
        ("Inbox event", INBOX_EVENTS),
        ("Room event", ROOM_EVENTS),
        ("Moderation event", MODERATION_TOOLS_EVENTS),
    ],
)
def test_every_event_is_documented(title: str, events: tuple[type[BaseModel], ...]) -> None:
    documented = {
        row[0].strip("| "): set(re.findall(r"\w+", row[1].split("`")[0])) for row in table(title)
    }
    assert documented == {
        name: {field.alias or name for name, field in event.model_fields.items()}
        for event in events
        for name in types_of(event)
    }


def test_every_event_of_a_plugin_is_documented() -> None:
    documented = sorted((row[2].strip("| "), row[0].strip("| ")) for row in table("Plugin event"))
    assert documented == sorted(
        (plugin.__name__, name)
        for plugin in PLUGINS
        for event in plugin.events
        for name in types_of(event)
    )


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
    message = message_from(example["messages"], {}, NO_OPTIONAL_FIELDS)
    conversation = conversation_from(example["conversations"], NO_OPTIONAL_FIELDS)
    assert (message.conversation_id, conversation.id) == (example["counters"]["_id"],) * 2
    found_by = search_fields(message.conversation_id, message.body)
    assert found_by.items() <= example["messages"].items()


async def test_the_example_documents_have_the_keys_of_stored_ones(
    serve: MakePeople, database: Any
) -> None:
    hooks = Hooks(can_moderate=lambda _: True)
    told = Told()
    plugins = [
        *(Presence(), Filter([BlockedWords(["spam"], action="hold")]), Drafts(["ada"])),
        *(quick(told, channels=[make_push()]), Attachments()),
        webhooks_to("http://127.0.0.1:9/hook"),
    ]
    person = await serve(
        hooks, plugins=plugins, inbox=True, room_controls=True, moderation_tools=True
    )
    chat = person("ada").chat
    async with person("ada").tab():
        await until_any(database["presence"])
    await webhooks_ready(database)
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
    other = await person("ada").group("grace")
    await person("ada").send(other, "gone")
    async with operators_chat(database, Options()) as operators:
        planned = await plan_deletions(operators._context, "ada", [other])
        await carry_out(operators._context, "ada", planned, reason=None)
    await until_any(database["webhook_deliveries"])
    for name, example in examples().items():
        stored = await database[name].find_one({})
        assert list(stored) == list(example) or set(stored) == set(example), name


async def until_any(rows: Any) -> None:
    """Wait until a collection has a row."""

    async def is_written() -> bool:
        return await rows.find_one({}) is not None

    await eventually(is_written)


async def be_notified(person: People, group_id: str, told: Told) -> None:
    """Grace is notified of a message, and sees the next one. Ada has subscribed a browser."""
    ada, grace = person("ada"), person("grace")
    await ada.chat.api.add_participants("ada", group_id, ["grace"])
    level = {"level": "all"}
    await grace.call("PUT", f"/conversations/{group_id}/notifications", json=level)
    await ada.post("/notifications/devices", a_browser())
    database = ada.chat._context.database.handle
    await ready(database)
    await ada.send(group_id, "first")
    async with grace.tab() as tab:
        await ada.send(group_id, "second")
        # Ada may go offline before, and grace be notified of the second one before it is shown.
        await tab.until(lambda frame: frame.event == "message.created")
        await until(lambda: "first" in told.of("grace"))
        await all_told(database, 1)
        # What was shown in the last moments of a stream is not noted.
        await until_any(database["notification_shown"])


def test_index_files_name_what_they_serve() -> None:
    found = list(indexes.load())
    assert {index.collection for index in found} <= set(COLLECTIONS)
    assert all(index.serves["what"] and index.serves["find"] for index in found)
    assert len({(index.collection, index.name) for index in found}) == len(found)
    for file in (ROOT / "indexes").iterdir():
        assert json.loads(file.read_text())["collection"] == file.stem


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
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
    assert sorted(listed) == sorted(str(document.relative_to(ROOT)) for document in DOCUMENTS)


def headings_of(document: Path) -> set[str]:
    """The anchors of a document's headings, as they are made of them on the web."""
    titles = re.findall(r"^#+ (.*)$", document.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_rules_that_the_code_refers_to_exist() -> None:
    specification = (ROOT / "docs/reference/specification.md").read_text()
    parts = re.split(r"^## (\d+) .*$", specification, flags=re.M)[1:]
    rules = {
        f"{number}.{rule}"
        for number, text in zip(parts[::2], parts[1::2], strict=True)
        for rule in re.findall(r"^(\d+)\. ", text, re.M)
    }
    files = [*ROOT.glob("chat_aio/**/*.py"), *ROOT.glob("tests/**/*.py")]
    named = {
        rule
        for file in files
        for rule in re.findall(r"\bspecification\s+(\d+\.\d+)", file.read_text())
    }
    assert named
    assert named <= rules


def test_documents_and_decisions_that_files_name_exist() -> None:
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    for name in filter(None, listed.split("\0")):
        file = ROOT / name
        if not file.is_file() or file.suffix == ".png":
            continue
        text = file.read_text()
        for path in re.findall(r"(?<![\w./-])docs/[\w./-]*\w", text):
            assert (ROOT / path).exists(), f"{name}: {path}"
        for number in re.findall(r"\bdecision (\d{4})\b", text):
            assert [*ROOT.glob(f"docs/project/decisions/{number}-*.md")], f"{name}: {number}"


def test_every_decision_is_in_the_index_once() -> None:
    folder = ROOT / "docs/project/decisions"
    rows = re.findall(
        r"^\| (\d{4}) \| \[.+\]\((\d{4})-[\w-]+\.md\) \| \d{4}-\d\d-\d\d \| .+ \|$",
        (folder / "README.md").read_text(),
        re.M,
    )
    assert all(number == linked for number, linked in rows)
    assert sorted(number for number, _ in rows) == sorted(
        file.name[:4] for file in folder.glob("0*.md")
    )


def test_install_lines_name_the_source() -> None:
    """All of them install from the same place, and leave out no step."""
    given = re.compile(rf"pip install '?{re.escape(SOURCE)}(?:\[[\w,]+\]'|/|\s|$)", re.M)
    for file in [*DOCUMENTS, *ROOT.glob("examples/**/*.py"), *ROOT.glob("examples/*.conf")]:
        for line in re.findall(r"pip install .*chat.aio.*", file.read_text()):
            assert given.match(line), f"{file}: {line}"


def test_no_line_installs_from_an_index() -> None:
    """The package is on no index yet: such a line would fail, or install something else."""
    pattern = re.compile(r"(?:pip|npm) install [^\n]*?(?<![./\w])['\"]?chat-aio\b")
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*")]
    files += (ROOT / "chat_aio").glob("**/*.py")
    for file in files:
        if file.is_file():
            assert not pattern.search(file.read_text(errors="replace")), file


def test_every_extra_is_documented() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    page = (ROOT / "docs/start/installation.md").read_text()
    documented = set(re.findall(r"^\| (\w+) \|", page, re.M)) - {"Extra"}
    assert documented == project["optional-dependencies"].keys() - {"dev"}
