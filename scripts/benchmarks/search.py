"""Rows about search: the cost of other users' messages, of many hits and of beginnings of words,
and the cost for a send."""

import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from statistics import median
from typing import Any

from benchmarks.data import Bodies, Place, places, put_conversations, put_messages
from benchmarks.load import Connection, get
from benchmarks.processes import LoadFailed, resting
from benchmarks.reads import CONVERSATIONS, Timed, asked, in_turns, p50, places_of
from benchmarks.sends import MeasuredCallers
from benchmarks.stage import BenchDatabase, Stage, connected
from benchmarks.table import Figures, at_most, micros, ms, rate, row, times
from chat_aio.capabilities import Capability

WORD = "station"
USER = "seeker"
PAGE = 50
MESSAGES = 20
STRANGERS = 100
LONGEST_PAGE = 200


def bodies(*, every: int = 1) -> Bodies:
    """Texts of common and rare numbered words, every `every`th text with the word searched."""

    def body(seq: int) -> str:
        place = WORD if seq % every == 0 else "harbour"
        numbered = f"w{seq % 7} w{seq % 50} w{seq % 300} w{seq}"
        return f"Shall we meet at the {place}? {numbered}"

    return body


async def put_searchable(
    stage: Stage, database: BenchDatabase, found: Sequence[Place], said: Bodies
) -> None:
    await put_conversations(database, found)
    await put_messages(stage, database, ((place, place.user_ids) for place in found), bodies=said)


def searched(cursor: str | None = None, *, limit: int = PAGE) -> bytes:
    """The request of a page of `USER`'s hits."""
    behind = f"&cursor={cursor}" if cursor else ""
    return get(f"/search/messages?q={WORD}&limit={limit}{behind}", USER)


def typed(beginning: str) -> bytes:
    """The request of the first page while a word is typed."""
    return get(f"/search/messages?q={beginning}&prefix=true&limit={PAGE}", USER)


async def cursor_behind(connection: Connection, count: int) -> str:
    """The cursor behind `count` hits. Raises LoadFailed if there are fewer."""
    cursor: str | None = None
    for done in range(0, count, LONGEST_PAGE):
        limit = min(LONGEST_PAGE, count - done)
        page = json.loads(await connection.ask(searched(cursor, limit=limit)))
        cursor = page["nextCursor"]
        if len(page["messages"]) != limit or cursor is None:
            raise LoadFailed(f"{len(page['messages'])} hits behind {done}, and no more")
    return cursor or ""


