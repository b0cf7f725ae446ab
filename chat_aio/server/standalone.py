"""The chat that `chat-aio serve` makes: its settings as plugins, hooks and `auth`."""

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from aiohttp import web

from chat_aio.chat import Chat
from chat_aio.errors import SetupError
from chat_aio.hooks import Hooks
from chat_aio.observability.observer import Observer
from chat_aio.options import Options
from chat_aio.plugins import (
    Attachments,
    Drafts,
    Filter,
    Notifications,
    Plugin,
    Presence,
    Push,
    Receipts,
    Typing,
    Webhook,
    Webhooks,
)
from chat_aio.server.callers import Callers
from chat_aio.server.clients import Clients
from chat_aio.server.filter_rules import rules_from
from chat_aio.server.header_auth import HeaderAuth
from chat_aio.server.host import HostURL
from chat_aio.server.host_people import HostProfiles, HostSearch
from chat_aio.server.host_permissions import PAIRS, ForgetPermissions, HostPermissions
from chat_aio.server.settings import ServeSettings
from chat_aio.server.token_keys import KeySet, TokenKeys, keys_of_file, single_key
from chat_aio.web.app_keys import Auth
from chat_aio.web.browser_files import add_browser_files

log = logging.getLogger(__name__)

PLUGINS: Mapping[str, Callable[[ServeSettings], Plugin]] = {
    "typing": lambda _: Typing(),
    "presence": lambda settings: Presence(
        offline_delay_ms=settings.presence_offline_delay_ms,
        lease_seconds=settings.presence_lease_seconds,
    ),
    "receipts": lambda _: Receipts(),
    "filter": lambda settings: Filter(
        rules_from(settings.filter_rules), reporter_id=settings.filter_reporter_id
    ),
    "drafts": lambda settings: Drafts(
        settings.drafts_assistants, abandoned_seconds=settings.drafts_abandoned_seconds
    ),
    "attachments": lambda settings: Attachments(
        max_bytes=settings.attachments_max_bytes,
        content_types=settings.attachments_content_types,
        files_per_day=settings.attachments_files_per_day,
        bytes_per_day=settings.attachments_bytes_per_day,
        thumbnail_size=settings.attachments_thumbnail_size,
        max_pixels=settings.attachments_max_pixels,
        cleanup_interval_seconds=settings.attachments_cleanup_interval_seconds,
    ),
}


def plugins_of(settings: ServeSettings) -> list[Plugin]:
    return [PLUGINS[name](settings) for name in settings.plugins]


def webhooks_of(settings: ServeSettings) -> list[Plugin]:
    """Raises SetupError without the package standardwebhooks."""
    url, secret = settings.webhook_url, settings.webhook_secret
    if url is None or secret is None:
        return []
    return [Webhooks(url, secret, events=settings.webhook_events)]


def notifications_of(settings: ServeSettings) -> list[Plugin]:
    """Raises SetupError for a wrong key, and without the packages of the extra."""
    channels: list[Push | Webhook] = []
    if settings.push_private_key is not None and settings.push_subject is not None:
        try:
            channels.append(Push(settings.push_private_key, settings.push_subject))
        except (ValueError, TypeError):
            # Without the reason: it may quote a part of the key.
            raise SetupError("push_private_key is no VAPID private key") from None
    if settings.notifications_url is not None and settings.webhook_secret is not None:
        channels.append(Webhook(settings.notifications_url, settings.webhook_secret))
    if not channels:
        return []
    return [
        Notifications(
            channels=channels,
            delay_seconds=settings.notifications_delay_seconds,
            suppress_when=settings.notifications_suppress_when,
            once_until_read=settings.notifications_once_until_read,
        )
    ]


def token_keys_of(settings: ServeSettings) -> KeySet | None:
    """The keys that verify tokens; None without such settings. Raises SetupError for a key or a
    file that is wrong."""
    if settings.jwt_key is not None:
        return single_key(settings.jwt_key, settings.jwt_algorithm)
    file = _keys_file(settings)
    return None if file is None else keys_of_file(file)


def _keys_file(settings: ServeSettings) -> Path | None:
    return None if settings.jwt_keys_file is None else Path(settings.jwt_keys_file)


def make_standalone(settings: ServeSettings) -> web.Application:
    """An app with the chat alone. Raises SetupError for an invalid setting."""
    clients = Clients(settings.mongo_url, settings.database)
    app = web.Application()
    auth, options = _auth_of(settings, app)
    host = _Host(settings)
    chat = Chat(
        # Made here, within the event loop: a client belongs to the loop in which it is made.
        clients.make(),
        database_factory=clients.make,
        auth=auth,
        hooks=host.hooks(),
        options=options,
        plugins=[
            *plugins_of(settings),
            *webhooks_of(settings),
            *notifications_of(settings),
            *host.plugins,
        ],
        observers=observers_of(settings),
    )
    # Before the chat is mounted: its startup may call hooks.
    app.cleanup_ctx.append(host.opened)
    chat.mount(app)
    add_browser_files(app)
    app.on_cleanup.append(clients.close)
    return app


