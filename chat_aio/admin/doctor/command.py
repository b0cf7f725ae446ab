"""`chat-aio doctor`: looks at a deployment, and says for each point how it is and what to do."""

import asyncio
import platform
from collections.abc import AsyncIterator, Mapping
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
from chat_aio.server.settings import ServeSettings
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
@click.option("--url", help="Look at the proxy, too: address of the mount, with /api/chat.")
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    callback=_headers,
    help="Sent to --url, to log in; may be given several times.",
)
@setting_options("ring_seconds", "heartbeat_interval_ms")
@reading
def doctor(*, url: str | None, headers: Mapping[str, str], as_json: bool, **given: Any) -> None:
    """Look at a deployment: MongoDB, the user's rights, indexes, and the proxy in front.

    Says for each point whether it is ok, a warning or a problem, and what to do. What this user of
    MongoDB may not see is unknown. Exit code 1 if there is a problem. Nothing is written. With
    --url it waits for two heartbeats, up to 50 seconds by default.
    """
    settings = settings_from(**given)

    async def look() -> list[Point]:
        found = []
        async for point in _points(settings, url, headers):
            found.append(point)
            if not as_json:  # At once: the points of a proxy take a while.
                click.echo(_lines(point))
        return found

    points = asyncio.run(look())
    problems = sum(point.state == "problem" for point in points)
    if as_json:
        document = {"points": [asdict(point) for point in points], "problems": problems}
        click.echo(json_from(document))
    if problems:
        raise click.exceptions.Exit(1)


async def _points(
    settings: ServeSettings, url: str | None, headers: Mapping[str, str]
) -> AsyncIterator[Point]:
    for name, found in (
        ("chat-aio", version("chat-aio")),
        ("Python", platform.python_version()),
        ("PyMongo", version("pymongo")),
    ):
        yield ok(name, found)
    async for point in points_of_database(settings):
        yield point
    if url is not None:
        heartbeat = settings.options.heartbeat_interval_ms / 1000
        async for point in points_of_proxy(url, headers, heartbeat=heartbeat):
            yield point


def _lines(point: Point) -> str:
    line = f"{point.state:<8} {point.name}: {plain(point.found)}"
    return line if point.advice is None else f"{line}\n         -> {point.advice}"
