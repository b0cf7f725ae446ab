"""The command line: `chat-aio serve`, `demo`, `check` and so on; every failure is one line."""

import asyncio
import gc
import importlib
import json
import logging
import os
import socket
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any

import click
from aiohttp import web

from chat_aio.admin.options import config_option, setting_options
from chat_aio.errors import SetupError
from chat_aio.server import process
from chat_aio.server.app import make_served, require_rate_limits
from chat_aio.server.logging_setup import LogFormat, log_to_stderr
from chat_aio.server.loop import LoopKind, run_on
from chat_aio.server.settings import SETTINGS, URLS, ServeSettings
from chat_aio.server.sources import (
    WrongSetting,
    find_settings,
    made_of_found,
    settings_from,
    unknown_variables,
)
from chat_aio.server.standalone import notifications_of, plugins_of, token_keys_of, webhooks_of
from chat_aio.server.supervisor import AS_WORKER, LOG_FORMAT_VARIABLE, Workers
from chat_aio.web.openapi.document import describe

log = logging.getLogger(__name__)

GC_THRESHOLDS = (50_000, 20, 20)

END_SECONDS = 4.5
"""Less than the 5 seconds that a process takes to end (docs/operations/deployment.md)."""

NAMING_USERS = ("app", "auth_header", "jwt_key", "jwt_keys_file")
"""The settings by which requests have a user; exactly one of them is given."""

LATER = {
    "new": "chat_aio.admin.new:new",
    "mongod": "chat_aio.admin.mongod:mongod",
    "check": "chat_aio.admin.check:check",
    "retention": "chat_aio.admin.retention:retention",
    "conversations": "chat_aio.admin.conversations:conversations",
    "moderation": "chat_aio.admin.moderation:moderation",
    "indexes": "chat_aio.admin.indexes:indexes",
    "stats": "chat_aio.admin.stats:stats",
    "config": "chat_aio.admin.config:config",
    "doctor": "chat_aio.admin.doctor.command:doctor",
    "purge-records": "chat_aio.admin.records:purge_records",
    "notifications": "chat_aio.admin.notifications:notifications",
    "webhooks": "chat_aio.admin.webhooks:webhooks",
    "attachments": "chat_aio.admin.attachments:attachments",
    "legal-hold": "chat_aio.admin.legal_holds:legal_hold",
    "users": "chat_aio.admin.users:users",
    "migrate": "chat_aio.admin.migrate:migrate",
    "mark-restored": "chat_aio.admin.restored:mark_restored",
}
"""Commands that are imported when they are called, by name, as `module:command`."""


