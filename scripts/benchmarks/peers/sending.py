"""Rows against Socket.IO with MongoDB: messages without listeners, and pages of messages."""

import itertools
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from statistics import median

from benchmarks.data import Place, places, put_conversations
from benchmarks.floors import CALLERS
from benchmarks.load import Callers, get
from benchmarks.peers import socket_io
from benchmarks.peers.sides import AHEAD, Side, alternate, compared
from benchmarks.peers.socket_io import SOCKET_IO
from benchmarks.reads import load_lists, places_of
from benchmarks.sends import MeasuredCallers, sends_into
from benchmarks.stage import BenchDatabase, Service, Stage, connected
from benchmarks.table import Figures, micros, ms, row
from chat_aio.capabilities import Capability

READING_CALLERS = 8


@dataclass(frozen=True, slots=True)
class Started:
    """A service and its database."""

    service: Service
    database: BenchDatabase


@asynccontextmanager
async def both(
    stage: Stage, *, without: Iterable[Capability] = ()
) -> AsyncIterator[tuple[Started, Started]]:
    """The chat and Socket.IO, with separate databases on the same mongod."""
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(stage.database("ours"))
        theirs = await stack.enter_async_context(stage.database("theirs"))
        (service,) = await stack.enter_async_context(stage.services(ours, without=without))
        peer = await stack.enter_async_context(socket_io.serving(stage, theirs))
        yield Started(service, ours), Started(peer, theirs)


async def measure_callers(
    stage: Stage,
    sides: tuple[Started, Started],
    requests: tuple[Iterator[bytes], Iterator[bytes]],
    *,
    callers: int,
) -> Figures:
    """The same load with the same number of callers: HTTP requests to ours, events to Socket.IO."""
    ours, theirs = (side.service for side in sides)
    async with connected([ours], callers) as here, socket_io.sockets(theirs, callers) as there:
        chat = MeasuredCallers(stage, [ours], Callers(here, requests[0]))
        peer = MeasuredCallers(stage, [theirs], Callers(there, requests[1]))
        await alternate(stage.rounds, Side(ours, chat.run), Side(theirs, peer.run))
    return {
        **compared(chat.cpu, peer.cpu),
        "our service's part": micros(median(chat.cpu_of_services)),
        "their service's part": micros(median(peer.cpu_of_services)),
        "our p50": ms(chat.percentile(50)),
        "their p50": ms(peer.percentile(50)),
    }


async def measure_sends(
    stage: Stage,
    found: Sequence[Place],
    *,
    callers: int = CALLERS,
    without: Iterable[Capability] = (),
) -> Figures:
    """Sends into these conversations, to which nobody listens."""
    async with both(stage, without=without) as sides:
        await put_conversations(sides[0].database, found)
        await socket_io.put_rooms(sides[1].database, found)
        requests = sends_into(found), socket_io.emits_into(found)
        return await measure_callers(stage, sides, requests, callers=callers)


@row(
    "S1",
    "Send against Socket.IO with MongoDB: 64 callers over 1,000 conversations; CPU of service + "
    "mongod for each message",
    AHEAD,
    peer=SOCKET_IO,
)
async def measure_spread(stage: Stage) -> Figures:
    return await measure_sends(stage, places("spread", 1_000))


@row("S1b", "The same, the chat without search, which the other lacks", AHEAD, peer=SOCKET_IO)
async def measure_spread_without_search(stage: Stage) -> Figures:
    found = places("spread", 1_000)
    return await measure_sends(stage, found, without=[Capability.SEARCH])


@row("S2", "The same as S1 into one conversation", AHEAD, peer=SOCKET_IO)
async def measure_hot(stage: Stage) -> Figures:
    return await measure_sends(stage, places("hot", 1))


@row("S3", "The same as S1 by one caller alone, one message after the other", AHEAD, peer=SOCKET_IO)
async def measure_alone(stage: Stage) -> Figures:
    return await measure_sends(stage, places("single", 1), callers=1)


@row(
    "S4",
    "Newest page of 50 of 10,000 messages against Socket.IO with MongoDB: 8 callers; CPU of "
    "service + mongod for each page",
    AHEAD,
    peer=SOCKET_IO,
)
async def measure_history(stage: Stage) -> Figures:
    (place,) = places_of("reader", stage.sized(10_000, 1_000))
    async with both(stage) as sides:
        await load_lists(stage, sides[0].database, [[place]], own=False)
        await socket_io.put_rooms(sides[1].database, [place])
        here = get(f"/conversations/{place.id}/messages?limit=50", "reader")
        there = socket_io.emitting("history", conversationId=place.id)
        requests = itertools.repeat(here), itertools.repeat(there)
        return await measure_callers(stage, sides, requests, callers=READING_CALLERS)
