"""Checking the indexes, and where one is missing that forbids twins, looking for them."""

from collections import Counter
from typing import Any

from chat_aio.store import indexes
from chat_aio.store.database import Database
from chat_aio.store.indexes import Index
from tools.check_found import Findings, Violation

SECONDS = 600.0
MOST_TWINS = 1_000


async def all_indexes(database: Database) -> Findings:
    described = {(each.collection, each.name): each for each in indexes.load()}
    findings = Findings(checked=Counter(indexes=len(described)))
    for each in await indexes.differences(database):
        if each.state == "surplus":
            continue
        collection, name = (
            each.collection.removeprefix(database.prefix),
            each.index or ("validator" if each.of == "validator" else "all of them"),
        )
        part = "validator" if each.of == "validator" else "index"
        kind, expected = f"{part}.{each.state}", "as scripts/indexes makes it"
        findings.violations.append(Violation(kind, collection, name, each.state, expected))
        index = described.get((collection, name))
        if index and index.options.get("unique"):
            findings.violations += await _twins(database, index)
    return findings


async def _twins(database: Database, index: Index) -> list[Violation]:
    """Documents with the same key, which stand in the way of making the index."""
    fields = [field for field, _ in index.keys]
    key = {field: f"${field}" for field in fields}
    stages: list[dict[str, Any]] = [
        {"$match": index.options.get("partialFilterExpression", {})},
        {"$group": {"_id": key, "count": {"$sum": 1}}},
        {"$match": {"count": {"$gt": 1}}},
        {"$limit": MOST_TWINS},
    ]
    rows = database.collection(index.collection)
    found = await database.aggregate(rows, stages, seconds=SECONDS, allowDiskUse=True)
    return [
        Violation("index.twins", index.collection, each["_id"], f"{each['count']} documents", "one")
        for each in found
    ]
