"""Rows about clients that come back, all at once, and are told what they have missed."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from benchmarks.data import BODY, Place, places, put_conversations, put_messages
from benchmarks.deliveries import Arrival, Reading, reading, streams_of
from benchmarks.load import Callers, Connection, get, percentile, post
from benchmarks.processes import LoadFailed
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

Groups = Sequence[Place]
"""The groups of one set of users: all of these are in all of them."""


def sets_of(count: int) -> list[Groups]:
    sets = list[Groups]()
    for name in (f"set-{number:02}" for number in range(count)):
        users = tuple(f"{name}-u{user:03}" for user in range(SET_USERS))
        sets.append([Place(f"{name}-{group}", users, HISTORY) for group in range(SET_GROUPS)])
    return sets


def returns_of(sets: Sequence[Groups]) -> list[bytes]:
    """Each user comes back, having seen the first message of today in the set's first group."""
    return [
        get(f"/stream?lastEventId={groups[0].id}:{HISTORY + 1}", user_id)
        for groups in sets
        for user_id in groups[0].user_ids
    ]


async def say_all(service: Service, sets: Sequence[Groups]) -> None:
    """The message that all have seen, then two in each group; until streams have heard of all."""
    firsts = [groups[0] for groups in sets]
    rest = [each for groups in sets for each in groups for _ in range(NEW_PER_GROUP)]
    witnesses = streams_of(each.user_ids[0] for each in firsts)
    async with reading(service.port, witnesses) as readers, connected([service], 16) as connections:
        for found in (firsts, rest):
            await Callers(connections, _messages_into(found)).run(SAY_SECONDS)
        await readers.wait_for(len(sets) * (1 + MISSED))


def _messages_into(found: Sequence[Place]) -> Iterator[bytes]:
    for place in found:
        yield post(f"/conversations/{place.id}/messages", place.user_ids[0], {"body": BODY})


async def reads_so_far(client: Client) -> int:
    """How many finds and aggregations the server has been asked for."""
    commands = (await client.admin.command("serverStatus"))["metrics"]["commands"]
    return sum(int(commands[each]["total"]) for each in ("find", "aggregate"))


@dataclass(frozen=True, slots=True)
class Sent:
    """A message's monotonic time, and how long its answer took."""

    at: float
    seconds: float


class SlowSender:
    """Sends again and again, one message at a time with pauses, into a conversation of its own."""

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
        """Sends meanwhile; the last answer is waited for."""
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
        """How long the answers took that were awaited in this time."""
        return [e.seconds for e in self.sent if e.at + e.seconds >= began and e.at <= ended]


async def caught_up(readers: Reading, streams: int) -> Arrival:
    """When all have what they missed. Raises LoadFailed if they are told more than that."""
    last = await readers.wait_for(streams * MISSED, seconds=CATCH_UP_SECONDS)
    told = (await readers.wait_for(0)).count
    if told != streams * MISSED:
        raise LoadFailed(f"{told} events instead of {streams * MISSED}")
    return last


async def come_back(stage: Stage, service: Service, quiet: Place, returns: list[bytes]) -> Figures:
    """All at once, beside a slow sender through the same process."""
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
    """What each client asks for when its stream is open: its list, and the page that it shows."""
    for groups in sets:
        for user_id in groups[0].user_ids:
            yield get("/conversations?limit=50&include=lastMessage,heads", user_id)
            yield get(f"/conversations/{groups[0].id}/messages?limit=50", user_id)


async def come_back_and_refetch(
    stage: Stage, service: Service, quiet: Place, sets: Sequence[Groups]
) -> Figures:
    """As `come_back`, and each client asks for its list and its page as soon as it may."""
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


async def measure_return(
    stage: Stage, name: str, *, fresh: bool, refetches: bool = False
) -> Figures:
    """Everything is said through one process; to it, or to a fresh one, all come back."""
    sets, (quiet,) = sets_of(stage.sized(20, 4)), places("quiet", 1, members=2)
    groups = [each for groups in sets for each in groups]
    async with stage.database(name) as database:
        await put_conversations(database, [*groups, quiet])
        await put_messages(stage, database, ((each, each.user_ids) for each in groups))
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
    "process that told them: until all have caught up; finds and aggregations meanwhile; one slow "
    "sender through that process",
    at_most("seconds", 10),
    at_most("reads/stream", 2),
    at_most("send p99", 500),
)
async def measure_return_to_ring(stage: Stage) -> Figures:
    return await measure_return(stage, "returning", fresh=False)


@row(
    "P12b",
    "The same to a fresh process, which has to read what was missed from storage",
    at_most("seconds", 10),
    at_most("reads/stream", 2),
    at_most("send p99", 500),
)
async def measure_return_to_storage(stage: Stage) -> Figures:
    return await measure_return(stage, "restarted", fresh=True)


@row(
    "P12c",
    "The same to the process that told them, and each client then asks for its list of "
    "conversations and for one page of messages, 64 at a time: until all have both",
    at_most("seconds", 20),
    at_most("send p99", 300),
)
async def measure_return_and_refetch(stage: Stage) -> Figures:
    return await measure_return(stage, "refetching", fresh=False, refetches=True)
