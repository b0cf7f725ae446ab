"""Mentions of a user, over all conversations."""

from functools import partial

from chat_aio.store import keyset_query
from chat_aio.store.database import Database
from chat_aio.store.documents import MessageDocument
from chat_aio.store.messages import READ
from chat_aio.store.rows import MOST_BYTES, Rows, read_rows


async def list_newest(
    database: Database, user_id: str, position: keyset_query.After | None, *, limit: int
) -> Rows[MessageDocument]:
    """The messages of others that mention a user, behind a position; fewer than `limit` if they are
    large. Their times are naive UTC."""
    mine = {"mentions.userId": user_id, "senderId": {"$ne": user_id}, "deletedAt": None}
    placed = [{"createdAt": {"$type": "date"}}, {"_id": {"$type": "string"}}]
    chosen = {"$and": [mine, *placed, keyset_query.behind(position)]}
    plain = database.plain_messages
    order = keyset_query.newest()
    opened = partial(
        plain.find_raw_batches, chosen, READ, sort=order, limit=limit, batch_size=limit
    )
    return await read_rows(database, plain, opened, most=MOST_BYTES)
