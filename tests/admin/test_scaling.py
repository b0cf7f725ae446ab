"""`scripts/scaling`: its arithmetic, its options, and the documents it takes its figures from."""

import math
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from benchmarks.scaling import (
    Costs,
    Load,
    feed_limit,
    full_first,
    fullness,
    greatest_sends,
    hearing,
    main,
    mongod_cores,
    process_cores,
)
from click.testing import CliRunner

DOCS = Path(__file__).parents[2] / "docs"
NO_TICKS = Costs(ticks_per_second=0)
GUIDE = (DOCS / "operations/scaling.md").read_text()
CONSOLE = re.findall(r"```console\n\$ .venv/bin/python scripts/scaling(.*)\n((?:.*\n)*?)```", GUIDE)


def run(*options: str) -> str:
    got = CliRunner().invoke(main, options)
    assert got.exit_code == 0, got.output
    return got.output


@pytest.mark.parametrize("processes", [1, 4, 500])
def test_twice_the_processes_pay_twice_for_the_feed(processes: int) -> None:
    one, two = (Load(processes=count) for count in (processes, 2 * processes))
    feed_of_one, feed_of_two = (process_cores(load, NO_TICKS)["feed"] for load in (one, two))
    assert feed_of_two == feed_of_one == pytest.approx(1_000 * 43e-6)
    assert two.processes * feed_of_two == 2 * one.processes * feed_of_one


def test_the_wall_of_one_feed_does_not_move_with_processes() -> None:
    load = Load(listeners=0, streams=0, hot_share=0)
    sends = [
        greatest_sends(replace(load, processes=count), NO_TICKS)["a process"]
        for count in (1, 10, 1_000, 1_000_000)
    ]
    assert sends == sorted(sends)
    assert round(feed_limit(NO_TICKS)) == 23_256
    assert sends[-1] < feed_limit(NO_TICKS)
    assert sends[-1] == pytest.approx(feed_limit(NO_TICKS), rel=1e-4)


def test_without_load_nothing_is_used() -> None:
    nothing = Load(sends_per_second=0, streams=0)
    assert set(fullness(nothing, NO_TICKS).values()) == {0}
    free = Costs(**dict.fromkeys(asdict(NO_TICKS), 0) | {"hot_alone": 1, "hot_shared": 1})
    assert full_first(Load(hot_share=0), free)[1] == math.inf


def test_ticks_grow_with_the_square_of_processes() -> None:
    nothing = Load(sends_per_second=0, streams=0, processes=100)
    more = replace(nothing, processes=200)
    of_all = [load.processes * process_cores(load, Costs())["feed"] for load in (nothing, more)]
    assert of_all[1] == pytest.approx(4 * of_all[0])


def test_one_process_costs_what_p1_has_measured() -> None:
    load = Load(processes=1, sends_per_second=1, streams=0, listeners=0)
    cores = sum(process_cores(load, NO_TICKS).values()) + sum(mongod_cores(load, NO_TICKS).values())
    assert cores == pytest.approx(397e-6)


@pytest.mark.parametrize(
    ("processes", "listeners", "expected"),
    [(1, 0, 0), (1, 4, 1), (2, 2, 1.5), (1, 0.5, 0.5), (10**6, 4, 4), (10, 10**4, 10)],
)
def test_which_processes_hear_an_event(processes: int, listeners: float, expected: float) -> None:
    assert hearing(Load(processes=processes, listeners=listeners)) == pytest.approx(
        expected, rel=1e-4
    )


def test_listeners_cost_the_first_more_than_further_ones() -> None:
    load = Load(processes=1, sends_per_second=1)
    none, one, three = (
        process_cores(replace(load, listeners=count), NO_TICKS)["deliveries"] for count in (0, 1, 3)
    )
    assert none == 0
    assert one == pytest.approx((181 - 43) / 1e6)
    assert three - one == pytest.approx(2 * 6.3 / 1e6)


@pytest.mark.parametrize(
    ("load", "name"),
    [
        (Load(processes=1), "a process"),
        (Load(processes=100), "mongod"),
        (Load(processes=2, hot_share=1), "hot conversation"),
    ],
)
def test_the_part_that_is_full_first(load: Load, name: str) -> None:
    part, sends = full_first(load, Costs())
    assert part == name
    full = fullness(replace(load, sends_per_second=sends), Costs())
    assert full[part] == pytest.approx(1) == max(full.values())


def test_each_process_reads_what_others_write() -> None:
    """Also where nobody uses the chat; each deployment has a replica set of its own."""
    load = Load(sends_per_second=0, streams=0, processes=10, other_writes_per_second=10_000)
    costs = replace(NO_TICKS, mongod_per_other_write=7)
    assert sum(mongod_cores(load, costs).values()) == pytest.approx(0.7)
    assert sum(mongod_cores(replace(load, deployments=5), costs).values()) == pytest.approx(0.14)
    assert fullness(load, costs)["mongod"] == pytest.approx(0.7 / load.mongod_cores)
    name, sends = full_first(replace(load, processes=200), costs)
    assert (name, sends) == ("mongod", 0)


def test_deployments_share_the_load() -> None:
    one = Load(processes=10, hot_share=0)
    ten = replace(one, processes=100, deployments=10, sends_per_second=10_000, streams=100_000)
    assert fullness(ten, Costs()) == pytest.approx(fullness(one, Costs()))


def test_the_table_names_what_is_full_first() -> None:
    table = run("--processes", "1").splitlines()[-5:]
    assert [line.split()[0] for line in table] == ["processes", "1", "10", "100", "1,000"]
    assert re.search(r"a process +2,545$", table[1])
    assert "mongod" in table[3]


def test_options_replace_figures() -> None:
    assert "the limit of one feed: 10,000 events/s" in run("--cpu-per-event", "100")
    assert run("--mongod-per-cursor", "1") != run()
    assert re.search(r"^ +7 ", run("--processes", "7"), re.M)
    assert "  hot conversation  " in run("--hot-share", "1").splitlines()[-3]
    table = run("--processes", "100", "--deployments", "10").splitlines()
    assert table[-3].split()[0] == "10"
    assert CliRunner().invoke(main, ["--processes", "2", "--deployments", "3"]).exit_code == 2


def test_the_defaults_are_those_of_the_measurements() -> None:
    text, costs = (DOCS / "project/benchmarks.md").read_text(), Costs()
    for row, figure in {
        "P1": "397 µs of CPU",
        "P2": f"{costs.hot_alone:,}/s",
        "P3": f"{costs.hot_shared:,}/s",
        "P4": f"{costs.cpu_per_delivery} µs of CPU each",
        "P6": "0.18 % of a core for 1,000",
        "P13": f"**{costs.cpu_per_heard_event} µs** of CPU an event",
        "P24": f"| {costs.mongod_per_other_write} µs |",
    }.items():
        assert re.search(rf"^\| {row} \|.*{re.escape(figure)}", text, re.M), row
    assert f"costs it about {costs.cpu_per_send} µs" in text
    assert f"about {costs.cpu_per_event} µs each" in text
    of_a_further_process = (4.19 - 1) / 7 * 394
    assert "4.19 × the CPU of one (394 µs)" in text
    assert costs.mongod_per_cursor == round(of_a_further_process - costs.cpu_per_event)


def test_the_page_shows_what_it_prints() -> None:
    assert len(CONSOLE) == 2
    for options, shown in CONSOLE:
        assert run(*options.split()) == shown
