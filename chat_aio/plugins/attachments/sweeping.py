"""Removing files that no message carries: unsent uploads, and files of deleted messages."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import Context

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.errors import StorageUnavailable
from chat_aio.plugins.attachments.rows import Row, Rows
from chat_aio.plugins.attachments.stores import Store
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

AT_A_TIME = 200
MOST_AT_ONCE = 50
"""So many portions in one sweep: the next one goes on."""

THUMBNAIL = "-thumbnail"
"""Follows the id of an attachment in that of its thumbnail."""


class Sweeper:
    """Looks at rows whose time is over, every `seconds`, in one process at a time. Any number of
    them may do it at once: each removal is decided once."""

    def __init__(self, api: PluginAPI, rows: Rows, store: Store, *, seconds: float) -> None:
        self._api = api
        self._rows = rows
        self._store = store
        self._seconds = seconds
        self._released: set[str] = set()
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        self._task = asyncio.create_task(self._run(), context=Context())

    async def close(self) -> None:
        if self._task is not None:
            await cancel_and_wait(self._task)
        try:
            await self._note_released()
        except StorageUnavailable:
            log.warning("released attachments are found within a day only")

    def release(self, attachment_ids: Sequence[str]) -> None:
        """A message no longer carries these."""
        self._released.update(attachment_ids)
        self._woken.set()

    async def sweep(self, advance: Callable[[int], object] = lambda _: None) -> int:
        """Remove files that no message carries; returns their number. `advance` is called with how
        many files were looked at."""
        done = 0
        for _ in range(MOST_AT_ONCE):
            due = await self._rows.list_due(limit=AT_A_TIME)
            kept = await self._kept_of(due)
            if kept:
                await self._rows.keep([*kept])
            for row in due:
                # Decided in storage: another process may sweep, or a message use the file by now.
                if row["_id"] not in kept and await self._rows.decide_removal(row):
                    await self.remove(row)
                    done += 1
            advance(len(due))
            if len(due) < AT_A_TIME:
                break
        return done

    async def count_due(self) -> int:
        """How many files a sweep would look at now."""
        return len(await self._rows.list_due(limit=AT_A_TIME * MOST_AT_ONCE))

    async def list_removable(self) -> list[Row]:
        """The files that a sweep would remove now. Nothing is written."""
        due = await self._rows.list_due(limit=AT_A_TIME * MOST_AT_ONCE)
        found: list[Row] = []
        for start in range(0, len(due), AT_A_TIME):
            some = due[start : start + AT_A_TIME]
            kept = await self._kept_of(some)
            found += [row for row in some if row["_id"] not in kept]
        return found

    async def remove(self, row: Row) -> None:
        """Remove a file whose removal is decided."""
        await self.remove_bytes(row["_id"])
        await self._rows.forget(row["_id"], row["createdAt"])

    async def remove_bytes(self, attachment_id: str) -> None:
        # The thumbnail first: if this is cut short, the file is still found by its row.
        await self._store.delete(attachment_id + THUMBNAIL)
        await self._store.delete(attachment_id)

    async def _kept_of(self, due: Sequence[Row]) -> set[str]:
        """The files that a message carries or a legal hold keeps, unless their removal is
        decided."""
        decided = {row["_id"] for row in due if row["state"] == "removing"}
        asked = [row["_id"] for row in due if row["_id"] not in decided]
        if not asked:
            return set()
        carried = await self._api.carried_attachments(asked)
        on_hold = await self._api.users_under_legal_hold()
        return carried | {row["_id"] for row in due if row["userId"] in on_hold} - decided

    async def _run(self) -> None:
        due = time.monotonic() + self._seconds
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), due - time.monotonic())
            is_due = time.monotonic() >= due
            if is_due:
                due = time.monotonic() + self._seconds
            try:
                await self._note_released()
                if is_due and await self._rows.claim_sweep(seconds=self._seconds):
                    await self.sweep()
            except StorageUnavailable:
                continue
            except Exception:
                log.exception("sweeping attachments failed")

    async def _note_released(self) -> None:
        # Before the ids are taken: one that comes during the write wakes the loop again.
        self._woken.clear()
        if released := [*self._released]:
            await self._rows.release(released)
            self._released.difference_update(released)
