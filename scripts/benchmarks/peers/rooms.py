"""Rows against ejabberd, whose rooms keep an archive: messages, pages, deliveries, idle streams."""

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from benchmarks.data import Place, places, put_conversations
from benchmarks.floors import CALLERS
from benchmarks.load import Callers, Connection, get
from benchmarks.peers import ejabberd
from benchmarks.peers.ejabberd import EJABBERD, SENDING, XMPP
from benchmarks.peers.sides import AHEAD, Side, alternate, compared
from benchmarks.peers.streaming import (
    Heard,
    Tell,
    against,
    deliveries_against,
    heard,
    memory_here,
    users_of,
)
from benchmarks.reads import load_lists, places_of
from benchmarks.sends import MeasuredCallers, sends_into
from benchmarks.stage import Service, Stage, connected
from benchmarks.streams import STREAMS_PER_USER, held_open, neighbours_of
from benchmarks.table import Figures, ms, row

ROOMS = 1_000
READING_CALLERS = 8
ARCHIVED = 1_000


def measured(
    stage: Stage, peer: Service, opened: list[Connection], request: bytes
) -> MeasuredCallers:
    """Callers that repeat a request. ejabberd uses no MongoDB: only its own CPU counts."""
    return MeasuredCallers(stage, [peer], Callers(opened, itertools.repeat(request)))


async def measure_messages(stage: Stage, count: int, *, callers: int) -> Figures:
    """Messages into `count` conversations without listeners. The sender of ejabberd is in the room,
    as the protocol requires, and the only one there."""
    found = places("spread", count)
    rooms = [[place.id for place in found[number::callers]] for number in range(callers)]
    async with (
        stage.database("ours") as database,
        stage.services(database) as services,
        ejabberd.serving() as peer,
        connected(services, callers) as here,
        ejabberd.sessions(peer, rooms) as there,
    ):
        await put_conversations(database, found)
        chat = MeasuredCallers(stage, services, Callers(here, sends_into(found)))
        xmpp = measured(stage, peer, there, SENDING)
        sides = Side(services[0], chat.run), Side(peer, xmpp.run)
        await alternate(stage.rounds, *sides)
    return figures_of(chat, xmpp)


def figures_of(chat: MeasuredCallers, xmpp: MeasuredCallers) -> Figures:
    """The CPU of service and mongod, against that of ejabberd alone."""
    return {
        **compared(chat.cpu, xmpp.cpu_of_services),
        "our p50": ms(chat.percentile(50)),
        "their p50": ms(xmpp.percentile(50)),
    }


@row(
    "E1",
    "Send against ejabberd with an archive: 64 callers over 1,000 conversations; CPU of service + "
    "mongod for each message, against ejabberd with its SQLite",
    AHEAD,
    peer=EJABBERD,
)
async def measure_spread(stage: Stage) -> Figures:
    return await measure_messages(stage, ROOMS, callers=CALLERS)


@row("E2", "The same by one caller alone, one message after the other", AHEAD, peer=EJABBERD)
async def measure_alone(stage: Stage) -> Figures:
    return await measure_messages(stage, 1, callers=1)


@row(
    "E3",
    f"Newest page of 50 of {ARCHIVED:,} messages: 8 callers; CPU for each page, as in E1",
    AHEAD,
    peer=EJABBERD,
)
async def measure_pages(stage: Stage) -> Figures:
    (place,) = places_of("reader", ARCHIVED)
    async with (
        stage.database("ours") as database,
        stage.services(database) as services,
        ejabberd.serving() as peer,
        connected(services, READING_CALLERS) as here,
        ejabberd.sessions(peer, [[place.id]]) as (writer,),
    ):
        await load_lists(stage, database, [[place]], own=False)
        for _ in range(ARCHIVED):
            await writer.ask(SENDING)
        async with ejabberd.sessions(peer, [[place.id]] * READING_CALLERS) as there:
            page = get(f"/conversations/{place.id}/messages?limit=50", "reader")
            chat = MeasuredCallers(stage, services, Callers(here, itertools.repeat(page)))
            xmpp = measured(stage, peer, there, ejabberd.paging(place.id))
            sides = Side(services[0], chat.run), Side(peer, xmpp.run)
            await alternate(stage.rounds, *sides)
    return figures_of(chat, xmpp)


@asynccontextmanager
async def heard_in_rooms(stage: Stage) -> AsyncIterator[tuple[Service, Heard]]:
    """ejabberd: every member is in the room, another user there sends."""
    async with ejabberd.serving() as service:

        def streams(place: Place) -> list[bytes]:
            return [ejabberd.opening(user_id, [place.id]) for user_id in place.user_ids]

        async with ejabberd.sessions(service, [["many-0000"], ["few-0000"]]) as (to_many, to_few):

            def tell(place: Place) -> Tell:
                sender = to_many if place.id.startswith("many") else to_few
                return partial(sender.ask, SENDING)

            async with heard(
                service,
                streams,
                tell,
                lambda: stage.meter([service], mongod=False),
                kind=XMPP,
            ) as there:
                yield service, there


@row(
    "E4",
    "A message to 256 readers, one at a time; CPU for each delivery, including its part of the "
    "message's cost, as in E1",
    AHEAD,
    peer=EJABBERD,
)
async def measure_heard(stage: Stage) -> Figures:
    return await deliveries_against(stage, heard_in_rooms(stage))


@row(
    "E5",
    "Memory of each idle stream as in S6, against a session of ejabberd in a room for each "
    "conversation",
    AHEAD,
    peer=EJABBERD,
)
async def measure_idle_sessions(stage: Stage) -> Figures:
    circle = neighbours_of(users_of(stage))
    requests = [
        ejabberd.opening(
            f"{place.user_ids[0]}-{number}",
            [other.id for other in circle if place.user_ids[0] in other.user_ids],
        )
        for place in circle
        for number in range(STREAMS_PER_USER)
    ]
    async with ejabberd.serving() as peer, held_open(peer, requests, kind=XMPP) as held:
        theirs = held.kib, held.kib_of_second_half
    return against(await memory_here(stage), theirs)