async def _beside(stack: AsyncExitStack, stage: Stage, others: int) -> Timed:
    """A search of 50 small conversations, next to `others` messages of other users."""
    database = await stack.enter_async_context(stage.database(f"beside_{others}"))
    own = places_of(USER, *[MESSAGES] * CONVERSATIONS)
    await put_searchable(stage, database, own, bodies(every=5))
    strangers = places("stranger", STRANGERS, messages=others // STRANGERS)
    await put_searchable(stage, database, strangers, bodies())
    services = await stack.enter_async_context(stage.services(database))
    (connection,) = await stack.enter_async_context(connected(services))
    await cursor_behind(connection, PAGE)
    return asked(connection, searched())


@row(
    "P11",
    "GET search/messages: a word in a fifth of 1,000 own messages (50 conversations), and in all "
    "200,000 of other users, against 20,000 of them",
    at_most("ratio", 1.3),
    at_most("p50", 15),
)
async def measure_search_beside(stage: Stage) -> Figures:
    few, many = stage.sized(20_000, 2_000), stage.sized(200_000, 20_000)
    async with AsyncExitStack() as stack:
        sides = [await _beside(stack, stage, others) for others in (few, many)]
        beside_few, beside_many = await in_turns(stage.sized(300, 100), *sides)
    return {
        f"p50 beside {few:,}": ms(p50(beside_few)),
        "ratio": times(p50(beside_many) / p50(beside_few)),
        "p50": ms(p50(beside_many)),
    }


@row(
    "P11b",
    "GET search/messages: 10,000 own hits in 50 conversations, first page and 5,000 back; then "
    "POST message as in P1 (300 conversations), against a service without search; CPU of service "
    "+ mongod",
    at_most("p50", 80),
    at_most("CPU ÷ without", 1.4),
)
async def measure_search_costs(stage: Stage) -> Figures:
    return {**await _search_many_hits(stage), **await _sends_beside_none(stage)}


@row(
    "P11c",
    "GET search/messages with prefix: six letters and three of a word that 10,000 own messages "
    "have in 50 conversations, against the whole word without; then POST message as in P1 (300 "
    "conversations), against a service without prefix_search; CPU of service + mongod",
    at_most("÷ word", 1.2),
    at_most("CPU ÷ without", 1.25),
)
async def measure_prefix_search(stage: Stage) -> Figures:
    async with AsyncExitStack() as stack:
        beginning = await _sending(stack, stage, "beginning", prefix_search=True)
        whole = await _sending(stack, stage, "whole")
        sends = await _in_turns(beginning, whole)
    return {**await _search_while_typing(stage), **sends}


async def _search_while_typing(stage: Stage) -> Figures:
    hits = stage.sized(10_000, 1_000)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("typing"))
        own = places_of(USER, *[hits // CONVERSATIONS] * CONVERSATIONS)
        await put_searchable(stage, database, own, bodies())
        services = await stack.enter_async_context(stage.services(database, prefix_search=True))
        (connection,) = await stack.enter_async_context(connected(services))
        six, three, whole = await in_turns(
            stage.sized(50, 20),
            asked(connection, typed(WORD[:6])),
            asked(connection, typed(WORD[:3])),
            asked(connection, searched()),
        )
    return {
        "p50 of six": ms(p50(six)),
        "p50 of three": ms(p50(three)),
        "÷ word": times(max(p50(six), p50(three)) / p50(whole)),
    }


async def _search_many_hits(stage: Stage) -> Figures:
    hits = stage.sized(10_000, 1_000)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("hits"))
        own = places_of(USER, *[hits // CONVERSATIONS] * CONVERSATIONS)
        await put_searchable(stage, database, own, bodies())
        services = await stack.enter_async_context(stage.services(database))
        (connection,) = await stack.enter_async_context(connected(services))
        back = await cursor_behind(connection, hits // 2)
        first, far = await in_turns(
            stage.sized(50, 20),
            asked(connection, searched()),
            asked(connection, searched(back)),
        )
    return {"p50": ms(p50(first)), f"p50 {hits // 2:,} back": ms(p50(far))}


async def _sends_beside_none(stage: Stage) -> Figures:
    """The same load with search fields and without, in turns."""
    async with AsyncExitStack() as stack:
        searchable = await _sending(stack, stage, "searchable")
        plain = await _sending(stack, stage, "plain", without=[Capability.SEARCH])
        return await _in_turns(searchable, plain)


async def _in_turns(full: MeasuredCallers, plain: MeasuredCallers) -> Figures:
    for _ in range(3):
        for side, other in ((full, plain), (plain, full)):
            with resting(service.pid for service in other.services):
                await side.run()
    ratio = median(a / b for a, b in zip(full.cpu, plain.cpu, strict=True))
    return {
        "sends": rate(full.rate),
        "without": rate(plain.rate),
        "CPU/send": micros(median(full.cpu)),
        "CPU without": micros(median(plain.cpu)),
        "CPU ÷ without": times(ratio),
    }


async def _sending(
    stack: AsyncExitStack, stage: Stage, name: str, **options: Any
) -> MeasuredCallers:
    found = places("sends", 300)
    database = await stack.enter_async_context(stage.database(name))
    services = await stack.enter_async_context(stage.services(database, **options))
    await put_conversations(database, found)
    return await MeasuredCallers.begun(stack, stage, services, found)
