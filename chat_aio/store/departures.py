"""Departures: users who are no longer in a conversation, and the time. They are kept for a week."""

from collections.abc import Iterable
from datetime import datetime

from pymongo import UpdateOne

from chat_aio.store.database import Database
from chat_aio.store.documents import DepartureDocument
from chat_aio.store.transactions import Session


async def note(
    database: Database,
    conversation_id: str,
    user_ids: Iterable[str],
    at: datetime,
    session: Session,
) -> None:
    """Note former participants of a conversation, in the transaction that removes them from it or
    deletes it."""
    rows: list[DepartureDocument] = [
        {
            "_id": {"userId": user_id, "conversationId": conversation_id},
            "userId": user_id,
            "conversationId": conversation_id,
            "at": at,
        }
        for user_id in user_ids
    ]
    if rows:
        writes = [UpdateOne({"_id": row["_id"]}, {"$set": row}, upsert=True) for row in rows]
        await database.departures.bulk_write(writes, ordered=False, session=session)
