"""Rows against Socket.IO and nchan: messages with listeners, and idle streams."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from statistics import median

from benchmarks.data import BODY, Place, places, put_conversations
from benchmarks.deliveries import Deliveries, posts_to, reading, streams_of
from benchmarks.peers import nchan, socket_io
from benchmarks.peers.nchan import NCHAN
from benchmarks.peers.sides import AHEAD, Side, alternate, compared
from benchmarks.peers.socket_io import SOCKET_IO, SOCKETS
from benchmarks.readers import SSE, StreamKind
from benchmarks.stage import Meter, Service, Stage, connected
from benchmarks.streams import STREAMS_PER_USER, held_open, neighbours_of
from benchmarks.table import Figure, Figures, micros, row, times

MANY, FEW = 256, 16
MESSAGES = 40  # Few: a service that rests for more than 10 s loses its change stream.
Tell = Callable[[], Awaitable[object]]


class Heard:
    """Messages to many readers and to few, one at a time: the CPU of a delivery including its part
    of the message's cost, and the CPU of a further delivery."""

    def __init__(self, many: Deliveries, few: Deliveries, meter: Callable[[], Meter]) -> None:
        self.further: list[float] = []
        self._many = many
        self._few = few
        self._meter = meter

    @property
    def cpu(self) -> list[float]:
        return self._many.cpu

    @property
    def bytes(self) -> float:
        return self._many.bytes

    async def run(self, count: int) -> None:
        await self._many.run(self._meter, count)
        await self._few.run(self._meter, count)
        difference = self._many.cpu[-1] * MANY - self._few.cpu[-1] * FEW
        self.further.append(difference / (MANY - FEW))


@asynccontextmanager
async def heard(
    service: Service,
    streams: Callable[[Place], Sequence[bytes]],
    tell: Callable[[Place], Tell],
    meter: Callable[[], Meter],
    *,
    kind: StreamKind = SSE,
) -> AsyncIterator[Heard]:
    """Open `streams` of a conversation with many readers and of one with few; `tell` sends one
    event."""
    async with AsyncExitStack() as stack:
        made = []
        for crowd in crowds():
            requests = streams(crowd)
            readers = await stack.enter_async_context(reading(service.port, requests, kind=kind))
            made.append(Deliveries(tell(crowd), readers, len(requests)))
        many, few = made
        yield Heard(many, few, meter)


def crowds() -> tuple[Place, Place]:
    (many,), (few,) = places("many", 1, members=MANY), places("few", 1, members=FEW)
    return many, few


@asynccontextmanager
async def heard_here(stage: Stage) -> AsyncIterator[tuple[Service, Heard]]:
    """The chat: every member has a stream, the last one sends."""
    async with (
        stage.database("ours") as database,
        stage.services(database) as (service,),
        connected([service]) as connections,
    ):
        await put_conversations(database, crowds())
        async with heard(
            service,
            lambda place: streams_of(place.user_ids),
            lambda place: posts_to(connections, [place]),
            lambda: stage.meter([service]),
        ) as here:
            yield service, here


@asynccontextmanager
async def heard_by_sockets(stage: Stage) -> AsyncIterator[tuple[Service, Heard]]:
    """Socket.IO: every member has a socket in the room, another user sends."""
    async with (
        stage.database("theirs") as database,
        socket_io.serving(stage, database) as service,
        socket_io.sockets(service) as (sender,),
    ):
        await socket_io.put_rooms(database, crowds())

        def tell(place: Place) -> Tell:
            sent = socket_io.emitting("message", conversationId=place.id, body=BODY)
            return partial(sender.ask, sent)

        async with heard(
            service,
            lambda place: [socket_io.opening(user_id, [place.id]) for user_id in place.user_ids],
            tell,
            lambda: stage.meter([service]),
            kind=SOCKETS,
        ) as there:
            yield service, there


@asynccontextmanager
async def heard_by_subscribers(stage: Stage) -> AsyncIterator[tuple[Service, Heard]]:
    """nchan: the same number of subscribers of one channel. It stores nothing in MongoDB."""
    async with (
        nchan.serving() as service,
        connected([service]) as (publisher,),
        heard(
            service,
            lambda place: [nchan.subscribing(place.id)] * len(place.user_ids),
            lambda place: partial(publisher.ask, nchan.publishing(place.id)),
            lambda: stage.meter([service], mongod=False),
        ) as there,
    ):
        yield service, there