def _auth_of(settings: ServeSettings, app: web.Application) -> tuple[Auth, Options]:
    """What names the user of a request, and the options that it needs."""
    keys = token_keys_of(settings)
    if keys is None:
        header = settings.auth_header or ""
        by_header = HeaderAuth(header, moderator_header=settings.moderator_header)
        return by_header.auth, settings.options
    # Imported here: a process without tokens needs no package for them.
    from chat_aio.server.token_auth import TokenAuth

    tokens = TokenAuth(
        TokenKeys(keys, _keys_file(settings)),
        issuer=settings.jwt_issuer,
        audience=settings.jwt_audience,
        leeway_seconds=settings.jwt_leeway_seconds,
        moderator_claim=settings.jwt_moderator_claim,
        services=settings.service_users,
    )
    app.on_startup.append(tokens.read_keys_on_signal)
    # Streams end with their token.
    return tokens.auth, replace(settings.options, reauthenticate=True)


class _Host:
    """The host's rules: lists of users, and its URLs."""

    def __init__(self, settings: ServeSettings) -> None:
        self._callers = Callers(
            moderators=settings.moderators,
            requests_name_moderators=bool(
                settings.moderator_header or settings.jwt_moderator_claim
            ),
            assistants=settings.drafts_assistants,
            service_users=settings.service_users,
        )
        self._settings = settings
        self._urls: list[HostURL] = []
        self._permissions: HostPermissions | None = None
        self.plugins: list[Plugin] = []
        if (url := self._url("permissions_url")) is not None:
            is_service = self._callers.is_service
            kept_seconds = settings.permissions_cache_seconds
            self._permissions = HostPermissions(
                url, kept_seconds=kept_seconds, is_service=is_service
            )
            self.plugins = [ForgetPermissions(self._permissions, is_service)]

    def hooks(self) -> Hooks:
        hooks = self._callers.hooks()
        if (url := self._url("profiles_url")) is not None:
            hooks = replace(hooks, profiles=HostProfiles(url).profiles)
        if (url := self._url("search_users_url")) is not None:
            hooks = replace(hooks, search_users=HostSearch(url).search_users)
        if self._permissions is not None:
            hooks = replace(hooks, can_create=self._permissions.can_create)
            # Only where it is switched on: each read then depends on the host being there.
            if self._settings.permissions_read:
                can_read = self._permissions.can_read
                hooks = replace(hooks, can_read=can_read, can_read_at_once=PAIRS)
            if self._settings.permissions_write:
                hooks = replace(hooks, can_write=self._permissions.can_write)
        return hooks

    async def opened(self, _: web.Application) -> AsyncIterator[None]:
        """As long as the app runs: it begins before the chat, and ends after it."""
        async with AsyncExitStack() as stack:
            for url in self._urls:
                await url.open()
                stack.push_async_callback(url.close)
            yield

    def _url(self, name: str) -> HostURL | None:
        """Raises SetupError without the package standardwebhooks."""
        url, secret = getattr(self._settings, name), self._settings.webhook_secret
        if url is None or secret is None:
            return None
        seconds = self._settings.options.hook_timeout_seconds
        made = HostURL(name, url, secret, hook_seconds=seconds)
        self._urls.append(made)
        return made


def observers_of(settings: ServeSettings) -> list[Observer]:
    """Metrics and traces, as set. Raises SetupError if their packages are not installed."""
    observers: list[Observer] = []
    if settings.metrics is not False:
        try:
            from chat_aio.observability.metrics import Metrics
        except ImportError:
            # None is the default: metrics where the package is there, and no error where it is not.
            if settings.metrics is not None:
                raise SetupError(
                    "metrics need the extra metrics (docs/start/installation.md)"
                ) from None
        else:
            observers.append(Metrics())
    if settings.tracing:
        try:
            from chat_aio.observability.tracing import Tracing, has_sdk
        except ImportError:
            raise SetupError("tracing needs the extra otel (docs/start/installation.md)") from None
        if not has_sdk():
            log.warning(
                "spans are lost: no OpenTelemetry SDK is set up in this process, "
                "as `opentelemetry-instrument chat-aio serve ...` does it"
            )
        observers.append(Tracing(user_ids=settings.tracing_user_ids))
    return observers
