"""The game day: its rules are the real ones, its table is documented, and it is played for real."""

import asyncio
import json
import os
import re
import sys
from typing import Any
from unittest.mock import AsyncMock

import pytest
from click.testing import CliRunner
from gamedays import stage
from gamedays.cli import NO_PROMETHEUS, main
from gamedays.prometheus import RULES, find_prometheus, quickened
from gamedays.stage import GameFailed, Stage
from gamedays.table import BREAKAGES, Outcome, table_of

from tests.support.processes import ROOT, without_own_variables

RUNBOOK = (ROOT / "docs/operations/runbook.md").read_text()
SECONDS = 240
LONG = pytest.mark.long


def test_the_rules_of_the_game_differ_in_their_durations_alone() -> None:
    rules = RULES.read_text()
    quick = quickened(rules)
    duration = re.compile(r"\b\d+(ms|[smh])\b")
    assert duration.sub("", quick) == duration.sub("", rules)
    assert "[5000ms]" in quick
    assert "[60000ms]" in quick
    assert "for: 2000ms" in quick
    assert not re.search(r"\b\d+[mh]\b", quick)


def test_every_breakage_is_documented() -> None:
    (found,) = re.findall(r"^\| Breakage \|.*\n\|[-|]+\n((?:\|.*\n)+)", RUNBOOK, re.M)
    documented = [[cell.strip() for cell in row.split("|")[1:-1]] for row in found.splitlines()]
    played = [
        [breakage.name, breakage.what, breakage.alert, breakage.cure]
        for breakage in BREAKAGES.values()
    ]
    assert sorted(documented) == sorted(played)
    alerts = re.findall(r"- alert: (\w+)", RULES.read_text())
    assert {breakage.alert for breakage in BREAKAGES.values()} <= {*alerts}


def test_a_failure_is_shown_in_its_place() -> None:
    bad_row = BREAKAGES["bad-row"]
    failed = table_of([(bad_row, Outcome(fired_after=2.4, failed="it stays broken"))])
    assert "ChatMalformedRows, 2 s" in failed
    assert "FAILED: it stays broken" in failed
    assert "not played: no root" in table_of([(bad_row, Outcome(missing="no root"))])


def test_without_prometheus_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    result = CliRunner().invoke(main, ["--only", "bad-row"])
    (line,) = result.output.splitlines()
    assert (result.exit_code, line.startswith("Error: ")) == (NO_PROMETHEUS, True)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A deployment of which only is said what fires, and whether people are served."""
    for name in ("FIRE_SECONDS", "WELL_SECONDS"):
        monkeypatch.setattr(stage, name, 0.3)
    return Stage(
        folder=ROOT,
        members=AsyncMock(),
        services=[],
        people=AsyncMock(),
        prometheus=AsyncMock(),
        certificates=None,
    )


@pytest.mark.parametrize("others", [set[str](), {"ChatResets"}])
async def test_an_alert_that_does_not_fire_is_a_failure(here: Stage, others: set[str]) -> None:
    prometheus: Any = here.prometheus
    prometheus.firing.return_value = others
    with pytest.raises(GameFailed, match=f"{', '.join(others) or 'nothing'} did"):
        await here.until_fires("ChatDown")
    prometheus.firing.return_value = {*others, "ChatDown"}
    await here.until_fires("ChatDown")


@pytest.mark.parametrize(
    ("firing", "served"), [({"ChatDown"}, True), (set[str](), False), ({"ChatDown"}, False)]
)
async def test_a_cure_that_does_not_help_is_a_failure(
    here: Stage, firing: set[str], served: bool
) -> None:
    """Also where only the alert ends, or only people are served."""
    prometheus: Any = here.prometheus
    people: Any = here.people
    prometheus.firing.return_value = firing
    people.are_served.return_value = served
    with pytest.raises(GameFailed, match="it is not healthy, or ChatDown still fires"):
        await here.until_well("ChatDown")
    prometheus.firing.return_value = {"ChatResets"}
    people.are_served.return_value = True
    await here.until_well("ChatDown")


async def play(name: str) -> list[dict[str, Any]]:
    command = (sys.executable, str(ROOT / "scripts" / "game-day"), "--json", "--only", name)
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**without_own_variables(), "PYTHONPATH": str(ROOT)},
    )
    try:
        said, errors = await asyncio.wait_for(process.communicate(), SECONDS)
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    assert process.returncode == 0, errors.decode()
    return list(json.loads(said))


@pytest.mark.skipif(
    find_prometheus() is None and "CI" not in os.environ,
    reason="no prometheus on PATH: apt-get install prometheus",
)
@pytest.mark.parametrize("name", ["killed-process", pytest.param("bad-row", marks=LONG)])
async def test_it_is_played(name: str) -> None:
    """What fails is an exit code."""
    (played,) = await play(name)
    assert played["failed"] is None
    assert played["fired_after"] is not None
    assert played["well_after"] is not None
