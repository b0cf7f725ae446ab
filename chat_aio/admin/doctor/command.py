"""`chat-aio doctor`: checks a deployment, and prints the state and the advice of every point."""

import asyncio
import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import click

from chat_aio.admin.doctor.database import points_of_database
from chat_aio.admin.doctor.points import Point, ok
from chat_aio.admin.doctor.proxy import points_of_proxy
from chat_aio.admin.options import reading, setting_options
from chat_aio.admin.printing import plain
from chat_aio.schema.wire import json_from
from chat_aio.server.sources import settings_from


def _headers(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    headers = {}
    for header in given:
        name, colon, value = header.partition(":")
        if not colon:
            raise click.BadParameter("a header is written as 'Name: value'")
        headers[name.strip()] = value.strip()
    return headers


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--url", help="Also check the proxy: URL of the mount, with /api/chat.")
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    callback=_headers,
    help="Header sent to --url, to log in; may be given several times.",
)
@setting_options("replay_buffer_seconds", "heartbeat_interval_ms")
@reading
def doctor(*, url: str | None, headers: Mapping[str, str], as_json: bool, **given: Any) -> None:
    """Check a deployment: MongoDB, the user's rights, indexes, and the proxy in front.

    Every point is ok, a warning or a problem, and comes with advice. A point is unknown if this
    user of MongoDB may not see it. Exit code 1 if there is a problem. Nothing is written. With
    --url it waits for two heartbeats, up to 50 seconds by default.
    """
    settings = settings_from(**given)

    async def look() -> list[Point]:
        found = []

        def note(point: Point) -> None:
            found.append(point)
            if not as_json:  # Print at once: checking a proxy takes a while.
                click.echo(f"{point.state:<8} {point.name}: {plain(point.found)}")
                if point.advice is not None:
                    click.echo(f"         -> {point.advice}")

        note(ok("chat-aio", version("chat-aio")))
        note(ok("Python", platform.python_version()))
        note(ok("PyMongo", version("pymongo")))
        async for point in points_of_database(settings):
            note(point)
        if url is not None:
            heartbeat = settings.options.heartbeat_interval_ms / 1000
            async for point in points_of_proxy(url, headers, heartbeat=heartbeat):
                note(point)
        return found

    points = asyncio.run(look())
    problems = sum(point.state == "problem" for point in points)
    if as_json:
        document = {"points": [asdict(point) for point in points], "problems": problems}
        click.echo(json_from(document))
    # Warnings do not fail: a deployment may accept them.
    if problems:
        raise click.exceptions.Exit(1)
