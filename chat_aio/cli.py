"""The command line: `chat-aio demo`, `serve` and `indexes`; every failure is one clear line."""

import asyncio
import gc
import importlib
import inspect
import logging
import socket
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import click
from aiohttp import web
from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict
from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError

from chat_aio.chat import Chat
from chat_aio.errors import ChatError, SetupError
from chat_aio.options import Options
from chat_aio.store import indexes
from chat_aio.store.database import Database
from chat_aio.web.access_log import RouteAccessLogger

GC_THRESHOLDS = (50_000, 20, 20)

MAX_LINE_BYTES = 32 * 1024
"""Room for a search of 2,048 characters, percent-encoded."""

T = TypeVar("T")


class ServeSettings(BaseSettings):
    """What `serve` and `indexes` need, from options or from CHAT_AIO_* in the environment."""

    model_config = SettingsConfigDict(env_prefix="CHAT_AIO_")

    mongo_url: str = "mongodb://127.0.0.1:27017/?replicaSet=rs0"
    database: str = "chat"
    collection_prefix: str = ""
    host: str = "127.0.0.1"
    port: int = 8080
    auth_header: str | None = None
    app: str | None = None


def settings_from(**given: object) -> ServeSettings:
    """Options that were given, the environment for the others, then the defaults."""
    try:
        return ServeSettings.model_validate(
            {name: value for name, value in given.items() if value is not None}
        )
    except ValidationError as error:
        first = error.errors()[0]
        name = f"CHAT_AIO_{'_'.join(map(str, first['loc'])).upper()}"
        raise click.ClickException(f"{name}: {first['msg']}") from None


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="chat-aio")
def main() -> None:
    """Chat for aiohttp apps on MongoDB."""


@main.command()
@click.option("--port", default=8080, show_default=True, help="Port on 127.0.0.1.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".data"),
    show_default=True,
    help="Folder of the embedded MongoDB.",
)
@click.option("--mongo-url", envvar="CHAT_AIO_MONGO_URL", help="Use this replica set instead.")
def demo(port: int, data: Path, mongo_url: str | None) -> None:
    """A chat in the browser with sample people, over an embedded MongoDB."""
    from chat_aio.demo.application import make_demo

    _require_port("127.0.0.1", port)
    _serve(make_demo(data=data, mongo_url=mongo_url, port=port, say=click.echo), port=port)


@main.command()
@click.option("--mongo-url", help="Connection string of a replica set.")
@click.option("--database", help="Name of the database.")
@click.option("--collection-prefix", help="Put before every collection's name.")
@click.option("--host", help="Address to listen on.")
@click.option("--port", type=int, help="Port to listen on.")
@click.option("--auth-header", help="Request header in which a trusted proxy names the user.")
@click.option("--app", help="module:factory of an aiohttp app that mounts its own Chat.")
def serve(**given: Any) -> None:
    """The chat at /api/chat, behind a proxy that authenticates; or your own app.

    Every option can also be set in the environment, as CHAT_AIO_MONGO_URL and so on.
    """
    settings = settings_from(**given)
    if (settings.auth_header is None) == (settings.app is None):
        raise click.ClickException(
            "who is calling? Give --auth-header NAME (set by a proxy that authenticates), "
            "or --app module:factory"
        )
    _require_port(settings.host, settings.port)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    spare_the_collector()
    _serve(_make_served(settings), host=settings.host, port=settings.port)


@main.group("indexes")
def indexes_group() -> None:
    """The indexes that the chat needs."""


def _database_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in ("--collection-prefix", "--database", "--mongo-url"):
        command = click.option(option)(command)
    return command


@indexes_group.command()
@_database_options
def check(**given: Any) -> None:
    """Name what is missing; exit code 1 if anything is."""
    problems = run(with_database(settings_from(**given), indexes.missing))
    for problem in problems:
        click.echo(problem)
    if problems:
        raise click.exceptions.Exit(1)
    click.echo("all indexes are there")


@indexes_group.command()
@_database_options
def apply(**given: Any) -> None:
    """Create what is missing. Existing data stay readable and writable meanwhile."""
    run(with_database(settings_from(**given), indexes.apply))
    click.echo("all indexes are there")


async def with_database(settings: ServeSettings, act: Callable[[Database], Awaitable[T]]) -> T:
    """Do something with a database; SetupError where there is none to be reached."""
    async with client_of(settings.mongo_url) as client:
        database = Database(client[settings.database], prefix=settings.collection_prefix)
        await database.require_replica_set()
        return await act(database)


def client_of(url: str) -> AsyncMongoClient[dict[str, Any]]:
    """A client of what `--mongo-url` names; SetupError for what is no such URL."""
    try:
        return AsyncMongoClient[dict[str, Any]](url)
    except (PyMongoError, ValueError) as error:
        raise SetupError(f"--mongo-url: {' '.join(str(error).split())}") from error


async def _make_served(settings: ServeSettings) -> web.Application:
    app = await _made_by(settings.app) if settings.app else _make_standalone(settings)
    app.router.add_get("/healthz", _healthy)
    return app


def _make_standalone(settings: ServeSettings) -> web.Application:
    header = settings.auth_header or ""
    client = client_of(settings.mongo_url)
    chat = Chat(
        client[settings.database],
        auth=lambda request: {"id": request.headers.get(header)},
        options=Options(collection_prefix=settings.collection_prefix),
    )
    app = web.Application()
    chat.mount(app)

    async def close_client(_: web.Application) -> None:
        await client.close()

    app.on_cleanup.append(close_client)
    return app


async def _made_by(place: str) -> web.Application:
    """The app that `module:factory` makes; the factory may be async."""
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


async def _healthy(_: web.Request) -> web.Response:
    return web.json_response({"ok": True})


def _require_port(host: str, port: int) -> None:
    """Refuse a taken port before anything is started."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            raise click.ClickException(
                f"cannot listen on {host}:{port} ({error}); choose another one with --port"
            ) from None


def spare_the_collector() -> None:
    """For a process that serves and nothing else: what has been loaded stays, so the garbage
    collector need not go through it; and it runs less often, for answers leave few cycles."""
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def _serve(
    app: Coroutine[Any, Any, web.Application], *, port: int, host: str = "127.0.0.1"
) -> None:
    try:
        web.run_app(
            app,
            host=host,
            port=port,
            print=None,
            access_log_class=RouteAccessLogger,
            shutdown_timeout=5,
            max_line_size=MAX_LINE_BYTES,
        )
    except SetupError as error:
        raise click.ClickException(str(error)) from error


def run(work: Coroutine[Any, Any, T]) -> T:
    """Do one command's work; what is refused or goes wrong is one line."""
    try:
        return asyncio.run(work)
    except (ChatError, SetupError, PyMongoError) as error:
        raise click.ClickException(" ".join(str(error).split())) from error
