"""The app that `chat-aio serve` runs: its own chat behind a proxy, or a host's app."""

import importlib
import inspect
import logging
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from aiohttp import web

from chat_aio.actions.rate_limits import rate_limits_from
from chat_aio.chat import Chat, limited_methods
from chat_aio.errors import SetupError
from chat_aio.observability.observer import Observer
from chat_aio.plugins import (
    Attachments,
    Drafts,
    Filter,
    Plugin,
    Presence,
    Receipts,
    Typing,
    Webhooks,
)
from chat_aio.server.callers import Callers
from chat_aio.server.clients import Clients
from chat_aio.server.filter_rules import rules_from
from chat_aio.server.header_auth import HeaderAuth
from chat_aio.server.settings import ServeSettings
from chat_aio.server.token_keys import KeySet, TokenKeys, keys_of_file, single_key
from chat_aio.web.app_keys import Auth
from chat_aio.web.health import add_health
from chat_aio.web.openapi.routes import add_openapi
from chat_aio.web.security_headers import hide_server

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


def token_keys_of(settings: ServeSettings) -> KeySet | None:
    """The keys that verify tokens; None without such settings. Raises SetupError for a key or a
    file that is wrong."""
    if settings.jwt_key is not None:
        return single_key(settings.jwt_key, settings.jwt_algorithm)
    file = _keys_file(settings)
    return None if file is None else keys_of_file(file)


def _keys_file(settings: ServeSettings) -> Path | None:
    return None if settings.jwt_keys_file is None else Path(settings.jwt_keys_file)


def require_rate_limits(settings: ServeSettings) -> None:
    """Raise ValueError for rate limits that cannot be; SetupError without the package `limits`."""
    methods = set(limited_methods(plugins_of(settings)))
    rate_limits_from(settings.options.rate_limits, methods=methods)


async def make_served(settings: ServeSettings) -> web.Application:
    app = await _made_by(settings.app) if settings.app else _make_standalone(settings)
    app.on_response_prepare.append(hide_server)
    add_health(app)
    add_openapi(app)
    if settings.metrics is not False:
        # Without the extra `metrics` there is no /metrics.
        with suppress(ImportError):
            from chat_aio.web.metrics import add_metrics

            add_metrics(app)
    return app


def _make_standalone(settings: ServeSettings) -> web.Application:
    """An app with the chat alone. Raises SetupError for an invalid setting."""
    clients = Clients(settings.mongo_url, settings.database)
    app = web.Application()
    options = settings.options
    auth: Auth
    if (keys := token_keys_of(settings)) is not None:
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
        auth, options = tokens.auth, replace(options, reauthenticate=True)
    else:
        header = settings.auth_header or ""
        auth = HeaderAuth(header, moderator_header=settings.moderator_header).auth
    callers = Callers(
        moderators=settings.moderators,
        requests_name_moderators=bool(settings.moderator_header or settings.jwt_moderator_claim),
        assistants=settings.drafts_assistants,
        service_users=settings.service_users,
    )
    chat = Chat(
        # Made here, within the event loop: a client belongs to the loop in which it is made.
        clients.make(),
        database_factory=clients.make,
        auth=auth,
        hooks=callers.hooks(),
        options=options,
        plugins=[*plugins_of(settings), *webhooks_of(settings)],
        observers=observers_of(settings),
    )
    chat.mount(app)
    app.on_cleanup.append(clients.close)
    return app


async def _made_by(place: str) -> web.Application:
    """The app that `module:factory` makes; the factory may be async. Raises SetupError."""
    module_name, _, name = place.partition(":")
    # The app is found where the command is given; a console script does not look there by itself.
    if (here := os.getcwd()) not in sys.path:
        sys.path.insert(0, here)
    try:
        factory = getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SetupError(f"--app {place}: {error}") from error
    made = factory()
    app = await made if inspect.isawaitable(made) else made
    if not isinstance(app, web.Application):
        raise SetupError(f"--app {place} made a {type(app).__name__}, not an aiohttp Application")
    return app


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
