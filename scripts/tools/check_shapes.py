"""Checking that rows have the shape of their collection: others are left out by readers."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from chat_aio.store.database import COLLECTIONS, Database
from chat_aio.store.shapes import problems, validator
from tools.check_found import MOST, Findings, Violation

SECONDS = 600.0
MOST_NAMED = 5
PLACES = {
    "conversations": "_id",
    "counters": "_id",
    "messages": "conversationId",
    "invites": "conversationId",
    "join_requests": "conversationId",
}
"""What names a row's conversation."""


async def shapes(database: Database, conversation_id: str | None, known: Findings) -> Findings:
    """Rows that another program wrote in another shape, in all collections or of a conversation;
    without those of which something is `known` to be wrong. The server looks for them."""
    named = {(each.collection, str(each.id)) for each in known.violations}
    findings = Findings()
    for collection in COLLECTIONS if conversation_id is None else PLACES:
        chosen: dict[str, Any] = {"$nor": [validator(collection)]}
        if conversation_id is not None:
            chosen[PLACES[collection]] = conversation_id
        found = database.collection(collection).find(chosen).limit(MOST)
        rows = await database.read(partial(found.to_list, None), seconds=SECONDS)
        findings.violations += [
            _violation(collection, each)
            for each in rows
            if (collection, str(each["_id"])) not in named
        ]
    return findings


def _violation(collection: str, row: Mapping[str, Any]) -> Violation:
    place = row.get(PLACES.get(collection, ""))
    found = ", ".join(_first(problems(collection, row))) or "fields of other types"
    expected = "as the collection's validator says"
    return Violation("row.shape", collection, row["_id"], found, expected, place)


def _first(named: Iterator[str]) -> Iterator[str]:
    for number, each in enumerate(named):
        yield each if number < MOST_NAMED else "..."
        if number == MOST_NAMED:
            return
