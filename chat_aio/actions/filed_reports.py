"""Reports that plugins make of messages. The message has already been sent: a report that fails
is retried in the background, and never fails the send."""

import asyncio
import logging
from collections.abc import Callable
from contextvars import Context as Variables
from datetime import datetime

from chat_aio.errors import StorageUnavailable
from chat_aio.plugin_types.verdicts import Report
from chat_aio.schema.fields import MAX_REASON_LENGTH
from chat_aio.schema.models import Message
from chat_aio.schema.wire import timestamp
from chat_aio.store import reports
from chat_aio.store.database import Database
from chat_aio.store.documents import ReportDocument
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

AGAIN_SECONDS = (1.0, 5.0, 15.0, 60.0, 300.0)
"""Delays before the retries of a report that could not be written."""

MOST_WAITING = 1_000

Publish = Callable[[ReportDocument], None]
"""Notifies moderators of a new report."""


class FiledReports:
    """Writes the reports of one chat's plugins. The unique key of open reports makes repetitions
    harmless."""

    def __init__(
        self, database: Database, *, clock: Callable[[], datetime], new_id: Callable[[], str]
    ) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._waiting: set[asyncio.Task[None]] = set()

    async def file(self, verdict: Report, message: Message, publish: Publish) -> None:
        """Write a report with the message as evidence, and publish it once it is written. If that
        fails, log it and keep trying."""
        at = self._clock()
        report: ReportDocument = {
            "_id": self._new_id(),
            "reporterUserId": verdict.reporter_id,
            "targetType": "message",
            "targetId": message.id,
            "reason": verdict.reason[:MAX_REASON_LENGTH],
            "status": "open",
            "moderatorNote": None,
            "evidence": {
                "targetType": "message",
                "messageId": message.id,
                "conversationId": message.conversation_id,
                "senderId": message.sender_id,
                "body": message.body,
                "createdAt": timestamp(message.created_at),
                "deletedAt": None,
            },
            "createdAt": at,
            "updatedAt": at,
            "resolvedBy": None,
            "openKey": reports.open_key(verdict.reporter_id, "message", message.id),
        }
        if await self._is_written(report, publish):
            return
        # Bounded: during a long outage each reported message would keep its body in memory.
        if len(self._waiting) >= MOST_WAITING:
            log.error("too many reports wait: the one of message %s is lost", message.id)
            return
        # A fresh context: the time budget of the request must not limit later tries.
        task = asyncio.create_task(self._write_later(report, publish), context=Variables())
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    async def close(self) -> None:
        """Give up the reports that are still waiting, and log them."""
        await cancel_and_wait(*self._waiting)

    async def _write_later(self, report: ReportDocument, publish: Publish) -> None:
        written = False
        try:
            for seconds in AGAIN_SECONDS:
                await asyncio.sleep(seconds)
                if written := await self._is_written(report, publish):
                    return
        finally:
            if not written:
                log.error("the report of message %s is lost", report["targetId"])

    async def _is_written(self, report: ReportDocument, publish: Publish) -> bool:
        try:
            kept = await reports.put(self._database, report)
        except StorageUnavailable:
            log.warning("the report of message %s waits for the database", report["targetId"])
        except Exception:  # The message is sent: not even a bug here may fail its request.
            log.exception("the report of message %s could not be written", report["targetId"])
        else:
            # Otherwise the same reporter's report is open already, and was published then.
            if kept["_id"] == report["_id"]:
                publish(kept)
            return True
        return False
