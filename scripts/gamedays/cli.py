"""The command line: selects breakages, plays one after the other, and prints the table."""

import asyncio
import json
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from gamedays import of_callers, of_mongodb, of_service
from gamedays.disk import CannotPlay
from gamedays.prometheus import SCALE, find_prometheus
from gamedays.stage import GameFailed, staged
from gamedays.table import BREAKAGES, Breakage, Outcome, as_json, table_of

__all__ = ["main", "of_callers", "of_mongodb", "of_service"]

FAILED = 1
NO_PROMETHEUS = 4
"""Exit codes."""

SECONDS = 240
"""For one breakage, with its deployment."""

MISSING = "prometheus, which evaluates the alerts, is not on PATH: apt-get install prometheus"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--only",
    "names",
    multiple=True,
    type=click.Choice(sorted(BREAKAGES)),
    help="Play this breakage; may be repeated. By default all of them.",
)
@click.option("--json", "as_document", is_flag=True, help="Print JSON instead of the table.")
def main(names: Sequence[str], as_document: bool) -> None:
    """Break a local deployment in realistic ways, one after the other.

    For each breakage: does the alert of the runbook's entry fire, and is the deployment healthy
    again after its cure? Each breakage has a separate, temporary deployment. Exit code 1 if an
    alert did not fire or a cure did not help, 4 without a prometheus on PATH.
    """
    prometheus = find_prometheus()
    if prometheus is None:
        click.echo(f"Error: {MISSING}", err=True)
        sys.exit(NO_PROMETHEUS)
    chosen = [BREAKAGES[name] for name in dict.fromkeys(names)] or [*BREAKAGES.values()]
    click.echo(f"A minute of the alert rules is {60 / SCALE:g} s here.", err=True)
    try:
        played = asyncio.run(_played(chosen, prometheus))
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.exit(130)
    click.echo(json.dumps(as_json(played)) if as_document else table_of(played))
    sys.exit(FAILED if any(outcome.failed for _, outcome in played) else 0)


async def _played(chosen: Sequence[Breakage], prometheus: Path) -> list[tuple[Breakage, Outcome]]:
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    played = []
    for breakage in chosen:
        click.echo(f"{breakage.name}: {breakage.what}", err=True)
        outcome = await _outcome(breakage, prometheus)
        said = outcome.failed or outcome.missing or "played"
        click.echo(f"  {said}", err=True)
        played.append((breakage, outcome))
    return played


async def _outcome(chosen: Breakage, prometheus: Path) -> Outcome:
    """Play a breakage; a failure is part of the result."""
    try:
        with tempfile.TemporaryDirectory(prefix="chat-game-") as folder:
            async with asyncio.timeout(SECONDS):
                return await _play(chosen, Path(folder), prometheus)
    except CannotPlay as reason:
        return Outcome(missing=str(reason))
    except TimeoutError:
        return Outcome(failed=f"it was not over after {SECONDS} s")
    except GameFailed as reason:
        return Outcome(failed=str(reason))
    except Exception as error:
        traceback.print_exc()
        return Outcome(failed=repr(error))


async def _play(chosen: Breakage, folder: Path, prometheus: Path) -> Outcome:
    async with staged(chosen.plan, folder, prometheus) as stage:
        await stage.until_well(chosen.alert)
        async with chosen.play(stage):
            fired = await stage.until_fires(chosen.alert)
            click.echo(f"  {chosen.alert} fires after {fired:.0f} s", err=True)
            began = time.monotonic()
        await stage.until_well(chosen.alert)
        return Outcome(fired_after=fired, well_after=time.monotonic() - began)
