"""The rows of attachments: their uploader, and how long they are kept.

A row is `uploading`, then `stored`. Until `keepUntil` nobody checks whether a message carries it;
each use puts that off, and a removal applies only behind it. So a message never loses a file that
it has just begun to carry, however many processes send and remove (decision 0067).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from chat_aio.actions.plugin_api import ATTACHMENT_GRACE_PERIOD, Attachment, PluginAPI
from chat_aio.errors import AttachmentLimitExceeded, AttachmentNotFound
from chat_aio.plugins.own_collection import OwnCollection

Row = Mapping[str, Any]

DAY = timedelta(days=1)
KEPT_FOR_A_REMOVAL = timedelta(minutes=10)
"""After so long another process goes on with a removal that was cut short."""

SHOWN = ("name", "contentType", "size", "width", "height", "hasThumbnail")


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyLimits:
    """What each user may upload within 24 hours."""

    files: int
    size: int


class Rows:
    """The rows of one store; `store` is its name."""

    _rows = OwnCollection("attachments")

    def __init__(self, api: PluginAPI, *, store: str) -> None:
        self._api = api
        self._store = store

    def new_id(self) -> str:
        return self._api.new_id()

    async def begin(
        self,
        attachment_id: str,
        user_id: str,
        conversation_id: str,
        size: int,
        limits: DailyLimits,
    ) -> None:
        """A row for an upload that begins. Raises AttachmentLimitExceeded."""
        now = self._api.now()
        row = {
            "userId": user_id,
            "conversationId": conversation_id,
            "state": "uploading",
            "store": self._store,
            "name": "",
            "contentType": "",
            "size": size,
            "width": None,
            "height": None,
            "hasThumbnail": False,
            "createdAt": now,
            "keepUntil": now + DAY,
        }
        here = {"_id": attachment_id}
        await self._api.write(
            lambda: self._rows.update_one(here, {"$setOnInsert": row}, upsert=True)
        )
        try:
            await self._require_room(attachment_id, user_id, size, limits)
        except AttachmentLimitExceeded:
            await self._api.write(lambda: self._rows.delete_one(here))
            raise

    async def _require_room(
        self, attachment_id: str, user_id: str, size: int, limits: DailyLimits
    ) -> None:
        """Raise AttachmentLimitExceeded if a user's other uploads of a day leave no room for this
        one. Its row is written already: of uploads in several processes, none overlooks the others.
        """
        # Only a complete upload has a kind: a refused one, and one that failed, do not count.
        counted = {"$or": [{"state": "uploading"}, {"contentType": {"$ne": ""}}]}
        recent = {"userId": user_id, "createdAt": {"$gt": self._api.now() - DAY}}
        others = {**recent, **counted, "_id": {"$ne": attachment_id}}
        summed = {"_id": None, "files": {"$sum": 1}, "size": {"$sum": "$size"}}
        found = await self._api.aggregate("attachments", [{"$match": others}, {"$group": summed}])
        files, taken = (found[0]["files"], found[0]["size"]) if found else (0, 0)
        if files + 1 > limits.files or taken + size > limits.size:
            raise AttachmentLimitExceeded

    async def measure(
        self, attachment_id: str, user_id: str, size: int, limits: DailyLimits
    ) -> None:
        """Note how large an upload was. Raises AttachmentLimitExceeded."""
        await self._require_room(attachment_id, user_id, size, limits)
        await self._update({"_id": attachment_id}, {"$set": {"size": size}})

    async def finish(self, shown: Attachment, *, thumbnail_size: int) -> None:
        """An upload is complete. Raises AttachmentNotFound if it took too long and is removed."""
        fields = shown.model_dump(by_alias=True, exclude={"id"})
        stored = {**fields, "thumbnailSize": thumbnail_size, "state": "stored"}
        uploading = {"_id": shown.id, "state": "uploading"}
        if not await self._update(uploading, {"$set": stored}):
            raise AttachmentNotFound

    async def find(self, attachment_ids: Sequence[str]) -> dict[str, Row]:
        """The complete ones among some attachments, by id."""
        chosen = {"_id": {"$in": [*attachment_ids]}, "state": "stored", "store": self._store}
        found = await self._api.read(lambda: self._rows.find(chosen).to_list(None))
        return {row["_id"]: row for row in found}

    async def use(self, attachment_ids: Sequence[str]) -> None:
        """Keep attachments for a message that is about to be stored. Raises AttachmentNotFound."""
        now = self._api.now()
        chosen = {"_id": {"$in": [*attachment_ids]}, "state": "stored"}
        update = {"$set": {"usedAt": now}, "$max": {"keepUntil": now + ATTACHMENT_GRACE_PERIOD}}
        used = await self._api.write(lambda: self._rows.update_many(chosen, update))
        # One of them is being removed: the message is not stored, and no file is missing.
        if used.matched_count < len(set(attachment_ids)):
            raise AttachmentNotFound

    async def release(self, attachment_ids: Sequence[str]) -> None:
        """A message no longer carries these: look soon whether any other does."""
        soon = self._api.now() + ATTACHMENT_GRACE_PERIOD
        chosen = {"_id": {"$in": [*attachment_ids]}, "state": "stored"}
        update = {"$min": {"keepUntil": soon}}
        await self._api.write(lambda: self._rows.update_many(chosen, update))

    async def list_due(self, *, limit: int) -> list[Row]:
        """Rows whose `keepUntil` has passed, the oldest first."""
        states = ["uploading", "stored", "removing"]
        due = {"state": {"$in": states}, "keepUntil": {"$lte": self._api.now()}}
        rows = self._rows.find({**due, "store": self._store}).sort("keepUntil", 1).limit(limit)
        found: list[Row] = await self._api.read(lambda: rows.to_list(None))
        return found

    async def keep(self, attachment_ids: Sequence[str]) -> None:
        """Look at these again in a day."""
        chosen = {"_id": {"$in": [*attachment_ids]}}
        update = {"$max": {"keepUntil": self._api.now() + DAY}}
        await self._api.write(lambda: self._rows.update_many(chosen, update))

    async def decide_removal(self, row: Row) -> bool:
        """From now on no message can carry a file; False if it was used or kept in the meantime."""
        now = self._api.now()
        # All of the conditions again: a message may have used it since it was listed.
        due = {"_id": row["_id"], "state": row["state"], "keepUntil": {"$lte": now}}
        lease = {"state": "removing", "keepUntil": now + KEPT_FOR_A_REMOVAL}
        return await self._update(due, {"$set": lease})

    async def refuse(self, attachment_id: str, size: int) -> None:
        """An upload is not kept: no message can carry it yet, and it no longer counts. `size` is
        what arrived of it."""
        lease = {"state": "removing", "keepUntil": self._api.now() + KEPT_FOR_A_REMOVAL}
        await self._update({"_id": attachment_id}, {"$set": {**lease, "size": size}})

    async def forget(self, attachment_id: str, created_at: datetime) -> None:
        """The bytes are removed. The row of an upload that was complete counts in its user's limits
        for the rest of the day."""
        gone = {"state": "gone", "name": "", "expiresAt": created_at + DAY}
        await self._update({"_id": attachment_id, "state": "removing"}, {"$set": gone})

    async def claim_sweep(self, *, seconds: float) -> bool:
        """Whether this process takes the lease of the sweep for these seconds."""
        settings, here = self._api.collection("settings"), {"_id": f"attachments:{self._store}"}
        first = {"$setOnInsert": {"until": self._api.now()}}
        await self._api.write(lambda: settings.update_one(here, first, upsert=True))
        over = {"$expr": {"$lte": [{"$ifNull": ["$until", "$$NOW"]}, "$$NOW"]}}
        until = {"$add": ["$$NOW", int(seconds * 1000)]}
        claimed = await self._api.write(
            lambda: settings.update_one({**here, **over}, [{"$set": {"until": until}}])
        )
        return bool(claimed.matched_count)

    async def _update(self, chosen: Mapping[str, Any], update: Mapping[str, Any]) -> bool:
        written = await self._api.write(lambda: self._rows.update_one(chosen, update))
        return bool(written.matched_count)


def attachment_from(row: Row) -> Attachment:
    """A row as messages carry it."""
    return Attachment.model_validate({"id": row["_id"], **{name: row[name] for name in SHOWN}})
