"""The row about growth: the size of a message on disk, indexes apart from documents."""

from collections.abc import Iterator
from random import Random
from typing import Any

from benchmarks.data import insert, message_document, places
from benchmarks.floors import plain_database
from benchmarks.stage import BenchDatabase, Stage
from benchmarks.table import Figure, Figures, at_most, micros, row
from chat_aio.actions.context import new_id
from chat_aio.store.documents import MessageDocument

CONVERSATIONS = 200
WORDS = 15
VOCABULARY = 20_000


def body(chance: Random) -> str:
    """Words of which few are frequent and most are rare, as in any language."""
    ranks = (int(VOCABULARY ** chance.random()) for _ in range(WORDS))
    return " ".join(f"word{rank}" for rank in ranks)


def documents(count: int) -> Iterator[MessageDocument]:
    """Messages of many conversations in turn, as people write them, under random ids."""
    chance = Random(15)
    found = [(new_id(), [new_id() for _ in place.user_ids]) for place in places("", CONVERSATIONS)]
    for number in range(count):
        conversation_id, user_ids = found[number % CONVERSATIONS]
        yield message_document(
            conversation_id,
            number // CONVERSATIONS + 1,
            chance.choice(user_ids),
            message_id=new_id(),
            body=body(chance),
            searchable=True,
        )


async def bytes_of(database: BenchDatabase) -> tuple[int, dict[str, int]]:
    """The size of messages on disk: documents, and each index. Unused space of files is
    excluded."""
    await database.client.admin.command("fsync")
    found: dict[str, Any] = await database.command("collStats", "messages", indexDetails=True)
    spare = {
        name: index_detail["block-manager"]["file bytes available for reuse"]
        for name, index_detail in found["indexDetails"].items()
    }
    indexes = {name: size - spare[name] for name, size in found["indexSizes"].items()}
    return found["storageSize"] - found["freeStorageSize"], indexes


@row(
    "P16",
    "20,000 messages of 15 words in 200 conversations: bytes on disk a message, of indexes and of "
    "documents; CPU of mongod",
    at_most("indexes", 366),
)
async def measure_growth(stage: Stage) -> Figures:
    count = stage.sized(20_000, 5_000)
    async with plain_database(stage, "growth") as database:
        meter = stage.meter([])
        await insert(database, "messages", documents(count))
        spent = meter.seconds()
        stored, indexes = await bytes_of(database)
    return {
        "indexes": Figure(sum(indexes.values()) / count, "B"),
        "of search": Figure(indexes["search"] / count, "B"),
        "documents": Figure(stored / count, "B"),
        "CPU of mongod": micros(spent / count),
    }
