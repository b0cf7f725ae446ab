"""The settings of `chat-aio serve`: flags, variables, keys of a file and documents follow these."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from enum import Enum
from typing import Any, Literal, get_type_hints
from urllib.parse import urlsplit

from chat_aio.errors import SetupError
from chat_aio.options import Options, Quotas
from chat_aio.plugins import Attachments, Drafts, Notifications, Presence
from chat_aio.plugins.attachments.plugin import MEBIBYTE
from chat_aio.plugins.deliveries.signed import is_endpoint, is_secret
from chat_aio.schema.events import STORED_EVENTS, StoredEventType
from chat_aio.schema.fields import is_id
from chat_aio.server.clients import client_of
from chat_aio.server.filter_rules import rules_from
from chat_aio.server.kinds import Kind, UnknownName, kind_of
from chat_aio.server.logging_setup import LogFormat
from chat_aio.server.loop import LoopKind
from chat_aio.server.token_keys import Algorithm

PREFIX = "CHAT_AIO_"

PluginName = Literal["typing", "presence", "receipts", "filter", "drafts", "attachments"]

LIBRARY_ONLY = {
    "auth": "a function; a token (`jwt_key`, `jwt_keys_file`) or `auth_header` names the user",
    "hooks": "functions; `moderators`, `service_users` and URLs replace some of them",
    "plugins of your own": "objects; the package's own are `plugins`",
    "Filter(classifier, classifier_timeout, on_failure, clock)": "functions, and their settings",
    "Notifications(deliver, channels)": "a function and objects; `push_private_key` and "
    "`notifications_url` are the channels of `serve`",
    "Notifications(delivery_timeout_seconds, lease_seconds, max_attempts, retry_backoff_seconds, "
    "concurrency, max_devices_per_user)": "for programs that have measured their receivers",
    "Webhooks(name, timeout_seconds, lease_seconds, max_attempts, retry_backoff_seconds, "
    "concurrency)": "for programs with several webhooks; `serve` has one",
    "Attachments(store, scan, scan_timeout_seconds)": "an object and a function; `serve` has "
    "GridFS",
    "observers of your own": "objects; the package's own are `metrics` and `tracing`",
    "admin": "a database with more rights; the commands of `chat-aio` do the same",
    "clock": "a function, for tests",
    "database_factory": "a function; `serve` replaces a stuck client by itself",
    "reauthenticate": "on with tokens, whose time ends; a header never changes",
    "Metrics(registry), Tracing(provider)": "objects; `serve` uses those of the process",
}
"""What a host's program may set and `serve` may not, with the reason."""

DEFAULTS: Mapping[str, object] = {"enforce_bans": True, "slow_request_seconds": 1.0}
"""Where `serve` differs from `Options`: another program over the same database, such as
`chat-aio moderation`, may have banned somebody; and its log is read by operators."""

URLS = (
    "webhook_url",
    "notifications_url",
    "profiles_url",
    "search_users_url",
    "permissions_url",
)
"""URLs of the host, to which signed requests are posted."""

