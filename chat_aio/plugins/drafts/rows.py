"""The rows of drafts. Each change is one update, which only applies to a draft as it must be."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.plugins.own_collection import OwnCollection
from chat_aio.schema.drafts import NewDraft, NewPart

DRAFTS = "drafts"
MOST_LISTED = 50

log = logging.getLogger(__name__)

Row = Mapping[str, Any]

_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(("_id", "conversationId", "senderId", "clientMessageId"), str),
    **dict.fromkeys(
        ("askedByUserId", "replyToMessageId", "threadRootMessageId", "stoppedBy"), str | None
    ),
    "parts": list,
    "count": int,
    "isFinished": bool,
    "startedAt": datetime,
}


class Rows:
    """The collection `drafts`; a draft without a part for `seconds` is abandoned."""

    _rows = OwnCollection(DRAFTS)

    def __init__(self, api: PluginAPI, *, seconds: float) -> None:
        self._api = api
        self._kept_for = timedelta(seconds=seconds)

    async def begin(self, user_id: str, conversation_id: str, given: NewDraft) -> Row:
        """Store an empty draft."""
        now, draft_id = self._api.now(), self._api.new_id()
        row: Row = {
            "_id": draft_id,
            "conversationId": conversation_id,
            "senderId": user_id,
            "askedByUserId": given.asked_by_user_id,
            "replyToMessageId": given.reply_to_message_id,
            "threadRootMessageId": given.thread_root_message_id,
            # The key of the message that ends the draft: repeating `finish` sends no second one.
            "clientMessageId": given.client_message_id or draft_id,
            "parts": [],
            "count": 0,
            "length": 0,
            "stoppedBy": None,
            "isFinished": False,
            "startedAt": now,
            "expiresAt": now + self._kept_for,
        }
        await self._api.write(lambda: self._rows.insert_one(row))
        return row

    async def find(self, conversation_id: str, draft_id: str) -> Row | None:
        """A draft, also a finished one, that is not abandoned."""
        query = {"_id": draft_id, "conversationId": conversation_id, **self._alive()}
        found: Row | None = await self._api.read(lambda: self._rows.find_one(query))
        return found if found and _is_draft(found) else None

    async def list_open(self, conversation_id: str) -> Sequence[Row]:
        """The drafts of a conversation that are being written, the oldest first."""
        query = {"conversationId": conversation_id, "isFinished": False, **self._alive()}
        found: Sequence[Row] = await self._api.read(
            lambda: self._rows.find(query).sort("startedAt", 1).to_list(MOST_LISTED)
        )
        return [row for row in found if _is_draft(row)]

    async def append(
        self, conversation_id: str, user_id: str, given: NewPart, *, most: int
    ) -> Row | None:
        """Add a part, if it is the next one, to a user's open draft that nobody has stopped and
        that stays within `most` code points. Returns the draft without its parts, None if it was
        not added."""
        text = given.text
        # All in the filter: repetitions are recognised and two writers exclude one another, at
        # whichever processes they arrive (decision 0069).
        expected = {
            "_id": given.draft_id,
            "conversationId": conversation_id,
            "senderId": user_id,
            "count": given.index,
            "isFinished": False,
            "stoppedBy": None,
            "length": {"$lte": most - len(text)},
            **self._alive(),
        }
        # Pushed, so that the oplog contains only the added text.
        change = {
            "$push": {"parts": text},
            "$inc": {"count": 1, "length": len(text)},
            "$set": {"expiresAt": self._api.now() + self._kept_for},
        }
        added: Row | None = await self._api.write(
            lambda: self._rows.find_one_and_update(expected, change, projection={"parts": 0})
        )
        return added

    async def stop(self, draft_id: str, user_id: str) -> None:
        """Note the user who has stopped an open draft, once."""
        # A flag that the writer sees with its next part: it may use another process.
        query = {"_id": draft_id, "isFinished": False, "stoppedBy": None}
        change = {"$set": {"stoppedBy": user_id}}
        await self._api.write(lambda: self._rows.update_one(query, change))

    async def touch(self, draft_id: str) -> None:
        """Put off the end of an open draft."""
        change = {"$set": {"expiresAt": self._api.now() + self._kept_for}}
        query = {"_id": draft_id, "isFinished": False}
        await self._api.write(lambda: self._rows.update_one(query, change))

    async def finish(self, draft_id: str) -> None:
        """Keep a draft for as long as one without parts, for repetitions, and list it no more."""
        change = {"$set": {"isFinished": True, "expiresAt": self._api.now() + self._kept_for}}
        await self._api.write(lambda: self._rows.update_one({"_id": draft_id}, change))

    async def remove(self, draft_id: str) -> bool:
        """Remove an open draft; returns whether it was there."""
        query = {"_id": draft_id, "isFinished": False}
        done = await self._api.write(lambda: self._rows.delete_one(query))
        return bool(done.deleted_count)

    async def take_abandoned(self) -> Row | None:
        """Remove an abandoned draft and return it; of several processes, one gets it."""
        query = {"isFinished": False, "expiresAt": {"$lte": self._api.now()}}
        taken: Row | None = await self._api.write(lambda: self._rows.find_one_and_delete(query))
        return taken if taken and _is_draft(taken) else None

    def _alive(self) -> Row:
        return {"expiresAt": {"$gt": self._api.now()}}


def _is_draft(row: Row) -> bool:
    """Whether another program has written something else; that is logged."""
    # The default is of none of the types, so a missing field is wrong as well.
    wrong = [name for name, kind in _TYPES.items() if not isinstance(row.get(name, _TYPES), kind)]
    if wrong or not all(isinstance(part, str) for part in row["parts"]):
        log.error("a draft is not as it must be: %s", ", ".join(wrong or ["parts"]))
        return False
    return True
