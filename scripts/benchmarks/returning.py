"""Rows about clients that return, all at once, and receive the events that they have missed."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from benchmarks.data import BODY, Place, places, put_conversations, put_messages
from benchmarks.deliveries import Arrival, Reading, reading, streams_of
from benchmarks.load import Callers, Connection, get, patch, percentile, post
from benchmarks.processes import LoadFailed
from benchmarks.readers import StreamKind
from benchmarks.stage import Client, Service, Stage, connected
from benchmarks.table import Figure, Figures, at_most, ms, rate, row

SET_USERS = 250
SET_GROUPS = 10
HISTORY = 40
NEW_PER_GROUP = 2
MISSED = SET_GROUPS * NEW_PER_GROUP
SAY_SECONDS = 30
CATCH_UP_SECONDS = 40
REFETCH_SECONDS = 80
AT_ONCE = 64
SLOW_PAUSE_SECONDS = 0.02
RENAMED = 2
CHANGED = b"event: stream.changed\n"

Groups = Sequence[Place]
"""The groups of one set of users: all of them are in all of these groups."""


def sets_of(count: int) -> list[Groups]:
    sets = list[Groups]()
    for name in (f"set-{number:02}" for number in range(count)):
        users = tuple(f"{name}-u{user:03}" for user in range(SET_USERS))
        sets.append([Place(f"{name}-{group}", users, HISTORY) for group in range(SET_GROUPS)])
    return sets


def returns_of(sets: Sequence[Groups]) -> list[bytes]:
    """The requests of returning users who have seen today's first message in the set's first
    group."""
    return [
        get(f"/stream?lastEventId={groups[0].id}:{HISTORY + 1}", user_id)
        for groups in sets
        for user_id in groups[0].user_ids
    ]


async def say_all(service: Service, sets: Sequence[Groups]) -> None:
    """The message that all have seen, then two in each group; waits until streams have received
    all."""
    firsts = [groups[0] for groups in sets]
    rest = [group for groups in sets for group in groups for _ in range(NEW_PER_GROUP)]
    witnesses = streams_of(first.user_ids[0] for first in firsts)
    async with reading(service.port, witnesses) as readers, connected([service], 16) as connections:
        for found in (firsts, rest):
            await Callers(connections, _messages_into(found)).run(SAY_SECONDS)
        await readers.wait_for(len(sets) * (1 + MISSED))


def _messages_into(found: Sequence[Place]) -> Iterator[bytes]:
    for place in found:
        yield post(f"/conversations/{place.id}/messages", place.user_ids[0], {"body": BODY})


async def reads_so_far(client: Client) -> int:
    """The number of finds and aggregations that the server has run."""
    commands = (await client.admin.command("serverStatus"))["metrics"]["commands"]
    return sum(int(commands[name]["total"]) for name in ("find", "aggregate"))


@dataclass(frozen=True, slots=True)
class Sent:
    """The monotonic time of a message, and the duration of its answer."""

    at: float
    seconds: float


class SlowSender:
    """Sends one message at a time with pauses, into a separate conversation."""

    def __init__(self, connection: Connection, place: Place) -> None:
        self.sent: list[Sent] = []
        self._connection = connection
        self._request = next(_messages_into([place]))

    async def send(self) -> None:
        began = time.monotonic()
        self.sent.append(Sent(began, await self._connection.timed(self._request)))
        await asyncio.sleep(SLOW_PAUSE_SECONDS)

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[None]:
        """Sends during the context; waits for the last answer."""
        over = asyncio.Event()
        sending = asyncio.create_task(self._send_until(over))
        try:
            yield
        finally:
            over.set()
            await sending

    async def _send_until(self, over: asyncio.Event) -> None:
        while not over.is_set():
            await self.send()

    def between(self, began: float, ended: float) -> list[float]:
        """The durations of the answers that were awaited in this time."""
        return [e.seconds for e in self.sent if e.at + e.seconds >= began and e.at <= ended]


async def caught_up(readers: Reading, streams: int) -> Arrival:
    """Wait until all have received what they missed. Raises LoadFailed if they receive more."""
    last = await readers.wait_for(streams * MISSED, seconds=CATCH_UP_SECONDS)
    told = (await readers.wait_for(0)).count
    if told != streams * MISSED:
        raise LoadFailed(f"{told} events instead of {streams * MISSED}")
    return last


async def come_back(stage: Stage, service: Service, quiet: Place, returns: list[bytes]) -> Figures:
    """All at once, with a slow sender through the same process."""
    async with connected([service]) as (connection,):
        sender = SlowSender(connection, quiet)
        for _ in range(20):
            await sender.send()
        reads = await reads_so_far(stage.client)
        meter = stage.meter([service], mongod=False)
        async with (
            sender.sending(),
            reading(service.port, returns, at_once=len(returns)) as readers,
        ):
            last = await caught_up(readers, len(returns))
            cpu = meter.seconds()
            reads = await reads_so_far(stage.client) - reads
    sends = sender.between(readers.began, last.seconds)
    return {
        "streams": Figure(len(returns)),
        "service's CPU/stream": ms(cpu / len(returns)),
        "sends": Figure(len(sends)),
        "send p50": ms(percentile(sends, 50)),
        "worst": ms(max(sends)),
        "seconds": Figure(last.seconds - readers.began, "s"),
        "reads/stream": Figure(reads / len(returns)),
        "send p99": ms(percentile(sends, 99)),
    }


def refetches_of(sets: Sequence[Groups]) -> Iterator[bytes]:
    """The requests of a client once its stream is open: its list, and the page that it shows."""
    for groups in sets:
        for user_id in groups[0].user_ids:
            yield get("/conversations?limit=50&include=lastMessage,unread", user_id)
            yield get(f"/conversations/{groups[0].id}/messages?limit=50", user_id)


async def come_back_and_refetch(
    stage: Stage, service: Service, quiet: Place, sets: Sequence[Groups]
) -> Figures:
    """As `come_back`, and every client requests its list and its page as soon as possible."""
    returns = returns_of(sets)
    async with connected([service]) as (connection,), connected([service], AT_ONCE) as clients:
        sender = SlowSender(connection, quiet)
        meter = stage.meter([service], mongod=False)
        async with (
            sender.sending(),
            reading(service.port, returns, at_once=len(returns)) as readers,
        ):
            refetched = await Callers(clients, refetches_of(sets)).run(REFETCH_SECONDS)
            ended = time.monotonic()
            await caught_up(readers, len(returns))
            cpu = meter.seconds()
    if len(refetched.latencies) < 2 * len(returns):
        raise LoadFailed(f"not all had refetched within {REFETCH_SECONDS} s")
    sends = sender.between(readers.began, ended)
    return {
        "streams": Figure(len(returns)),
        "service's CPU/user": ms(cpu / len(returns)),
        "requests": rate(refetched.rate),
        "send p50": ms(percentile(sends, 50)),
        "seconds": Figure(ended - readers.began, "s"),
        "send p99": ms(percentile(sends, 99)),
    }


async def change_some(service: Service, sets: Sequence[Groups]) -> None:
    """In each set: other names of two groups, and a reaction in the group that all look at."""
    requests = []
    for groups in sets:
        admin = groups[0].user_ids[0]
        requests += [
            patch(f"/conversations/{group.id}", admin, {"name": "renamed"})
            for group in groups[1 : 1 + RENAMED]
        ]
        old = f"{groups[0].id}-{1:07}"
        requests.append(post(f"/messages/{old}/reactions", admin, {"emoji": "👍"}))
    async with connected([service], 16) as connections:
        await Callers(connections, iter(requests)).run(SAY_SECONDS)


def named_of(sets: Sequence[Groups]) -> Iterator[bytes]:
    """The requests of a client that fetches what `stream.changed` names: two groups, and the page
    that it shows."""
    for groups in sets:
        for user_id in groups[0].user_ids:
            for group in groups[1 : 1 + RENAMED]:
                yield get(f"/conversations/{group.id}", user_id)
            yield get(f"/conversations/{groups[0].id}/messages?limit=50", user_id)


async def come_back_and_fetch_named(
    stage: Stage, service: Service, quiet: Place, sets: Sequence[Groups]
) -> Figures:
    """As `come_back_and_refetch`, with requests for changed conversations alone."""
    returns = returns_of(sets)
    async with connected([service]) as (connection,), connected([service], AT_ONCE) as clients:
        sender = SlowSender(connection, quiet)
        meter = stage.meter([service], mongod=False)
        mongod = stage.meter([])
        async with (
            sender.sending(),
            reading(
                service.port, returns, at_once=len(returns), kind=StreamKind(event=CHANGED)
            ) as readers,
        ):
            told = await readers.wait_for(len(returns), seconds=CATCH_UP_SECONDS)
            cpu, mongod_cpu = meter.seconds(), mongod.seconds()
            fetched = await Callers(clients, named_of(sets)).run(REFETCH_SECONDS)
            ended = time.monotonic()
    if len(fetched.latencies) < (RENAMED + 1) * len(returns):
        raise LoadFailed(f"not all had fetched within {REFETCH_SECONDS} s")
    sends = sender.between(readers.began, ended)
    return {
        "streams": Figure(len(returns)),
        "until named": Figure(told.seconds - readers.began, "s"),
        "service's CPU/user until then": ms(cpu / len(returns)),
        "mongod's": ms(mongod_cpu / len(returns)),
        "service's CPU/user": ms(meter.seconds() / len(returns)),
        "requests": rate(fetched.rate),
        "seconds": Figure(ended - readers.began, "s"),
        "send p99": ms(percentile(sends, 99)),
    }


async def measure_return(
    stage: Stage, name: str, *, fresh: bool, refetches: bool = False
) -> Figures:
    """All messages are sent through one process; all users return to it, or to a fresh one."""
    sets, (quiet,) = sets_of(stage.sized(20, 4)), places("quiet", 1, members=2)
    groups = [group for groups in sets for group in groups]
    async with stage.database(name) as database:
        await put_conversations(database, [*groups, quiet])
        await put_messages(stage, database, ((group, group.user_ids) for group in groups))
        async with stage.services(database) as (service,):
            await say_all(service, sets)
            if refetches:
                return await come_back_and_refetch(stage, service, quiet, sets)
            if not fresh:
                return await come_back(stage, service, quiet, returns_of(sets))
        async with stage.services(database) as (service,):
            return await come_back(stage, service, quiet, returns_of(sets))


@row(
    "P12",
    "5,000 users come back at once, each with 20 missed messages in 10 groups of 250, to the "
    "process that sent them: until all have caught up; finds and aggregations during that time; "
    "one slow sender through that process",
    at_most("seconds", 10),
    at_most("reads/stream", 2),
    at_most("send p99", 500),
)
async def measure_return_to_ring(stage: Stage) -> Figures:
    return await measure_return(stage, "returning", fresh=False)


@row(
    "P12b",
    "The same to a fresh process, which must read the missed messages from storage",
    at_most("seconds", 10),
    at_most("reads/stream", 2),
    at_most("send p99", 500),
)
async def measure_return_to_storage(stage: Stage) -> Figures:
    return await measure_return(stage, "restarted", fresh=True)


@row(
    "P12c",
    "The same to the process that sent them, and each client then requests its list of "
    "conversations and one page of messages, 64 at a time: until all have both",
    at_most("seconds", 20),
    at_most("send p99", 300),
)
async def measure_return_and_refetch(stage: Stage) -> Figures:
    return await measure_return(stage, "refetching", fresh=False, refetches=True)


@row(
    "P23",
    "As P12, to a process with `extra_events` where two groups have another name and the open "
    "conversation has a reaction: until all have `stream.changed`, and then "
    "these two groups and one page, 64 at a time",
    at_most("until named", 10),
    at_most("send p99", 500),
)
async def measure_return_and_fetch_named(stage: Stage) -> Figures:
    sets, (quiet,) = sets_of(stage.sized(20, 4)), places("quiet", 1, members=2)
    groups = [group for groups in sets for group in groups]
    async with stage.database("changed") as database:
        await put_conversations(database, [*groups, quiet])
        await put_messages(stage, database, ((group, group.user_ids) for group in groups))
        async with stage.services(database, extra_events=True) as (service,):
            await say_all(service, sets)
            await change_some(service, sets)
            return await come_back_and_fetch_named(stage, service, quiet, sets)
