"""The conversations to check: those that there are, and those of which only something is left."""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from chat_aio.errors import ConversationNotFound
from chat_aio.store.database import Database, settled

IDS_AT_A_TIME = 1_000
AT_A_TIME = 8
SECONDS = 600.0
NAMING = {
    "counters": "_id",
    "messages": "conversationId",
    "invites": "conversationId",
    "join_requests": "conversationId",
}
"""What names conversations, and where."""


async def conversation_ids(database: Database, only: str | None) -> AsyncIterator[Sequence[Any]]:
    """The ids of all that is to be checked, a few at a time."""
    if only is not None:
        yield [only]
        return
    last = ""
    while True:
        with database.reading(seconds=SECONDS):
            rows = database.conversations.find({"_id": {"$gt": last}}, {"_id": 1})
            page = [
                each["_id"] for each in await rows.sort("_id", 1).limit(IDS_AT_A_TIME).to_list(None)
            ]
        for part in _parts(page):
            yield part
        if len(page) < IDS_AT_A_TIME:
            break
        last = page[-1]
    lost: set[Any] = set()
    for collection in NAMING:
        lost |= await _without_conversation(database, collection)
    for part in _parts([*lost]):
        yield part


def _parts(ids: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (ids[start : start + AT_A_TIME] for start in range(0, len(ids), AT_A_TIME))


async def require_known(database: Database, conversation_id: str | None) -> None:
    """Raise ConversationNotFound where nothing is there of the one conversation to be checked."""
    if conversation_id is None:
        return
    places = {"conversations": "_id", **NAMING}
    for collection, field in places.items():
        if await database.read(
            lambda: database.collection(collection).find_one({field: conversation_id}, {"_id": 1})
        ):
            return
    raise ConversationNotFound


async def _without_conversation(database: Database, collection: str) -> set[Any]:
    """The ids that rows name, and no conversation has. Stubs of heads are no such rows."""
    full = {"seq": {"$exists": True}} if collection == "counters" else {}
    stages: list[dict[str, Any]] = [
        *([{"$match": full}] if full else []),
        {"$group": {"_id": f"${NAMING[collection]}"}},
        {
            "$lookup": {
                "from": database.prefix + "conversations",
                "localField": "_id",
                "foreignField": "_id",
                "pipeline": [{"$project": {"_id": 1}}],
                "as": "found",
            }
        },
        {"$match": {"found": []}},
    ]
    with database.reading(seconds=SECONDS):
        rows = await settled(database.collection(collection).aggregate(stages))
        return {each["_id"] for each in await rows.to_list(None) if isinstance(each["_id"], str)}
