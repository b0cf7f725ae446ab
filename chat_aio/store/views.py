"""Users' views of their conversations: archived, favourites, hidden until the next message, and
the messages that they have cleared (decision 0080).

A view is part of the participant: it ends when the user leaves. Cleared messages are kept as the
messages from before one has joined are (`store/hidden.py`).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from typing_extensions import TypedDict

from chat_aio.store.database import Database
from chat_aio.store.documents import ViewDocument
from chat_aio.store.pipelines import IS_TEXT
from chat_aio.store.shapes import readable

INDEX = "participant_views"
"""Named as a hint: it covers only conversations of which anybody has a view."""


class _Row(TypedDict):
    _id: str
    view: ViewDocument


async def change(
    database: Database,
    conversation_id: str,
    user_id: str,
    view: ViewDocument,
    *,
    hidden_up_to_seq: int | None,
    at: datetime | None,
) -> bool:
    """Set fields of a participant's view, and hide messages up to a seq from them. `at` dates
    their read state. Returns whether they are in the conversation."""
    fields: dict[str, Any] = {f"participants.$.view.{name}": value for name, value in view.items()}
    if at is not None:
        fields["participants.$.markedAt"] = at
    # `$max`: two requests may clear it at the same time.
    hides = {} if hidden_up_to_seq is None else {"participants.$.hiddenUpToSeq": hidden_up_to_seq}
    operators = {"$set": fields, "$max": hides}
    update = {name: changes for name, changes in operators.items() if changes}
    here = {"_id": conversation_id, "participants.userId": user_id}
    written = await database.write(lambda: database.conversations.update_one(here, update))
    return bool(written.matched_count)


async def of_user(database: Database, user_id: str) -> Mapping[str, ViewDocument]:
    """The views that a user has set, by conversation."""
    chosen = {
        "participants": {"$elemMatch": {"userId": user_id, "view": {"$type": "object"}}},
        "participants.view": {"$exists": True},
    }
    # `$literal`: an id that starts with `$` would be read as the name of a field.
    mine = {"$eq": ["$$this.userId", {"$literal": user_id}]}
    stages: list[Mapping[str, Any]] = [
        {"$match": chosen},
        IS_TEXT,
        {"$project": {"mine": {"$filter": {"input": "$participants", "cond": mine}}}},
        {"$project": {"view": {"$first": "$mine.view"}}},
    ]
    rows = await database.aggregate(database.conversations, stages, hint=INDEX)
    found = readable("conversations", cast(list[_Row], rows), shape=_Row)
    return {row["_id"]: row["view"] for row in found}
