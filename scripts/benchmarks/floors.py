"""Floors: the cost of the parts without the chat, measured alongside it."""

import itertools
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, cast

from pymongo import WriteConcern

from benchmarks.data import Place, message_document, places, put_conversations
from benchmarks.load import Callers, Round, closed_loop, middle_percentile, posted
from benchmarks.stage import BenchDatabase, Stage, connected
from benchmarks.table import Figures, micros, ms, rate, row
from chat_aio.actions.context import new_id
from chat_aio.store import indexes
from chat_aio.store.database import Database

CALLERS = 64


@asynccontextmanager
async def plain_database(stage: Stage, name: str) -> AsyncIterator[BenchDatabase]:
    """A database with the chat's collections and indexes, written at majority, without a chat."""
    async with stage.database(name) as database:
        await indexes.apply(Database(database))
        yield database.client.get_database(database.name, write_concern=WriteConcern("majority"))


async def insert_message(database: BenchDatabase, place: Place, seq: int) -> None:
    """Everything that the chat itself stores of a message, search fields included."""
    document = message_document(
        place.id, seq, place.user_ids[0], message_id=new_id(), searchable=True
    )
    await database.messages.insert_one(cast(dict[str, Any], document))


async def send_naively(database: BenchDatabase, place: Place) -> None:
    """Read the conversation, count, insert, bump the activity: four round trips, no order."""
    here = {"_id": place.id}
    conversation = await database.conversations.find_one(here)
    head = await database.counters.find_one_and_update(
        here, {"$inc": {"seq": 1}}, return_document=True
    )
    if (
        conversation
        and head
        and place.user_ids[0] in {e["userId"] for e in conversation["participants"]}
    ):
        await insert_message(database, place, head["seq"])
        now = datetime.now(UTC)
        await database.conversations.update_one(here, {"$set": {"activityAt": now}})


async def naive_round(database: BenchDatabase, turns: Iterator[Place], *, seconds: float) -> Round:
    """Floor F5: naive sends by 64 callers, without HTTP."""
    return await closed_loop(
        lambda: send_naively(database, next(turns)), callers=CALLERS, seconds=seconds
    )


async def page_at(database: BenchDatabase, conversation_id: str, before: int) -> Sequence[Any]:
    """Floor F4: the 50 documents of a page, nothing else."""
    found = database.messages.find({"timelines": conversation_id, "seq": {"$lt": before}})
    return await found.sort("seq", -1).limit(50).to_list(None)


@row("F1", "Floor: insert_one of a message by pymongo, majority, all indexes; 1 and 64 at a time")
async def measure_inserts(stage: Stage) -> Figures:
    async with plain_database(stage, "inserts") as database:
        (place,), seqs = places("insert", 1), itertools.count(1)
        rounds: dict[int, list[Round]] = {1: [], CALLERS: []}
        for _ in range(3):
            for callers, done in rounds.items():
                done.append(
                    await closed_loop(
                        lambda: insert_message(database, place, next(seqs)),
                        callers=callers,
                        seconds=stage.seconds / 2,
                    )
                )
    figures = {}
    for callers, done in rounds.items():
        figures[f"{callers} at a time"] = rate(sorted(measured.rate for measured in done)[1])
        figures[f"p50 of {callers}"] = ms(middle_percentile(done, 50))
    return figures


@row("F2", "Floor: an empty aiohttp JSON POST handler, 64 callers; CPU of the service process")
async def measure_empty_handler(stage: Stage) -> Figures:
    body = {"body": "x" * 80}
    async with (
        stage.database("empty") as database,
        stage.services(database) as services,
        connected(services, CALLERS) as connections,
    ):
        callers = Callers(connections, itertools.repeat(posted("/empty", "anyone", body)))
        await callers.warm()
        meter = stage.meter(services, mongod=False)
        done = await callers.run(2 * stage.seconds)
        cpu = meter.seconds() / len(done.latencies)
    return {"answers": rate(done.rate), "CPU": micros(cpu), "p50": ms(done.percentile(50))}


@row("F5", "Floor: naive send by pymongo (find, $inc, insert, bump), 64 callers, no HTTP")
async def measure_naive_send(stage: Stage) -> Figures:
    found = places("naive", 1_000)
    async with plain_database(stage, "naive") as database:
        await put_conversations(database, found)
        turns = itertools.cycle(found)
        done = [await naive_round(database, turns, seconds=stage.seconds) for _ in range(3)]
    return {
        "sends": rate(sorted(measured.rate for measured in done)[1]),
        "p50": ms(middle_percentile(done, 50)),
        "p99": ms(middle_percentile(done, 99)),
    }
