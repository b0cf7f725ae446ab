"""Mentions of a user, over all conversations."""

from functools import partial

from chat_aio.store import keyset_query
from chat_aio.store.database import Database
from chat_aio.store.documents import MessageDocument
from chat_aio.store.hidden import Hidden, unless_hidden
from chat_aio.store.messages import READ
from chat_aio.store.rows import MOST_BYTES, Rows, read_rows


async def list_newest(
    database: Database,
    user_id: str,
    position: keyset_query.After | None,
    *,
    hidden: Hidden,
    limit: int,
) -> Rows[MessageDocument]:
    """The messages of others that mention a user and are not hidden, behind a position; fewer than
    `limit` if they are large. Their times are naive UTC."""
    mine = {"mentions.userId": user_id, "senderId": {"$ne": user_id}, "deletedAt": None}
    placed = [{"createdAt": {"$type": "date"}}, {"_id": {"$type": "string"}}]
    behind = keyset_query.behind(position)
    chosen = {"$and": [mine, *placed, behind, *unless_hidden(hidden)]}
    plain = database.plain_messages
    order = keyset_query.newest()
    opened = partial(
        plain.find_raw_batches, chosen, READ, sort=order, limit=limit, batch_size=limit
    )
    return await read_rows(database, plain, opened, most=MOST_BYTES)
