"""Settings: one description; flags before variables, before a file, before defaults."""

import inspect
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner, Result

from chat_aio import Chat, Options, Quotas, SetupError
from chat_aio.admin.cli import main
from chat_aio.capabilities import Capability
from chat_aio.observability.metrics import Metrics
from chat_aio.observability.tracing import Tracing
from chat_aio.plugins import Drafts, Plugin
from chat_aio.server.kinds import kind_of
from chat_aio.server.settings import LIBRARY_ONLY, SECRETS, SETTINGS, URLS, Setting
from chat_aio.server.sources import settings_from, unknown_variables
from chat_aio.server.standalone import (
    PLUGINS,
    observers_of,
    plugins_of,
    webhooks_of,
)
from tests.support.backend import WEBHOOK_SECRET

GIVEN: dict[str, tuple[str, Any]] = {
    "mongo_url": ("mongodb://db/?replicaSet=x", "mongodb://db/?replicaSet=x"),
    "loop": ("asyncio", "asyncio"),
    "log_format": ("json", "json"),
    "port": ("80", 80),
    "workers": ("3", 3),
    "auth_header": ("X-User", "X-User"),
    "moderators": ("ada", ("ada",)),
    "moderator_header": ("X-Mod", "X-Mod"),
    "jwt_algorithm": ("ES256", "ES256"),
    "service_users": ("shop", ("shop",)),
    "drafts_assistants": ("robot", ("robot",)),
    "drafts_abandoned_seconds": ("90", 90.0),
    "plugins": ("typing, presence,typing", ("typing", "presence")),
    "attachments_content_types": ("image/*,text/plain", ("image/*", "text/plain")),
    "disabled_capabilities": ("search,streams", frozenset({Capability.SEARCH, Capability.STREAMS})),
    "allowed_origins": (
        "https://a.example,https://b.example",
        ("https://a.example", "https://b.example"),
    ),
    "rate_limits": ('{"send_message": "1/second"}', {"send_message": "1/second"}),
    "metadata_indexes": ("orderId, status", ("orderId", "status")),
    "quotas": ('{"messages_per_minute": 60}', Quotas(messages_per_minute=60)),
    "webhook_secret": (f"whsec_{'a' * 32}", f"whsec_{'a' * 32}"),
    "webhook_events": ("message.created", ("message.created",)),
    **dict.fromkeys(URLS, ("https://a.example/x", "https://a.example/x")),
    "push_subject": ("mailto:a@b.example", "mailto:a@b.example"),
    "notifications_suppress_when": ("read", "read"),
    "filter_rules": ('[{"rule": "links"}]', ({"rule": "links"},)),
}
"""A value of each setting that is neither a switch nor a number, as text and as it is read."""


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("CHAT_AIO_"):
            monkeypatch.delenv(name)


def sample_of(setting: Setting) -> tuple[str, Any]:
    if setting.name in GIVEN:
        return GIVEN[setting.name]
    if setting.kind.shape is None:
        return ("off", False) if setting.default else ("yes", True)
    return ("7", 7) if setting.kind.shape == "NUMBER" else ("other", "other")


def value_of(name: str, **given: Any) -> Any:
    settings = settings_from(**given)
    return (
        getattr(settings, name, None)
        if hasattr(settings, name)
        else getattr(settings.options, name)
    )


def shown(*arguments: str, **env: str) -> Result:
    return CliRunner().invoke(main, ["config", *arguments], env=env)


@pytest.fixture(params=list(SETTINGS))
def setting(request: pytest.FixtureRequest) -> Setting:
    return SETTINGS[request.param]


def as_found(value: Any) -> Any:
    """Without an order, where it has none; tables cannot be in a set."""
    is_plain = isinstance(value, tuple) and not any(isinstance(item, dict) for item in value)
    return frozenset(value) if is_plain else value


