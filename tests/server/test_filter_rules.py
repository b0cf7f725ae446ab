"""The rules of a filter in the file of `serve`: the same rules as in Python, and clear errors."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from click.testing import CliRunner

from chat_aio.admin.cli import main
from chat_aio.plugins import AttachmentRule, BlockedWords, Filter, LinkRule, RepeatLimit, Rule
from chat_aio.server.filter_rules import RULES, keys_of, rules_from
from chat_aio.server.sources import settings_from
from chat_aio.server.standalone import plugins_of
from tests.conftest import Database
from tests.support.processes import ROOT, serving

DOCUMENT = (ROOT / "docs/guides/filters.md").read_text()
(EXAMPLE,) = re.findall(r"```toml\n(.*?)```", DOCUMENT, re.S)


@pytest.fixture
def example(tmp_path: Path) -> Path:
    file = tmp_path / "chat.toml"
    file.write_text(EXAMPLE)
    return file


def described(rule: Rule) -> tuple[type[Rule], dict[str, Any]]:
    """What a rule was made of; a list and a tuple are the same."""
    values = {field.name: getattr(rule, field.name) for field in fields(rule) if field.init}
    same = {
        key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
    }
    return type(rule), same


def test_the_example_has_the_rules_of_the_python_beside_it(example: Path) -> None:
    settings = settings_from(config=str(example))
    block = re.findall(r"    rules = (\[.*?\n    \])", DOCUMENT, re.S)[0]
    meant = eval(block)  # Of a document of ours.
    assert [*map(described, rules_from(settings.filter_rules))] == [*map(described, meant)]
    (plugin,) = plugins_of(settings)
    assert isinstance(plugin, Filter)


def test_config_shows_the_rules(example: Path) -> None:
    result = CliRunner().invoke(main, ["config", "--config", str(example)])
    (line,) = (text for text in result.output.splitlines() if text.startswith("filter_rules "))
    assert '{"rule": "links", "denied_hosts": ["evil.example"]}' in line
    assert line.endswith(f"{example}: filter_rules")


async def test_what_the_file_forbids_is_refused_held_or_reported(
    mongo_url: str, database: Database, example: Path
) -> None:
    async with (
        serving(mongo_url, database.name, "--config", str(example)) as base,
        ClientSession(headers={"X-User": "bob"}) as bob,
        ClientSession(headers={"X-User": "ada"}) as ada,
    ):
        async with bob.post(f"{base}/conversations/group", json={"userIds": ["eve"]}) as made:
            place = f"{base}/conversations/{(await made.json())['conversation']['id']}/messages"
        answers = []
        for body, metadata in (
            ("m0r0n", {}),
            ("Casino!", {}),
            ("see sub.evil.example/x", {}),
            ("https://a.example https://b.example https://c.example https://d.example", {}),
            ("look", {"attachments": [{"contentType": "application/pdf"}]}),
            *[("again", {})] * 4,
        ):
            async with bob.post(place, json={"body": body, "metadata": metadata}) as answer:
                answers.append((answer.status, (await answer.json()).get("error", {}).get("code")))
        refused, held, stored = (422, "MESSAGE_REJECTED"), (403, "MESSAGE_HELD"), (201, None)
        assert answers == [refused, held, refused, stored, refused, *[stored] * 3, refused]
        async with ada.get(f"{base}/moderation/held") as found:
            assert [
                held_message["body"] for held_message in (await found.json())["heldMessages"]
            ] == ["Casino!"]
        async with ada.get(f"{base}/moderation/reports") as found:
            (report,) = (await found.json())["reports"]
        assert report["reporterUserId"] == "filter"


def test_each_key_is_a_parameter_of_the_rule() -> None:
    """A new parameter of a rule is a key by itself."""
    ours = [kind for kind in Rule.__subclasses__() if kind.__module__ == Rule.__module__]
    assert [*RULES.values()] == ours
    common: dict[str, Any] = {
        "action": "hold",
        "reason": "because",
        "conversations": ["a group"],
    }
    given: dict[str, dict[str, Any]] = {
        "words": {"words": ["bad"], "match_substrings": True},
        "links": {"allowed_hosts": ["a.example"], "denied_hosts": ["b.example"], "max_count": 2},
        "attachments": {
            "key": "files",
            "kind_key": "type",
            "max_count": 1,
            "allowed_kinds": ["image/*"],
            "denied_kinds": ["image/x"],
        },
        "repeats": {"max_count": 2, "within_seconds": 1.5},
    }
    for name, rule in RULES.items():
        assert set(keys_of(rule)) == {*common, *given[name]}
        (made,) = rules_from([{"rule": name, **common, **given[name]}])
        assert described(made) == described(rule(**common, **given[name]))


def test_python_and_file_have_the_same_defaults() -> None:
    tables: list[dict[str, Any]] = [
        {"rule": "words", "words": ["x"]},
        {"rule": "links"},
        {"rule": "attachments"},
    ]
    assert rules_from([*tables, {"rule": "repeats"}]) == [
        BlockedWords(("x",)),
        LinkRule(),
        AttachmentRule(),
        RepeatLimit(),
    ]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "rule 1: rule must be words, links, attachments or repeats, not None"),
        ({"rule": "smells"}, "rule 1: rule must be"),
        ({"rule": ["words"]}, "rule 1: rule must be"),
        ({"rule": "words"}, "rule 1 (words): words is missing"),
        ({"rule": "words", "words": "moron"}, "rule 1 (words): words must be texts, not 'moron'"),
        ({"rule": "words", "words": [1]}, "rule 1 (words): words must be texts, not [1]"),
        ({"rule": "words", "words": ["!"]}, "rule 1 (words): a filter lists 1 to 8 words"),
        (
            {"rule": "words", "words": ["x"], "match_substrings": "yes"},
            "match_substrings must be true or false",
        ),
        (
            {"rule": "words", "words": ["x"], "match_substrings": 1},
            "match_substrings must be true or false",
        ),
        ({"rule": "words", "wrds": ["x"]}, "wrds is no key of it; is words meant?"),
        ({"rule": "links", "classifier": "x"}, "rule 1 (links): classifier is no key of it"),
        ({"rule": "links", "_allowed": ["x"]}, "_allowed is no key of it"),
        ({"rule": "links", "action": "burn"}, "action must be refuse, hold or report, not 'burn'"),
        ({"rule": "links", "max_count": "3"}, "max_count must be a whole number, not '3'"),
        ({"rule": "links", "max_count": 1.5}, "max_count must be a whole number, not 1.5"),
        ({"rule": "links", "max_count": -1}, "max_count must be 0 or more, not -1"),
        ({"rule": "links", "denied_hosts": ["a/b"]}, "LinkRule takes hosts such as example.org"),
        ({"rule": "links", "conversations": "one"}, "conversations must be texts, not 'one'"),
        ({"rule": "attachments", "key": 5}, "rule 1 (attachments): key must be text, not 5"),
        (
            {"rule": "repeats", "max_count": 0},
            "rule 1 (repeats): RepeatLimit needs max_count of 1 or more",
        ),
        ({"rule": "repeats", "within_seconds": True}, "within_seconds must be a number, not True"),
    ],
)
def test_what_cannot_be_names_the_rule_and_the_key(table: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        rules_from([table])


def test_rules_without_their_plugin_are_refused(tmp_path: Path) -> None:
    """They would be asked about nothing."""
    file = tmp_path / "chat.toml"
    file.write_text('auth_header = "X-User"\n[[filter_rules]]\nrule = "links"\n')
    result = CliRunner().invoke(main, ["serve", "--config", str(file)])
    (line,) = result.output.splitlines()
    said = "filter rules need the plugin: add filter to plugins"
    assert (result.exit_code, line) == (2, f"Error: {file}: filter_rules: {said}")