class Commands(click.Group):
    """The commands of `chat-aio`. A process that serves does not load those of developers and
    operators."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *LATER])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        # Imported on demand: a worker starts faster, and holds less memory.
        if cmd_name not in LATER:
            return super().get_command(ctx, cmd_name)
        module, _, name = LATER[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
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
    """Run a chat in the browser with sample users, over an embedded MongoDB."""
    # Imported here, so that a process that serves does not load the demo.
    from chat_aio.demo.application import make_demo

    if mongo_url is not None:
        # Before anything is bound: the URL is not a setting of `serve` here, so nobody has read it.
        try:
            SETTINGS["mongo_url"].read(mongo_url)
        except ValueError as error:
            raise WrongSetting(f"--mongo-url: {error}") from None
    at = _bound("127.0.0.1", port)
    _serve(make_demo(data=data, mongo_url=mongo_url, port=port, say=click.echo), at)


@main.command()
@config_option
@setting_options(*SETTINGS)
@click.option(AS_WORKER, type=(int, int), hidden=True)
def serve(as_worker: tuple[int, int] | None, **given: Any) -> None:
    """Serve the chat at /api/chat, for users with tokens of your app, or behind a proxy that
    authenticates; or serve your own app, for which only --host, --port, --workers, --log-format,
    --loop and --no-metrics apply.

    Every option can also be set in the environment, as CHAT_AIO_MONGO_URL and so on, and in a TOML
    file, as mongo_url and so on; `chat-aio config` shows the values in force.
    /healthz and /readyz report whether the process is healthy and ready, /metrics has its metrics
    (with the extra `metrics`), and /openapi describes the API.
    """
    try:
        settings = _checked_settings(given)
    except click.ClickException as error:
        if as_worker is None:
            raise
        _log("json" if os.environ.get(LOG_FORMAT_VARIABLE) == "json" else "text")
        log.error("%s", error.message)
        raise click.exceptions.Exit(error.exit_code) from None
    _log(settings.log_format)
    if as_worker is not None:
        at, lifeline = (socket.socket(fileno=descriptor) for descriptor in as_worker)
    else:
        at, lifeline = _bound(settings.host, settings.port), None
        for warning in unknown_variables():
            log.warning(warning)
        # Bound before: all workers share the socket, and a port in use is refused once.
        if settings.workers > 1:
            workers = Workers(settings.workers, at, log_format=settings.log_format)
            raise click.exceptions.Exit(asyncio.run(workers.run()))
    # After the imports, whose objects are never freed, and before the app's own.
    spare_the_collector()
    _serve(make_served(settings), at, loop=settings.loop, lifeline=lifeline, end_within=END_SECONDS)


def _checked_settings(given: Mapping[str, Any]) -> ServeSettings:
    """The settings of `serve`, checked before workers are started: every worker would report the
    same mistake."""
    found = find_settings(**given)
    settings = made_of_found(found)
    _require_callers(settings)
    try:
        require_rate_limits(settings)
    except ValueError as error:
        said = str(error).removeprefix("Options(rate_limits=...): ")
        raise WrongSetting(f"{found['rate_limits'].place}: {said}") from None
    except SetupError as error:
        raise click.ClickException(str(error)) from None
    try:
        webhooks_of(settings)
        notifications_of(settings)
        token_keys_of(settings)
    except SetupError as error:
        raise click.ClickException(str(error)) from None
    _require_urls(settings)
    if settings.app is not None:
        # An app has its own plugins, so it is not known whether these settings fit them.
        return settings
    if settings.filter_rules and "filter" not in settings.plugins:
        place = found["filter_rules"].place
        raise WrongSetting(f"{place}: filter rules need the plugin: add filter to plugins")
    if ("drafts" in settings.plugins) != bool(settings.drafts_assistants):
        missing = "--plugins drafts" if settings.drafts_assistants else "--assistant USER"
        raise WrongSetting(
            f"the plugin drafts and its assistants need each other: {missing} is missing (or its "
            "variable, or its key in the file)"
        )
    return settings


def _require_urls(settings: ServeSettings) -> None:
    """Raise WrongSetting for a URL, a secret or a key without what belongs to it."""
    given = [_flag(name) for name in URLS if getattr(settings, name) is not None]
    if given and settings.webhook_secret is None:
        raise WrongSetting(f"{given[0]} and --webhook-secret (or their variables) need each other")
    if settings.webhook_secret is not None and not given:
        raise WrongSetting(
            f"--webhook-secret needs a URL: one of {', '.join(map(_flag, URLS))} (or its variable)"
        )
    if (settings.push_private_key is None) != (settings.push_subject is None):
        raise WrongSetting(
            "--push-private-key and --push-subject (or their variables) need each other"
        )
    if settings.search_users_url is not None and settings.profiles_url is None:
        raise WrongSetting("--search-users-url needs --profiles-url, which names those found")
    asking = settings.permissions_read or settings.permissions_write
    if asking and settings.permissions_url is None:
        raise WrongSetting(
            "--permissions-read and --permissions-write need --permissions-url, which is asked"
        )


def _flag(name: str) -> str:
    return SETTINGS[name].flag


def _require_callers(settings: ServeSettings) -> None:
    """Raise WrongSetting for settings that leave the calling user unknown."""
    given = [_flag(name) for name in NAMING_USERS if getattr(settings, name) is not None]
    if len(given) > 1:
        raise WrongSetting(
            f"{' and '.join(given)} are both given (or their variables, or their keys in the "
            "file): only one may name the users, so omit the others"
        )
    if not given:
        raise WrongSetting(
            "requests have no user: give --jwt-key KEY or --jwt-keys-file FILE (your app issues "
            "tokens), --auth-header NAME (set by a proxy that authenticates), or --app "
            "module:factory"
        )
    by_token = settings.jwt_key is not None or settings.jwt_keys_file is not None
    if not by_token and (settings.service_users or settings.jwt_moderator_claim):
        needing = "--service-user" if settings.service_users else "--jwt-moderator-claim"
        raise WrongSetting(f"{needing} needs tokens: --jwt-key KEY or --jwt-keys-file FILE")
    if by_token and settings.moderator_header is not None:
        raise WrongSetting(
            "--moderator-header is for a proxy that sets --auth-header: with tokens, give "
            "--jwt-moderator-claim"
        )
    names = {
        header.lower() for header in (settings.auth_header, settings.moderator_header) if header
    }
    if settings.moderator_header and settings.auth_header and len(names) == 1:
        raise WrongSetting("--moderator-header must be another header than --auth-header")


@main.command()
@config_option
@setting_options(
    "plugins",
    "extra_events",
    "inbox",
    "room_controls",
    "moderation_tools",
    "conversation_keys",
    "editable_metadata",
    "supervisors",
    "metadata_indexes",
    "search_filters",
)
@click.option("--can-delete", is_flag=True, help="With the route that needs the hook can_delete.")
@click.option(
    "--can-send-silently", is_flag=True, help="With silent messages: the hook can_send_silently."
)
@click.option("--mount", default="/api/chat", show_default=True, help="Where the chat is mounted.")
def openapi(mount: str, can_delete: bool, can_send_silently: bool, **given: Any) -> None:
    """Print the API's description in OpenAPI 3.1, as JSON."""
    settings = settings_from(**given)
    document = describe(
        plugins=plugins_of(settings),
        options=settings.options,
        can_delete=can_delete,
        can_send_silently=can_send_silently,
        mount=mount,
    )
    click.echo(json.dumps(document, indent=2))


def _log(written: LogFormat) -> None:
    try:
        log_to_stderr(written)
    except SetupError as error:
        raise click.ClickException(str(error)) from None


def _bound(host: str, port: int) -> socket.socket:
    """A bound socket that does not listen yet, so that a port in use is refused before anything is
    started."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    # Closed connections of an earlier process linger for a minute and would block a restart.
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except (OSError, OverflowError) as error:
        bound.close()
        raise click.ClickException(
            f"cannot listen on {host}:{port} ({error}); choose another one with --port"
        ) from None
    return bound


def spare_the_collector() -> None:
    """Make the garbage collector do less in a process that only serves. It skips all objects loaded
    so far, which are never freed, and runs less often, because answers leave few cycles."""
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def _serve(
    app: Coroutine[Any, Any, web.Application],
    at: socket.socket,
    *,
    loop: LoopKind = "auto",
    lifeline: socket.socket | None = None,
    end_within: float | None = None,
) -> None:
    try:
        with at:
            run_on(loop, process.serve(app, at, lifeline=lifeline, end_within=end_within))
    except SetupError as error:
        raise click.ClickException(str(error)) from error
