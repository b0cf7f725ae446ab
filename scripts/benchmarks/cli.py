"""The command line: selects rows, runs them within their time, and prints the table."""

import asyncio
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
from pymongo import AsyncMongoClient

from benchmarks import (
    against,
    deliveries,
    files,
    floors,
    further,
    groups,
    growth,
    marks,
    notifying,
    others,
    reads,
    returning,
    search,
    sends,
    streams,
    unread,
)
from benchmarks.loops import LoopKind
from benchmarks.neighbours import Neighbours
from benchmarks.peers import rooms, sending, streaming
from benchmarks.processes import LoadFailed
from benchmarks.stage import Stage, local_mongod_pid
from benchmarks.table import ROWS, Figure, Line, MissingPeer, Row, table_of
from chat_aio.embedded import Mongod

__all__ = [
    "deliveries",
    "files",
    "floors",
    "further",
    "groups",
    "growth",
    "main",
    "marks",
    "notifying",
    "others",
    "reads",
    "returning",
    "rooms",
    "search",
    "sending",
    "sends",
    "streaming",
    "streams",
    "unread",
]

ROW_SECONDS = 120
ALL_SECONDS = 1_800
DISTURBED = 0.05
LOOP_HELP = "Event loop of the chat: uvloop with --peers, as `chat-aio serve` has it, else asyncio."


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--only",
    "names",
    multiple=True,
    type=click.Choice(sorted(ROWS, key=lambda name: ROWS[name].place), case_sensitive=False),
    help="Measure this row; may be repeated. By default all but those of --peers.",
)
@click.option("--peers", is_flag=True, help="Also measure other servers that are installed here.")
@click.option("--quick", is_flag=True, help="Use short rounds and small data, for a first look.")
@click.option("--loop", type=click.Choice(["asyncio", "uvloop"]), help=LOOP_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table.")
@click.option("--against", "revision", metavar="REV", help="Compare with this git revision.")
@click.option(
    "--rounds",
    type=click.IntRange(1, 50),
    default=5,
    show_default=True,
    help="Rounds of each side, with --against.",
)
@click.option("--mongo-url", help="Use this replica set; databases chat_bench_* are dropped.")
def main(
    names: Sequence[str],
    peers: bool,
    quick: bool,
    loop: LoopKind | None,
    as_json: bool,
    revision: str | None,
    rounds: int,
    mongo_url: str | None,
) -> None:
    """Measure the chat against floors taken in the same run; all rows take a quarter of an hour.

    Figures are ratios of alternating rounds, or CPU time per unit of work: absolute figures drift
    with the machine. Exit code 1 if something failed under load; a missed goal is not a failure.

    With --against, this checkout and a git revision take turns and measure themselves, with their
    own benchmarks; a figure is divided by that of the revision in the same round.
    """
    if revision is not None:
        tell = partial(click.echo, err=True)
        wanted = names or against.ROWS
        for change in against.compare(revision, wanted, rounds=rounds, quick=quick, tell=tell):
            click.echo(change)
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, hard), hard))
    rows = prepared(chosen(names, peers=peers))
    kind = loop or ("uvloop" if peers else "asyncio")
    try:
        lines = asyncio.run(_measured(rows, mongo_url=mongo_url, loop=kind, quick=quick))
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.exit(130)
    click.echo(json.dumps([line.as_json() for line in lines]) if as_json else table_of(lines))
    sys.exit(1 if any(line.failed for line in lines) else 0)


def chosen(names: Sequence[str], *, peers: bool) -> list[Row]:
    """The rows of these names; if there are none, the rows with a peer, or those without one."""
    rows = [ROWS[name] for name in names] or [
        row for row in ROWS.values() if (row.peer is not None) == peers
    ]
    return sorted(rows, key=lambda row: row.place)


def prepared(rows: Sequence[Row]) -> list[Row]:
    """The rows that can be measured here. Prints the versions of the peers, or what they lack;
    exits if no row is left."""
    missing = set()
    for peer in dict.fromkeys(row.peer for row in rows if row.peer):
        try:
            click.echo(f"  {peer.name}: {peer.prepare()}", err=True)
        except MissingPeer as reason:
            click.echo(f"  {peer.name} is not measured: {reason}", err=True)
            missing.add(peer)
    left = [row for row in rows if row.peer not in missing]
    if not left:
        raise click.ClickException("there is nothing to measure")
    return left


async def _measured(
    rows: Sequence[Row], *, mongo_url: str | None, loop: LoopKind, quick: bool
) -> list[Line]:
    main_task = asyncio.current_task()
    if main_task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, main_task.cancel)
    deadline = time.monotonic() + ALL_SECONDS
    lines = []
    async with _database(mongo_url) as url, AsyncMongoClient[dict[str, Any]](url) as client:
        stage = Stage(
            url=url,
            client=client,
            mongod_pid=await local_mongod_pid(client),
            loop=loop,
            quick=quick,
        )
        stage.tell(await _machine(stage))
        for row in rows:
            stage.tell(f"{row.name}: {row.what}")
            lines.append(await _line(row, stage, seconds=deadline - time.monotonic()))
            stage.tell(f"  {lines[-1].failed or 'measured'} ({lines[-1].seconds:.0f} s)")
    return lines


@asynccontextmanager
async def _database(mongo_url: str | None) -> AsyncIterator[str]:
    """The given replica set, or a separate one in a temporary folder."""
    if mongo_url is not None:
        yield mongo_url
        return
    with tempfile.TemporaryDirectory(prefix="chat-bench-") as folder:
        async with Mongod(Path(folder)) as mongod:
            yield mongod.url


async def _machine(stage: Stage) -> str:
    server = await stage.client.server_info()
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores, load average {load:.2f} before; Python {sys.version.split()[0]}, "
        f"{stage.loop}; MongoDB {server['version']}{'; quick: small data' * stage.quick}"
    )


async def _line(chosen: Row, stage: Stage, *, seconds: float) -> Line:
    """The result of a row; a failure or a disturbance is part of it."""
    began = time.monotonic()
    neighbours = Neighbours([stage.mongod_pid] if stage.mongod_pid else [])
    try:
        async with asyncio.timeout(max(0, min(seconds, ROW_SECONDS))):
            figures = dict(await chosen.measure(stage))
        if (share := neighbours.share()) > DISTURBED:
            figures["other programs took"] = Figure(share * 100, "% of the CPU")
        return Line(chosen, figures, time.monotonic() - began)
    except TimeoutError:
        reason = f"not finished after {time.monotonic() - began:.0f} s"
    except LoadFailed as error:
        reason = str(error)
    except Exception as error:
        traceback.print_exc()
        reason = repr(error)
    return Line(chosen, {}, time.monotonic() - began, failed=reason)
