"""Join requests: one per user and group, changed in membership transactions only."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, cast

from chat_aio.store import keyset_query, shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import JoinRequestDocument
from chat_aio.store.membership import Locked

Status = Literal["pending", "approved", "denied"]


async def find_pending(
    database: Database, conversation_id: str, user_id: str
) -> JoinRequestDocument | None:
    chosen = {"conversationId": conversation_id, "userId": user_id, "status": "pending"}
    found = await database.read(lambda: database.join_requests.find_one(chosen))
    return shapes.one_readable("join_requests", cast(JoinRequestDocument | None, found))


async def pending_among(
    database: Database, user_id: str, conversation_ids: Sequence[str]
) -> set[str]:
    """The conversations among these for which the user has a pending request."""
    chosen = {
        "conversationId": {"$in": list(conversation_ids)},
        "userId": user_id,
        "status": "pending",
    }
    found = await database.read(
        lambda: database.join_requests.find(chosen, {"conversationId": 1}).to_list(None)
    )
    return {request["conversationId"] for request in found}


async def list_newest(
    database: Database,
    conversation_id: str,
    status: Status,
    *,
    position: keyset_query.After | None,
    limit: int,
) -> list[JoinRequestDocument]:
    """The requests with a status behind a position, newest first."""
    chosen = {"conversationId": conversation_id, "status": status}
    found = await database.read(
        lambda: keyset_query.page(database.join_requests, chosen, position, limit=limit)
    )
    return cast(list[JoinRequestDocument], found)


async def find(locked: Locked, user_id: str) -> JoinRequestDocument | None:
    """The user's request for the group in any status; None also if it is malformed, so that a new
    request replaces it."""
    found = await locked.database.join_requests.find_one(
        {"conversationId": locked.conversation["_id"], "userId": user_id}, session=locked.session
    )
    return shapes.one_readable("join_requests", cast(JoinRequestDocument | None, found))


async def put(locked: Locked, request: JoinRequestDocument) -> None:
    """Write a request, replacing an earlier one of the user."""
    requests = locked.database.join_requests
    place = {"conversationId": request["conversationId"], "userId": request["userId"]}
    # Not by `replace_one`: a new request has a new id, which a replacement cannot change.
    await requests.delete_one(place, session=locked.session)
    await requests.insert_one(request, session=locked.session)


async def approve_pending(
    locked: Locked, user_ids: Sequence[str], *, by: str, at: datetime
) -> list[JoinRequestDocument]:
    """Approve the pending requests of these users and return them."""
    requests = locked.database.join_requests
    pending = {
        "conversationId": locked.conversation["_id"],
        "userId": {"$in": list(user_ids)},
        "status": "pending",
    }
    found = await requests.find(pending, session=locked.session).to_list(None)
    if not found:
        return []
    approved = {"status": "approved", "resolvedAt": at, "resolvedBy": by}
    await requests.update_many(pending, {"$set": approved}, session=locked.session)
    closed = [cast(JoinRequestDocument, {**request, **approved}) for request in found]
    return shapes.readable("join_requests", closed)


async def resolve(
    locked: Locked, request: JoinRequestDocument, status: Status, *, by: str, at: datetime
) -> JoinRequestDocument:
    """Set the decision of a request."""
    found = await locked.database.join_requests.find_one_and_update(
        {"_id": request["_id"]},
        {"$set": {"status": status, "resolvedAt": at, "resolvedBy": by}},
        return_document=True,
        session=locked.session,
    )
    return cast(JoinRequestDocument, found)