def test_each_is_a_flag_a_variable_and_a_key(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In this order."""
    text, meant = sample_of(setting)
    assert as_found(value_of(setting.name)) == as_found(setting.default) != as_found(meant)
    file = tmp_path / "chat.toml"
    file.write_text(f"{setting.name} = {text!r}\n")
    config = str(file)
    assert as_found(value_of(setting.name, config=config)) == as_found(meant)
    assert f"{file}: {setting.name}" in shown("--config", config).output
    monkeypatch.setenv(setting.variable, text)
    file.write_text(f"{setting.name} = [[]]\n")  # Wrong, but the variable stands before it.
    assert as_found(value_of(setting.name, config=config)) == as_found(meant)
    assert setting.variable in shown("--config", config).output
    flags = [setting.flag, text]
    if setting.kind.shape is None:
        flags = [setting.flag if meant else setting.flag.replace("--", "--no-")]
    result = shown(*flags, "--config", config)
    assert result.exit_code == 0, result.output
    (line,) = (
        printed for printed in result.output.splitlines() if printed.startswith(f"{setting.name} ")
    )
    assert line.endswith(f" {setting.flag}")


NATIVE = """
port = 80
replay_buffer_seconds = 2.5
gzip = true
plugins = ["typing"]
moderators = ["Ada, of London"]
quotas = false

[rate_limits]
send_message = "5/second"
"""


def test_a_file_has_types_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "chat.toml"
    file.write_text(NATIVE)
    monkeypatch.setenv("CHAT_AIO_CONFIG", str(file))
    settings = settings_from()
    assert (settings.port, settings.plugins) == (80, ("typing",))
    assert settings.moderators == ("Ada, of London",)
    assert settings.options == Options(
        replay_buffer_seconds=2.5,
        gzip=True,
        quotas=None,
        rate_limits={"send_message": "5/second"},
        enforce_bans=True,
        slow_request_seconds=1.0,
    )
    file.write_text("[quotas]\nmessages_per_minute = false\n")
    assert settings_from().options.quotas == Quotas(messages_per_minute=None)


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_AIO_PORT", "")
    monkeypatch.setenv("CHAT_AIO_CONFIG", "")
    assert settings_from().port == 8080


WRONG = {
    "port": ["many", "-1", "70000", "1.5", ""],
    "workers": ["0", "-1", "some"],
    "loop": ["trio"],
    "log_format": ["xml"],
    "gzip": ["perhaps"],
    "auth_header": ["X User", ""],
    "moderator_header": ["a:b"],
    "moderators": [" ,\0"],
    "plugins": ["typing,telepathy"],
    "filter_rules": ["{", "{}", "[[]]", '["words"]', '[{"rule": "smells"}]'],
    "filter_reporter_id": [" "],
    "disabled_capabilities": ["everything"],
    "allowed_origins": ["https://example.org/path"],
    "rate_limits": [
        "{",
        '{"send_message": 5}',
        "[]",
        '{"fly": "1/second"}',
        '{"search_messages": "often"}',
    ],
    "quotas": ["{", '{"flights_per_hour": 1}', '{"messages_per_minute": -1}', "5", "0"],
    "replay_buffer_seconds": ["-1", "nan"],
    "streams_per_user": ["0"],
    "downloads_per_user": ["0"],
    "download_buffer_bytes": ["0"],
    "presence_lease_seconds": ["0"],
    "drafts_assistants": [" ,\0"],
    "jwt_algorithm": ["none", "HS1"],
    "permissions_cache_seconds": ["-1", "301"],
    "permissions_url": ["ftp://a.example", "a.example"],
    "push_subject": ["ops@example.org"],
    "notifications_delay_seconds": ["0"],
    "notifications_suppress_when": ["never"],
    "jwt_leeway_seconds": ["-1", "301", "much"],
    "service_users": [" ,\0"],
    "drafts_abandoned_seconds": ["0"],
    "presence_offline_delay_ms": ["-1"],
    "webhook_events": ["typing.started", ""],
    "mongo_url": ["mongodb://127.0.0.1:99999/", "http://db", "mongodb://u:s3/cret@db"],
}


@pytest.mark.parametrize(
    ("name", "text"), [(name, value) for name in WRONG for value in WRONG[name]]
)
def test_what_cannot_be_is_one_line(name: str, text: str, tmp_path: Path) -> None:
    """It names the place, and nothing is started. A part of a password is not repeated."""
    setting, file = SETTINGS[name], tmp_path / "chat.toml"
    file.write_text(f"{name} = {json.dumps(text)}\n")
    places: list[tuple[str, tuple[str, ...], dict[str, str]]] = [
        (f"{file}: {name}", (), {"CHAT_AIO_CONFIG": str(file)})
    ]
    if setting.kind.shape is not None:
        places.append((setting.flag, (setting.flag, text), {}))
    if text and "\0" not in text:  # An empty variable counts as none, and none can have a NUL.
        places.append((setting.variable, (), {setting.variable: text}))
    for place, flags, env in places:
        caller = () if name == "auth_header" else ("--auth-header", "X-User")
        result = CliRunner().invoke(main, ["serve", *caller, *flags], env=env)
        (line,) = result.output.splitlines()
        assert (result.exit_code, line.startswith(f"Error: {place}: ")) == (2, True), line
        assert "s3" not in line


def test_what_the_file_says_that_is_no_setting(tmp_path: Path) -> None:
    file = tmp_path / "chat.toml"
    for text, said in (
        ("prot = 80", "prot is no setting; is port meant?"),
        ("[options]\ngzip = true", "options is no setting"),
        ("reauthenticate = true", "reauthenticate is no setting"),
        ("port = ", "cannot be read"),
    ):
        file.write_text(text)
        result = shown("--config", str(file))
        assert (result.exit_code, len(result.output.splitlines())) == (2, 1), result.output
        assert said in result.output
    result = shown("--config", str(tmp_path / "away.toml"))
    assert (result.exit_code, "cannot be read" in result.output) == (2, True)


def test_a_variable_that_is_no_setting_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    assert unknown_variables() == []
    monkeypatch.setenv("CHAT_AIO_MAX_MESAGE_LENGTH", "5")
    monkeypatch.setenv("CHAT_AIO_TCP_ADDR", "10.0.0.1")
    said = "CHAT_AIO_MAX_MESAGE_LENGTH is no setting; is CHAT_AIO_MAX_MESSAGE_LENGTH meant?"
    assert unknown_variables() == [said, "CHAT_AIO_TCP_ADDR is no setting"]
    result = shown()
    assert result.exit_code == 0
    assert said in result.stderr.splitlines()


@pytest.mark.parametrize(
    ("url", "hidden"),
    [
        ("mongodb://u:s3cret@db/", "mongodb://u:***@db/"),
        ("mongodb://u:s3%40cret@a:1,b:2/x?tls=true", "mongodb://u:***@a:1,b:2/x?tls=true"),
        (
            "mongodb://db/?tlsCertificateKeyFilePassword=s3cret&tls=true",
            "mongodb://db/?tlsCertificateKeyFilePassword=***&tls=true",
        ),
        (
            "mongodb://db/?authMechanismProperties=AWS_SESSION_TOKEN:s3cret,X:1",
            "mongodb://db/?authMechanismProperties=AWS_SESSION_TOKEN:***,X:1",
        ),
        ("mongodb://db/?replicaSet=rs0", "mongodb://db/?replicaSet=rs0"),
    ],
)
def test_passwords_are_hidden(url: str, hidden: str) -> None:
    assert SETTINGS["mongo_url"].shown(url) == hidden


def test_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_AIO_DISABLED_CAPABILITIES", "search")
    found = json.loads(shown("--json", "--mongo-url", "mongodb://u:s3cret@db/").output)
    assert list(found["settings"]) == list(SETTINGS)
    assert found["settings"]["disabled_capabilities"] == {
        "value": ["search"],
        "from": "CHAT_AIO_DISABLED_CAPABILITIES",
    }
    assert found["settings"]["mongo_url"]["value"] == "mongodb://u:***@db/"
    assert found["settings"]["port"] == {"value": 8080, "from": "default"}


def test_every_option_is_a_setting_or_has_a_reason() -> None:
    """A new one is a setting by itself."""
    options = {field.name for field in fields(Options)}
    assert options == (set(SETTINGS) & options) | (set(LIBRARY_ONLY) & options)
    assert all(field.metadata["meaning"] for field in fields(Options))
    with pytest.raises(TypeError):
        kind_of(dict[str, object])


def test_all_else_that_a_host_may_give_is_a_setting_or_has_a_reason() -> None:
    own = {"self", "database", "options"}
    given = set(inspect.signature(Chat.__init__).parameters) - own
    assert given <= {*SETTINGS, *(text.split(" ")[0] for text in LIBRARY_ONLY)}
    place = "chat_aio.plugins."
    ours = [kind for kind in Plugin.__subclasses__() if kind.__module__.startswith(place)]
    # No name switches on webhooks and notifications, but their URLs and keys.
    assert {kind.__name__.lower() for kind in ours} == {*PLUGINS, "webhooks", "notifications"}
    library_only = {
        f"{name}({parameter})"
        for text in LIBRARY_ONLY
        for name, parameters in re.findall(r"(\w+)\(([^)]*)\)", text)
        for parameter in parameters.split(", ")
    }
    for made in (*ours, Metrics, Tracing):
        for name in set(inspect.signature(made).parameters):
            prefix = made.__name__.lower().replace("webhooks", "webhook")
            of_setting = f"{prefix}_{name}" in SETTINGS
            assert of_setting != (f"{made.__name__}({name})" in library_only)


def test_every_plugin_can_be_named() -> None:
    settings = settings_from(plugins=",".join(PLUGINS), drafts_assistants="robot")
    made = plugins_of(settings)
    assert [type(plugin).__name__.lower() for plugin in made] == [*PLUGINS]
    (drafts,) = (plugin for plugin in made if isinstance(plugin, Drafts))
    assert [drafts._may_draft(name) for name in ("robot", "ada")] == [True, False]


@pytest.mark.parametrize("given", [("--plugins", "drafts"), ("--assistant", "robot")])
def test_drafts_and_their_assistants_go_together(given: tuple[str, str]) -> None:
    result = CliRunner().invoke(main, ["serve", "--auth-header", "X-User", *given])
    assert result.exit_code == 2
    assert "the plugin drafts and its assistants need each other" in result.output
    missing = {"--plugins": "--assistant USER is missing", "--assistant": "--plugins drafts is"}
    assert missing[given[0]] in result.output


def test_a_wrong_key_of_quotas_is_named() -> None:
    quotas = '{"messages_per_minut": 5}'
    result = CliRunner().invoke(main, ["serve", "--auth-header", "X-User", "--quotas", quotas])
    line = result.output.splitlines()[-1]
    wanted = "--quotas: messages_per_minut is no quota: is it messages_per_minute?"
    assert (result.exit_code, line) == (2, f"Error: {wanted}")


def test_a_webhook_is_made_of_its_settings() -> None:
    given = {"webhook_url": "https://a.example/x", "webhook_secret": WEBHOOK_SECRET}
    (webhooks,) = webhooks_of(settings_from(**given, webhook_events="message.created"))
    assert vars(webhooks)["_events"] == {"message.created"}
    assert webhooks_of(settings_from()) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--webhook-url", "https://a.example"), "need each other"),
        (("--webhook-secret", WEBHOOK_SECRET), "needs a URL"),
        (("--webhook-url", "https://a.example", "--webhook-secret", "swordfish"), "whsec_"),
        (
            ("--webhook-url", "ftp://swordfish", "--webhook-secret", WEBHOOK_SECRET),
            "must begin with",
        ),
        (("--webhook-events", "typing.started"), "must be any of"),
    ],
)
def test_a_wrong_webhook_is_refused(given: tuple[str, ...], said: str) -> None:
    """And secrets are not shown."""
    result = CliRunner().invoke(main, ["serve", "--auth-header", "X-User", *given])
    assert (result.exit_code, said in result.output) == (2, True), result.output
    assert "swordfish" not in result.output
    assert WEBHOOK_SECRET not in result.output


def test_secrets_are_not_shown() -> None:
    """Of every setting that may contain one."""
    given = {
        "mongo_url": ("mongodb://u:swordfish@db/", ["swordfish"]),
        "jwt_key": ("swordfish", ["swordfish"]),
        "webhook_secret": (WEBHOOK_SECRET, [WEBHOOK_SECRET]),
        "push_private_key": ("swordfish", ["swordfish"]),
        **dict.fromkeys(
            URLS, ("https://u:swordfish@example.org/tuna?t=trout", ["fish", "tuna", "trout"])
        ),
    }
    assert given.keys() == {*SECRETS}
    for name, (value, secrets) in given.items():
        for form in ((), ("--json",)):
            output = shown(f"--{name.replace('_', '-')}", value, *form).output
            assert not [secret for secret in secrets if secret in output]
            assert "***" in output


def test_plugins_and_observers_are_made_as_the_settings_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = settings_from(
        plugins="presence,receipts", presence_offline_delay_ms="7", presence_lease_seconds="3"
    )
    made = plugins_of(settings)
    assert [type(plugin).__name__ for plugin in made] == ["Presence", "Receipts"]
    presence: Any = made[0]
    assert (presence._delay, presence._lease) == (0.007, 3)
    assert observers_of(settings_from(metrics=False)) == []
    (tracing,) = observers_of(settings_from(metrics=False, tracing=True, tracing_user_ids=True))
    assert isinstance(tracing, Tracing)
    assert tracing._user_ids


def test_a_package_that_is_missing_is_named(hidden: None) -> None:
    assert observers_of(settings_from()) == []
    wanted: list[tuple[dict[str, Any], str]] = [
        ({"metrics": True}, "metrics"),
        ({"tracing": True}, "otel"),
    ]
    for given, extra in wanted:
        with pytest.raises(SetupError, match=rf"the extra {extra} "):
            observers_of(settings_from(**given))


@pytest.fixture
def hidden() -> Iterator[None]:
    """Without the extras."""
    away = ("chat_aio.observability.metrics", "chat_aio.observability.tracing")
    with patch.dict(sys.modules, dict.fromkeys(away)):
        yield