Peer = AbstractAsyncContextManager[tuple[Service, Heard]]


async def heard_in_turn(stage: Stage, theirs: Peer) -> tuple[Heard, Heard]:
    """Alternating deliveries of the chat and of a peer."""
    async with heard_here(stage) as (service, here), theirs as (peer, there):
        sides = Side(service, partial(here.run, MESSAGES)), Side(peer, partial(there.run, MESSAGES))
        await alternate(2 * stage.rounds, *sides)
    return here, there


async def deliveries_against(stage: Stage, theirs: Peer) -> Figures:
    here, there = await heard_in_turn(stage, theirs)
    return {
        **compared(here.cpu, there.cpu),
        "our further one": micros(median(here.further)),
        "their further one": micros(median(there.further)),
        **sizes(here, there),
    }


def sizes(here: Heard, there: Heard) -> Figures:
    return {"our bytes": Figure(here.bytes), "their bytes": Figure(there.bytes)}


@row(
    "S5",
    "A message to 256 readers against Socket.IO with MongoDB, one at a time; CPU of service + "
    "mongod for each delivery, including its part of the message's cost",
    AHEAD,
    peer=SOCKET_IO,
)
async def measure_heard(stage: Stage) -> Figures:
    return await deliveries_against(stage, heard_by_sockets(stage))


@row(
    "N1",
    "A further delivery (of 256 against 16 readers of each message) against nginx with nchan; CPU "
    "of service + mongod, against nginx alone, which stores nothing",
    AHEAD,
    peer=NCHAN,
)
async def measure_further_deliveries(stage: Stage) -> Figures:
    here, there = await heard_in_turn(stage, heard_by_subscribers(stage))
    return {**compared(here.further, there.further), **sizes(here, there)}


async def memory_here(stage: Stage) -> tuple[float, float]:
    """KiB of each idle stream of the chat, and of each one in the second half."""
    circle = neighbours_of(users_of(stage))
    users = [place.user_ids[0] for place in circle for _ in range(STREAMS_PER_USER)]
    async with stage.database("ours") as database, stage.services(database) as (service,):
        await put_conversations(database, circle)
        async with held_open(service, streams_of(users)) as held:
            return held.kib, held.kib_of_second_half


def users_of(stage: Stage) -> int:
    return stage.sized(40, 8)


def against(ours: tuple[float, float], theirs: tuple[float, float]) -> Figures:
    """Memory of each stream: of all, and of the second half, when shared objects exist already."""
    return {
        "ours": Figure(ours[0], "KiB"),
        "theirs": Figure(theirs[0], "KiB"),
        "our second half": Figure(ours[1], "KiB"),
        "their second half": Figure(theirs[1], "KiB"),
        "÷ ours": times(theirs[0] / ours[0]),
    }


@row(
    "S6",
    "Memory (RSS) of each of 2,000 idle streams, 50 of each of 40 users in 4 conversations each, "
    "against Socket.IO",
    AHEAD,
    peer=SOCKET_IO,
)
async def measure_idle_sockets(stage: Stage) -> Figures:
    circle = neighbours_of(users_of(stage))
    requests = [
        socket_io.opening(user_id, [place.id for place in circle if user_id in place.user_ids])
        for user_id in (place.user_ids[0] for place in circle)
        for _ in range(STREAMS_PER_USER)
    ]
    async with (
        stage.database("theirs") as database,
        socket_io.serving(stage, database) as peer,
        held_open(peer, requests, kind=SOCKETS) as held,
    ):
        theirs = held.kib, held.kib_of_second_half
    return against(await memory_here(stage), theirs)


@row(
    "N2",
    "Memory of each idle stream as in S6 against nginx with nchan, a channel for each user",
    AHEAD,
    peer=NCHAN,
)
async def measure_idle_subscribers(stage: Stage) -> Figures:
    channels = [neighbour.user_ids[0] for neighbour in neighbours_of(users_of(stage))]
    requests = [nchan.subscribing(channel) for channel in channels for _ in range(STREAMS_PER_USER)]
    async with nchan.serving() as peer, held_open(peer, requests) as held:
        theirs = held.kib, held.kib_of_second_half
    return against(await memory_here(stage), theirs)
