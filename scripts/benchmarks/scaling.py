"""The capacity of a deployment: arithmetic over figures of docs/project/benchmarks.md. Nothing is
measured.

docs/operations/scaling.md describes the sources of the figures, and the omissions.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

import click

MICROS = 1e-6
COUNTS = (1, 10, 100, 1_000)
AT_LEAST_ZERO = click.FloatRange(min=0)
ABOVE_ZERO = click.FloatRange(min=0, min_open=True)
WHOLE = click.IntRange(min=1)


def given(
    default: float, text: str, *, allowed: click.FloatRange | click.IntRange = AT_LEAST_ZERO
) -> Any:
    """A field that is an option of the command line."""
    return field(default=default, metadata={"help": text, "type": allowed})


@dataclass(frozen=True, kw_only=True)
class Load:
    """The load of the whole service. The defaults are an example."""

    processes: int = given(10, "Service processes in all.", allowed=WHOLE)
    deployments: int = given(
        1, "Separate databases with a mongod each; the load is spread evenly.", allowed=WHOLE
    )
    sends_per_second: float = given(1_000, "Messages sent a second, in all.")
    events_per_send: float = given(1, "Events per message: 1, and its edits and reactions.")
    listeners: float = given(4, "Open streams that receive an event.")
    streams: float = given(10_000, "Open streams in all.")
    hot_share: float = given(
        0.01,
        "Part of all sends that is sent to one hot conversation.",
        allowed=click.FloatRange(0, 1),
    )
    mongod_cores: float = given(8, "Cores of the primary, of each deployment.", allowed=ABOVE_ZERO)
    other_writes_per_second: float = given(
        0, "Documents per second that other programs write into each replica set."
    )


@dataclass(frozen=True, kw_only=True)
class Costs:
    """The cost of each thing, in µs of CPU unless another unit is given."""

    cpu_per_send: float = given(186, "Of the process that receives a message. For sizing.")
    cpu_per_event: float = given(43, "Of a process without listeners. For sizing.")
    cpu_per_heard_event: float = given(181, "Of a process with one listener. P13.")
    cpu_per_delivery: float = given(6.3, "Of each further listener. P4.")
    cpu_per_stream: float = given(1.8, "Heartbeats of a stream, in a second. P6.")
    mongod_per_send: float = given(168, "Of mongod, one cursor included. P1 and for sizing.")
    mongod_per_cursor: float = given(137, "Of mongod, an event for a further process. P3d.")
    mongod_per_other_write: float = given(
        7.9, "Of mongod, another program's document for each change stream. P24."
    )
    ticks_per_second: float = given(0.2, "Events that prove a feed alive, of a process in use.")
    hot_alone: float = given(3_536, "Sends/s of one process into one. P2.", allowed=ABOVE_ZERO)
    hot_shared: float = given(2_018, "Sends/s of several into one. P3.", allowed=ABOVE_ZERO)


def processes_of_each(load: Load) -> float:
    """Processes of one deployment."""
    return load.processes / load.deployments


def events_of_each(load: Load) -> float:
    """Events a second, without ticks, in the feed of one deployment."""
    return load.sends_per_second * load.events_per_send / load.deployments


def ticks_of_each(load: Load, costs: Costs) -> float:
    """Ticks a second in the feed of one deployment, which all its processes read."""
    return costs.ticks_per_second * processes_of_each(load)


def hearing(load: Load) -> float:
    """Processes with a listener of an event, if streams are distributed at random."""
    count = processes_of_each(load)
    without = math.pow(1 - 1 / count, load.listeners)
    return min(load.listeners, count * (1 - without))


def process_cores(load: Load, costs: Costs) -> dict[str, float]:
    """The use of each process, in cores, by kind of work."""
    events, count = events_of_each(load), processes_of_each(load)
    first = costs.cpu_per_heard_event - costs.cpu_per_event
    heard = hearing(load)
    further = load.listeners - heard
    return {
        "sends": load.sends_per_second / load.processes * costs.cpu_per_send * MICROS,
        "feed": (events + ticks_of_each(load, costs)) * costs.cpu_per_event * MICROS,
        "deliveries": events * (heard * first + further * costs.cpu_per_delivery) / count * MICROS,
        "heartbeats": load.streams / load.processes * costs.cpu_per_stream * MICROS,
    }


def mongod_cores(load: Load, costs: Costs) -> dict[str, float]:
    """The use of the primary of each deployment, in cores, by kind of work."""
    sends = load.sends_per_second / load.deployments
    events = events_of_each(load) + ticks_of_each(load, costs)
    further_cursors = max(0.0, processes_of_each(load) - 1)
    return {
        "sends": sends * costs.mongod_per_send * MICROS,
        "cursors": events * further_cursors * costs.mongod_per_cursor * MICROS,
        "writes of others": load.other_writes_per_second
        * processes_of_each(load)
        * costs.mongod_per_other_write
        * MICROS,
    }


def fullness(load: Load, costs: Costs) -> dict[str, float]:
    """The load of each part; 1 is its capacity."""
    most = costs.hot_shared if processes_of_each(load) > 1 else costs.hot_alone
    return {
        "a process": sum(process_cores(load, costs).values()),
        "mongod": sum(mongod_cores(load, costs).values()) / load.mongod_cores,
        "hot conversation": load.hot_share * load.sends_per_second / most,
    }


def greatest_sends(load: Load, costs: Costs) -> dict[str, float]:
    """Sends per second at which each part is full; processes and streams are unchanged."""
    resting = fullness(replace(load, sends_per_second=0), costs)
    one = fullness(replace(load, sends_per_second=1), costs)
    return {
        name: max(0.0, 1 - resting[name]) / (share - resting[name])
        if share > resting[name]
        else math.inf
        for name, share in one.items()
    }


def full_first(load: Load, costs: Costs) -> tuple[str, float]:
    """The part that is full first if sends grow, and the sends per second at that point."""
    greatest = greatest_sends(load, costs)
    name = min(greatest, key=lambda part: greatest[part])
    return name, greatest[name]


def feed_limit(costs: Costs) -> float:
    """Events per second that fill a process with reading alone, independent of their number."""
    return 1 / (costs.cpu_per_event * MICROS) if costs.cpu_per_event else math.inf


HEAD = (
    *("processes", "cores of all", "for the feed", "a process", "mongod", "hot conversation"),
    *("full first", "most sends/s"),
)


def rows(load: Load, costs: Costs) -> Iterator[tuple[str, ...]]:
    """The table over several numbers of processes."""
    yield HEAD
    for count in sorted({*COUNTS, load.processes}):
        if count < load.deployments:
            continue
        scaled = replace(load, processes=count)
        cores, parts = process_cores(scaled, costs), fullness(scaled, costs)
        used = (f"{count * sum(cores.values()):,.1f}", f"{count * cores['feed']:,.1f}")
        shares = (f"{share:,.0%}" for share in parts.values())
        name, greatest = full_first(scaled, costs)
        yield (f"{count:,}", *used, *shares, name, f"{greatest:,.0f}")


def report(load: Load, costs: Costs) -> Iterator[str]:
    """The printed report, line by line."""
    for title, parts in (
        ("a service process", process_cores(load, costs)),
        ("a mongod primary", mongod_cores(load, costs)),
    ):
        kinds = ", ".join(f"{name} {cores:.2f}" for name, cores in parts.items())
        yield f"{title}: {sum(parts.values()):.2f} cores ({kinds})"
    yield f"the limit of one feed: {feed_limit(costs):,.0f} events/s"
    yield ""
    table = list(rows(load, costs))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option for each field of Load and Costs."""
    for option in reversed((*fields(Load), *fields(Costs))):
        name = "--" + option.name.replace("_", "-")
        kind, text = option.metadata["type"], option.metadata["help"]
        add = click.option(name, type=kind, default=option.default, show_default=True, help=text)
        command = add(command)
    return command


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@with_options
def main(**values: Any) -> None:
    if values["processes"] < values["deployments"]:
        raise click.UsageError("each deployment needs a process")
    load = Load(**{option.name: values[option.name] for option in fields(Load)})
    costs = Costs(**{option.name: values[option.name] for option in fields(Costs)})
    for line in report(load, costs):
        click.echo(line)
