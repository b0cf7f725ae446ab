"""What `chat-aio serve` runs: its settings, its database client and its app."""

import importlib
import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import fields
from typing import Any, TypeVar

import click
from aiohttp import web
from pydantic import Field, Json, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict
from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import PyMongoError

from chat_aio.chat import Chat
from chat_aio.errors import SetupError
from chat_aio.observability.observer import Observer
from chat_aio.options import Options, Quotas
from chat_aio.plugins import Plugin, Presence, Receipts, Typing
from chat_aio.server.logging_setup import LogFormat
from chat_aio.server.loop import LoopKind
from chat_aio.store.database import Database
from chat_aio.web.health import add_health
from chat_aio.web.openapi.routes import add_openapi
from chat_aio.web.protecting import hide_server

PLUGINS: dict[str, type[Plugin]] = {
    "typing": Typing,
    "presence": Presence,
    "receipts": Receipts,
}

T = TypeVar("T")


class WrongName(click.ClickException):
    """Wrong usage, reported in one line."""

    exit_code = 2


class ServeSettings(BaseSettings):
    """The settings of `serve` and `indexes`, from options or from CHAT_AIO_* in the environment."""

    model_config = SettingsConfigDict(env_prefix="CHAT_AIO_")

    mongo_url: str = "mongodb://127.0.0.1:27017/?replicaSet=rs0"
    database: str = "chat"
    collection_prefix: str = ""
    host: str = "127.0.0.1"
    port: int = 8080
    auth_header: str | None = None
    app: str | None = None
    plugins: str = ""
    extra_events: bool = False
    separate_blocked: bool = False
    presence_needs_exchange: bool = False
    allowed_origins: str = ""
    # `Json` parses text, in the environment as on the command line: so the default is text, too.
    rate_limits: Json[dict[str, str]] = Field("{}", validate_default=True)
    quotas: Json[dict[str, int | None] | None] = Field("{}", validate_default=True)
    workers: int = Field(1, ge=1)
    log_format: LogFormat = "text"
    loop: LoopKind = "auto"


def settings_from(**given: object) -> ServeSettings:
    """The options that were given, else the environment, else the defaults."""
    try:
        return ServeSettings.model_validate(
            # An option that was not given must not hide the environment's value.
            {name: value for name, value in given.items() if value is not None}
        )
    except ValidationError as error:
        first = error.errors()[0]
        option = "_".join(map(str, first["loc"]))
        of_flag = given.get(option) is not None
        name = f"--{option.replace('_', '-')}" if of_flag else f"CHAT_AIO_{option.upper()}"
        raise click.ClickException(f"{name}: {first['msg']}") from None


async def with_database(settings: ServeSettings, act: Callable[[Database], Awaitable[T]]) -> T:
    """Run `act` with the database. Raises SetupError if it cannot be reached."""
    async with client_of(settings.mongo_url) as client:
        database = Database(client[settings.database], prefix=settings.collection_prefix)
        await database.require_replica_set()
        return await act(database)


def client_of(url: str) -> AsyncMongoClient[dict[str, Any]]:
    """A client of what `--mongo-url` names. Raises SetupError for an invalid URL."""
    try:
        return AsyncMongoClient[dict[str, Any]](url)
    except (PyMongoError, ValueError) as error:
        raise SetupError(f"--mongo-url: {' '.join(str(error).split())}") from error


class Clients:
    """The MongoDB client of a chat that makes its own. If it is stuck, `make` replaces it."""

    def __init__(self, url: str, database: str) -> None:
        self._url, self._database = url, database
        self._clients: list[AsyncMongoClient[dict[str, Any]]] = []

    def make(self) -> AsyncDatabase[dict[str, Any]]:
        """The database over a new client. Raises SetupError for an invalid URL."""
        self._clients.append(client_of(self._url))
        return self._clients[-1][self._database]

    async def close(self, *_: object) -> None:
        """Close the client in use; closing a stuck one would never return."""
        if self._clients:
            await self._clients[-1].close()


async def make_served(settings: ServeSettings, plugins: Iterable[Plugin]) -> web.Application:
    app = await _made_by(settings.app) if settings.app else _make_standalone(settings, plugins)
    app.on_response_prepare.append(hide_server)
    add_health(app)
    add_openapi(app)
    # Without the extra `metrics` there is no /metrics.
    with suppress(ImportError):
        from chat_aio.web.metrics import add_metrics

        add_metrics(app)
    return app


def _make_standalone(settings: ServeSettings, plugins: Iterable[Plugin]) -> web.Application:
    """An app with the chat alone. Raises SetupError for an invalid setting."""
    header = settings.auth_header or ""
    clients = Clients(settings.mongo_url, settings.database)
    try:
        chat = Chat(
            # Made here, within the event loop: a client belongs to the loop in which it is made.
            clients.make(),
            renew=clients.make,
            auth=lambda request: {"id": _only(request.headers.getall(header, ()))},
            options=_options_from(settings),
            plugins=plugins,
            observers=_observers(),
        )
    except ValueError as error:
        raise SetupError(str(error)) from error
    app = web.Application()
    chat.mount(app)

    app.on_cleanup.append(clients.close)
    return app


async def _made_by(place: str) -> web.Application:
    """The app that `module:factory` makes; the factory may be async. Raises SetupError."""
    module_name, _, name = place.partition(":")
    try:
        factory = getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SetupError(f"--app {place}: {error}") from error
    made = factory()
    app = await made if inspect.isawaitable(made) else made
    if not isinstance(app, web.Application):
        raise SetupError(f"--app {place} made a {type(app).__name__}, not an aiohttp Application")
    return app


def plugins_from(names: str) -> list[Plugin]:
    """The plugins of these comma-separated names."""
    named = dict.fromkeys(each.strip() for each in names.split(",") if each.strip())
    if unknown := next((each for each in named if each not in PLUGINS), None):
        raise WrongName(f"--plugins: there is no {unknown!r}; there are {', '.join(PLUGINS)}")
    return [PLUGINS[each]() for each in named]


def _only(values: Sequence[str]) -> str | None:
    """The value of a header that a proxy sets. If there are two, one may come from the client, so
    neither counts."""
    return values[0] if len(values) == 1 else None


def _options_from(settings: ServeSettings) -> Options:
    origins = [each.strip() for each in settings.allowed_origins.split(",") if each.strip()]
    return Options(
        collection_prefix=settings.collection_prefix,
        # Nobody moderates through this service, but another one over the same database, or
        # `chat-aio moderation`, may have banned somebody.
        enforce_bans=True,
        extra_events=settings.extra_events,
        separate_blocked=settings.separate_blocked,
        presence_needs_exchange=settings.presence_needs_exchange,
        allowed_origins=origins or None,
        rate_limits=settings.rate_limits,
        quotas=_quotas_from(settings.quotas),
    )


def _quotas_from(given: dict[str, int | None] | None) -> Quotas | None:
    """The quotas, with these values in place of defaults; None switches them off. Raises ValueError
    for an unknown name."""
    if given is None:
        return None
    names = {each.name for each in fields(Quotas)}
    if unknown := next((each for each in given if each not in names), None):
        raise ValueError(f"quotas: there is no {unknown!r}; there are {', '.join(sorted(names))}")
    return Quotas(**given)


def _observers() -> list[Observer]:
    """Metrics, if the extra is installed."""
    try:
        from chat_aio.observability.metrics import Metrics
    except ImportError:
        return []
    return [Metrics()]