KEYS = ("jwt_key", "webhook_secret", "push_private_key")
SECRETS = ("mongo_url", *KEYS, *URLS)
"""Settings that are, or may contain, a secret."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PASSWORD = re.compile(r"(://[^:@/]*):.*@")
_FURTHER_SECRETS = re.compile(r"(?i)(KeyFilePassword=|SESSION_TOKEN:)[^&,]*")


def _means(
    meaning: str, *, check: Callable[[Any], object] = lambda _: None, flag: str | None = None
) -> dict[str, Any]:
    """The description of a field. `check` raises ValueError for a value that cannot be; `flag` is
    given once for each value of a list."""
    return {"meaning": meaning, "check": check, "flag": flag}


def _check_url(url: str) -> None:
    try:
        client_of(url)
    except SetupError as error:
        raise ValueError(str(error)) from None


def _check_header(name: str) -> None:
    if not _TOKEN.fullmatch(name):
        raise ValueError("must be the name of a header")


def _check_ids(user_ids: tuple[str, ...]) -> None:
    if not all(map(is_id, user_ids)):
        raise ValueError("must be ids of users: 1 to 256 characters, not blank, without NUL")


def _check_endpoint(url: str) -> None:
    if not is_endpoint(url):
        raise ValueError("must begin with https:// or http://, and a host")


def _check_secret(secret: str) -> None:
    if not is_secret(secret):
        raise ValueError("must be whsec_ and base64 of 24 to 64 random bytes")


def _check_subject(subject: str) -> None:
    if not subject.startswith(("mailto:", "https://")):
        raise ValueError("must begin with mailto: or https://")


def _check_events(events: tuple[StoredEventType, ...]) -> None:
    if not events:
        raise ValueError("must name at least one")


def _between(least: int, most: int | None = None) -> Callable[[float], None]:
    def check(value: float) -> None:
        if value < least or (most is not None and value > most):
            raise ValueError(f"must be at least {least}" + (f", at most {most}" if most else ""))

    return check


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """The settings that are no `Options`, and the `Options`."""

    mongo_url: str = field(
        default="mongodb://127.0.0.1:27017",
        metadata=_means("connection string of a replica set", check=_check_url),
    )
    database: str = field(default="chat", metadata=_means("name of the database"))
    host: str = field(default="127.0.0.1", metadata=_means("address to listen on"))
    port: int = field(default=8080, metadata=_means("port to listen on", check=_between(0, 65_535)))
    workers: int = field(
        default=1, metadata=_means("processes that share the port", check=_between(1))
    )
    loop: LoopKind = field(
        default="auto", metadata=_means("event loop; `auto` is uvloop where it is installed")
    )
    log_format: LogFormat = field(
        default="text", metadata=_means("form of the log; `json` needs `chat-aio[logs]`")
    )
    app: str | None = field(
        default=None,
        metadata=_means(
            "`module:factory` of an aiohttp app with its own Chat, instead of the settings "
            "that name the user"
        ),
    )
    auth_header: str | None = field(
        default=None,
        metadata=_means(
            "request header in which a trusted proxy names the user", check=_check_header
        ),
    )
    jwt_key: str | None = field(
        default=None,
        metadata=_means(
            "key that verifies tokens: a shared secret, or a public key as PEM; needs "
            "`chat-aio[jwt]`"
        ),
    )
    jwt_algorithm: Algorithm = field(
        default="HS256", metadata=_means("the only algorithm that `jwt_key` verifies")
    )
    jwt_keys_file: str | None = field(
        default=None,
        metadata=_means(
            "JWKS file with keys that verify tokens; a key needs `kid` and `alg`; read again on "
            "SIGHUP, and for an unknown `kid` at most once a minute"
        ),
    )
    jwt_issuer: str | None = field(default=None, metadata=_means("the `iss` that tokens must have"))
    jwt_audience: str | None = field(
        default=None, metadata=_means("the `aud` that tokens must have, alone or in a list")
    )
    jwt_leeway_seconds: float = field(
        default=30.0,
        metadata=_means(
            "by how much clocks may differ, for `exp` and `nbf` of tokens", check=_between(0, 300)
        ),
    )
    jwt_moderator_claim: str | None = field(
        default=None,
        metadata=_means("claim of a token that is `true` if the user may moderate"),
    )
    service_users: tuple[str, ...] = field(
        default=(),
        metadata=_means(
            "id of a service user, a program of yours with its own tokens; give the flag once for "
            "each",
            check=_check_ids,
            flag="--service-user",
        ),
    )
    moderators: tuple[str, ...] = field(
        default=(),
        metadata=_means(
            "id of a moderator; give the flag once for each",
            check=_check_ids,
            flag="--moderator",
        ),
    )
    moderator_header: str | None = field(
        default=None,
        metadata=_means(
            "request header in which the same proxy says `true` if the user may moderate",
            check=_check_header,
        ),
    )
    plugins: tuple[PluginName, ...] = field(
        default=(),
        metadata=_means(
            "any of `typing`, `presence`, `receipts`, `filter`, `drafts` and `attachments`"
        ),
    )
    presence_offline_delay_ms: int = field(
        default=5_000,
        metadata=_means(
            "how long a user without a stream is still online",
            check=lambda value: Presence(offline_delay_ms=value),
        ),
    )
    presence_lease_seconds: float = field(
        default=15.0,
        metadata=_means(
            "a process without a sign of life for this long counts as dead, for presence",
            check=lambda value: Presence(lease_seconds=value),
        ),
    )
    filter_rules: tuple[Mapping[str, Any], ...] = field(
        default=(),
        metadata=_means(
            "rules of the plugin `filter`, such as "
            '`[{"rule": "words", "words": ["moron"], "action": "hold"}]`',
            check=rules_from,
        ),
    )
    filter_reporter_id: str = field(
        default="filter",
        metadata=_means(
            "who reports messages for the plugin `filter`; an id that no user has",
            check=lambda value: _check_ids((value,)),
        ),
    )
    drafts_assistants: tuple[str, ...] = field(
        default=(),
        metadata=_means(
            "id of an assistant, which writes drafts (the plugin `drafts`) and messages with the "
            "role `assistant`; give the flag once for each",
            check=_check_ids,
            flag="--assistant",
        ),
    )
    drafts_abandoned_seconds: float = field(
        default=60.0,
        metadata=_means(
            "a draft to which nothing is added for this long ends without a message",
            check=lambda value: Drafts(abandoned_seconds=value),
        ),
    )
    attachments_max_bytes: int = field(
        default=100 * MEBIBYTE,
        metadata=_means(
            "maximum size of a file, for the plugin `attachments`",
            check=lambda value: Attachments(max_bytes=value),
        ),
    )
    attachments_content_types: tuple[str, ...] = field(
        default=("*",),
        metadata=_means("content types of files that are allowed, such as `image/*`"),
    )
    attachments_files_per_day: int = field(
        default=200,
        metadata=_means(
            "maximum number of files that a user uploads within a day",
            check=lambda value: Attachments(files_per_day=value),
        ),
    )
    attachments_bytes_per_day: int = field(
        default=1024 * MEBIBYTE,
        metadata=_means(
            "maximum size of all files that a user uploads within a day",
            check=lambda value: Attachments(bytes_per_day=value),
        ),
    )
    attachments_thumbnail_size: int = field(
        default=320,
        metadata=_means(
            "maximum width and height of thumbnails, which need `chat-aio[attachments]`",
            check=lambda value: Attachments(thumbnail_size=value),
        ),
    )
    attachments_max_pixels: int = field(
        default=50_000_000,
        metadata=_means(
            "a larger image has no thumbnail", check=lambda value: Attachments(max_pixels=value)
        ),
    )
    attachments_cleanup_interval_seconds: float = field(
        default=60.0,
        metadata=_means(
            "seconds between searches for files that no message carries",
            check=lambda value: Attachments(cleanup_interval_seconds=value),
        ),
    )
    webhook_url: str | None = field(
        default=None,
        metadata=_means(
            "endpoint to which events are posted, such as of messages; this URL and the other "
            "ones need `webhook_secret` and `chat-aio[notifications]`",
            check=_check_endpoint,
        ),
    )
    webhook_secret: str | None = field(
        default=None,
        metadata=_means(
            "secret of the signatures of all requests to your URLs: `whsec_` and base64 of 24 to "
            "64 random bytes",
            check=_check_secret,
        ),
    )
    webhook_events: tuple[StoredEventType, ...] = field(
        default=STORED_EVENTS,
        metadata=_means("kinds of events that are posted; by default all", check=_check_events),
    )
    push_private_key: str | None = field(
        default=None,
        metadata=_means(
            "VAPID private key for Web Push, as base64url or DER; needs `push_subject` and "
            "`chat-aio[notifications]`"
        ),
    )
    push_subject: str | None = field(
        default=None,
        metadata=_means(
            "contact for push services, such as `mailto:ops@example.org`", check=_check_subject
        ),
    )
    notifications_url: str | None = field(
        default=None,
        metadata=_means(
            "endpoint to which each notification of a user is posted, such as to send an e-mail",
            check=_check_endpoint,
        ),
    )
    notifications_delay_seconds: float = field(
        default=10.0,
        metadata=_means(
            "how long after a message users are notified who have not seen it",
            check=lambda value: Notifications(delay_seconds=value),
        ),
    )
    notifications_suppress_when: Literal["delivered", "read"] = field(
        default="delivered",
        metadata=_means("what makes a notification unnecessary: an open stream, or reading"),
    )
    notifications_once_until_read: bool = field(
        default=False,
        metadata=_means("one notification for a conversation until the user reads it"),
    )
    profiles_url: str | None = field(
        default=None,
        metadata=_means(
            "endpoint that answers with the names and pictures of users", check=_check_endpoint
        ),
    )
    search_users_url: str | None = field(
        default=None,
        metadata=_means(
            "endpoint that finds users by name; needs `profiles_url`", check=_check_endpoint
        ),
    )
    permissions_url: str | None = field(
        default=None,
        metadata=_means(
            "endpoint that decides on the creation of conversations", check=_check_endpoint
        ),
    )
    permissions_read: bool = field(
        default=False, metadata=_means("`permissions_url` also decides on reading")
    )
    permissions_write: bool = field(
        default=False, metadata=_means("`permissions_url` also decides on writing")
    )
    permissions_cache_seconds: float = field(
        default=30.0,
        metadata=_means(
            "how long an answer about reading or writing is kept; 0 asks each time",
            check=_between(0, 300),
        ),
    )
    metrics: bool | None = field(
        default=None,
        metadata=_means(
            "measure, and serve `/metrics`; by default if `chat-aio[metrics]` is installed"
        ),
    )
    tracing: bool = field(
        default=False,
        metadata=_means(
            "spans for OpenTelemetry; needs `chat-aio[otel]` and an SDK that exports them"
        ),
    )
    tracing_user_ids: bool = field(default=False, metadata=_means("name the acting user in spans"))
    options: Options = field(default_factory=Options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting: its name and meaning, and how it is read."""

    name: str
    kind: Kind
    default: Any
    meaning: str
    check: Callable[[Any], object]
    own_flag: str | None = None

    @property
    def flag(self) -> str:
        return self.own_flag or f"--{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()

    def read(self, given: Any) -> Any:
        """The value of what a flag, a variable or a file gives. Raises ValueError, which says what
        it must be."""
        try:
            value = self.kind.read(given)
        except UnknownName:
            raise
        except (AttributeError, KeyError, TypeError, ValueError):
            # A connection string may contain a password, and errors are logged.
            shown = "" if self.name in SECRETS else f", not {given!r}"
            raise ValueError(f"must be {self.kind.expected}{shown}") from None
        self.check(value)
        return value

    def shown(self, value: Any) -> Any:
        """A value as JSON, without secrets."""
        if self.name in KEYS:
            return value and "***"
        if self.name in URLS and value:
            # The user, the path and the query may be secrets.
            parts = urlsplit(value)
            return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/***"
        if self.name == "mongo_url":
            return _FURTHER_SECRETS.sub(r"\1***", _PASSWORD.sub(r"\1:***@", value))
        if isinstance(value, Quotas):
            usual = asdict(Quotas())
            return {name: most for name, most in asdict(value).items() if most != usual[name]}
        if self.name == "filter_rules":
            return [*value]
        # A set has no order: sorted, the outputs of two processes can be compared.
        if isinstance(value, frozenset | tuple):
            return sorted(
                (element.name.lower() if isinstance(element, Enum) else str(element))
                for element in value
            )
        return value


def text_of(shown: Any) -> str:
    """A value that `Setting.shown` has returned, as it can be written in a file or a variable."""
    return json.dumps(shown, ensure_ascii=False)


def _checked_by_options(name: str) -> Callable[[Any], object]:
    """Options refuse values out of range."""

    def check(value: Any) -> None:
        try:
            Options(**{name: value})
        except ValueError as error:
            raise ValueError(str(error).partition("): ")[2]) from None

    return check


def _settings() -> dict[str, Setting]:
    own, options = get_type_hints(ServeSettings), get_type_hints(Options)
    settings = [
        Setting(
            name=field.name,
            kind=kind_of(own[field.name]),
            default=field.default,
            meaning=field.metadata["meaning"],
            check=field.metadata["check"],
            own_flag=field.metadata["flag"],
        )
        for field in fields(ServeSettings)
        if field.name != "options"
    ]
    for option in fields(Options):
        if option.name not in LIBRARY_ONLY:
            make = option.default_factory
            usual = make() if make is not MISSING else option.default
            settings.append(
                Setting(
                    name=option.name,
                    kind=kind_of(options[option.name]),
                    default=DEFAULTS.get(option.name, usual),
                    meaning=option.metadata["meaning"],
                    check=_checked_by_options(option.name),
                )
            )
    return {setting.name: setting for setting in settings}


SETTINGS = _settings()
"""Every setting by its name, in the order of the documents."""


def made_of(values: Mapping[str, Any]) -> ServeSettings:
    """The settings of these values, one for each of SETTINGS."""
    options = {field.name for field in fields(Options)}
    return ServeSettings(
        **{name: value for name, value in values.items() if name not in options},
        options=Options(**{name: value for name, value in values.items() if name in options}),
    )
