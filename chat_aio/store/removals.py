"""Removes the rows of deleted conversations, some at a time. It may be interrupted: another process
continues, and doing it twice changes nothing."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextvars import Context
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

from chat_aio.errors import StorageUnavailable
from chat_aio.store.attachments import ATTACHMENT_GRACE_PERIOD
from chat_aio.store.database import Database, is_unauthorized
from chat_aio.store.documents import DeletedConversationDocument
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

ROWS_AT_A_TIME = 250
LOOK_SECONDS = 60.0
LEASE = timedelta(seconds=30)
SETTLES_AFTER = timedelta(minutes=10)
"""When the rows are looked for a second time: a process that was slow, or that has died, may have
written one after all others were gone."""

RENEWED_AFTER_SECONDS = 5.0

PLACES = (
    "mutes",
    "thread_states",
    "invites",
    "join_requests",
    "conversation_bans",
    "drafts",
    "notifications",
    "notification_settings",
    "notification_shown",
    "daily_stats",
    "held_messages",
    # Versions after messages: until a message is gone, a change of it adds a version.
    "messages",
    "message_versions",
)
"""The collections whose rows are removed, found by `conversationId`. Reports and the audit log keep
theirs; the sweep of attachments removes files that no other message carries."""

Advance = Callable[[int], object]


class Removals:
    """The removals of one process: its own at once, and those that other processes have left."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock
        self._wanted = asyncio.Event()
        self.is_permitted = False
        """Whether this process's rights in MongoDB have been found sufficient."""
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        # A fresh context: no request's deadline must limit this work.
        self._task = asyncio.create_task(self._run(), context=Context())

    async def close(self) -> None:
        """Stop; another process, or the next start, removes the rest."""
        if self._task is not None:
            await cancel_and_wait(self._task)
            self._task = None

    def wake(self) -> None:
        """Look for work at once."""
        self._wanted.set()

    async def _run(self) -> None:
        while True:
            timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self.wake)
            try:
                await self._wanted.wait()
            finally:
                timer.cancel()
            self._wanted.clear()
            try:
                while row := await self.take():
                    await self.remove(row)
            except StorageUnavailable:
                log.warning("the rows of a deleted conversation are removed later: no database")
            except Exception as error:
                if is_unauthorized(error):
                    log.warning(
                        "this process has no right to remove the rows of a deleted conversation: "
                        "run chat-aio conversations delete again"
                    )
                    continue
                log.exception("the rows of a deleted conversation could not be removed")

    async def take(self) -> DeletedConversationDocument | None:
        """Take the next deletion that is due and that no process works on; None if there is
        none."""
        # With `$type`, as in the filter of the partial index.
        due = {"dueAt": {"$lte": self._clock(), "$type": "date"}}
        rows = self._database.deleted_conversations
        # A read first, which needs no right to write: most chats never delete.
        if await self._database.read(partial(rows.find_one, due, {"_id": 1})) is None:
            return None
        lease = {"$set": {"dueAt": self._clock() + LEASE}}
        taken = await self._database.write(
            partial(rows.find_one_and_update, due, lease, sort=[("dueAt", 1)], return_document=True)
        )
        return cast(DeletedConversationDocument | None, taken)

    async def remove(self, row: DeletedConversationDocument, advance: Advance = lambda _: 0) -> int:
        """Remove all rows of a deleted conversation, and return their number."""
        removed, renewed = 0, await self._renew(row)
        for place in PLACES:
            while count := await self._remove_some(place, row["_id"]):
                removed += count
                advance(count)
                if time.monotonic() - renewed > RENEWED_AFTER_SECONDS:
                    renewed = await self._renew(row)
        if row["state"] == "removing":
            later = {"state": "settling", "dueAt": self._clock() + SETTLES_AFTER}
            await self._update(row, {"$set": later})
        elif row["state"] == "settling":
            await self._update(row, {"$set": {"state": "removed"}, "$unset": {"dueAt": ""}})
        return removed

    async def _renew(self, row: DeletedConversationDocument) -> float:
        """Keep other processes from taking the deletion for a while; returns the present time."""
        if row["state"] != "removed":
            await self._update(row, {"$set": {"dueAt": self._clock() + LEASE}})
        return time.monotonic()

    async def _update(self, row: DeletedConversationDocument, update: dict[str, Any]) -> None:
        # Not after another process has come further.
        here = {"_id": row["_id"], "state": row["state"]}
        rows = self._database.deleted_conversations
        await self._database.write(partial(rows.update_one, here, update))

    async def _remove_some(self, place: str, conversation_id: str) -> int:
        """Remove some rows of a collection; returns their number. Others get the same time."""
        began = time.monotonic()
        rows = self._database.collection(place)
        some = rows.find({"conversationId": conversation_id}, {"_id": 1, "attachments.id": 1})
        found = await self._database.read(partial(some.limit(ROWS_AT_A_TIME).to_list, None))
        if not found:
            return 0
        ids = [row["_id"] for row in found]
        if place == "messages":
            # By their ids: an index by conversation would cost a write for each message.
            noted = self._database.collection("notification_messages")
            await self._database.write(partial(noted.delete_many, {"_id": {"$in": ids}}))
        await self._database.write(partial(rows.delete_many, {"_id": {"$in": ids}}))
        await self._release(
            [attached["id"] for row in found for attached in row.get("attachments") or ()]
        )
        await asyncio.sleep(time.monotonic() - began)
        return len(ids)

    async def _release(self, attachment_ids: list[str]) -> None:
        """Let the sweep look soon whether another message carries these files. If this is
        interrupted, it looks within a day."""
        if not attachment_ids:
            return
        soon = {"$min": {"keepUntil": self._clock() + ATTACHMENT_GRACE_PERIOD}}
        chosen = {"_id": {"$in": attachment_ids}}
        rows = self._database.collection("attachments")
        await self._database.write(partial(rows.update_many, chosen, soon))
