"""Read-states: coalesces the marks of a conversation that arrive while a write is in flight."""

import asyncio
from collections.abc import Mapping
from contextvars import Context
from typing import Any

from chat_aio.errors import MessageNotFound
from chat_aio.store.calls import shared
from chat_aio.store.database import Database
from chat_aio.store.shapes import WHOLE

NOBODY: dict[str, list[Any]] = {"participants": []}


class ReadMarks:
    """Writes the marks of one process. A read-state only moves forward (docs/behaviour.md 4.7).

    With `compares`, `mark` knows whether the read-state moved, which doubles the cost of a mark.
    """

    def __init__(self, database: Database, *, compares: bool = False) -> None:
        self._database = database
        self._compares = compares
        self._waiting: dict[str, dict[tuple[str, str], asyncio.Future[bool]]] = {}
        self._flights: dict[str, asyncio.Task[None]] = {}

    async def mark(self, conversation_id: str, user_id: str, message_id: str) -> bool:
        """Store durably that `user_id` has read up to `message_id`; an older one changes nothing.

        Returns whether the read-state moved, always False without `compares`. Raises
        MessageNotFound for a message of another conversation, and StorageUnavailable.
        """
        waiting = self._waiting.setdefault(conversation_id, {})
        answer = waiting.setdefault(
            (user_id, message_id), asyncio.get_running_loop().create_future()
        )
        if conversation_id not in self._flights:
            # A fresh context: the deadline of the first caller must not limit everybody's write.
            self._flights[conversation_id] = asyncio.create_task(
                self._fly(conversation_id), context=Context()
            )
        return await shared(answer, seconds=self._database.timeout)

    async def close(self, *, seconds: float) -> None:
        """Wait up to so many seconds for writes in flight."""
        if self._flights:
            await asyncio.wait(self._flights.values(), timeout=seconds)

    async def _fly(self, conversation_id: str) -> None:
        try:
            while marks := self._waiting.pop(conversation_id, None):
                await self._write_marks(conversation_id, marks)
        finally:
            del self._flights[conversation_id]

    async def _write_marks(
        self, conversation_id: str, marks: Mapping[tuple[str, str], asyncio.Future[bool]]
    ) -> None:
        """Write the valid marks, and answer each mark."""
        error: Exception | None = None
        seqs: dict[str, int] = {}
        before: dict[str, int] = {}
        try:
            seqs = await self._seqs(conversation_id, {message_id for _, message_id in marks})
            before = await self._write(conversation_id, _highest(marks, seqs), seqs)
        except Exception as failure:
            error = failure
        for (user_id, message_id), answer in marks.items():
            failed = error or (None if message_id in seqs else MessageNotFound())
            if failed:
                answer.set_exception(failed)
                answer.exception()  # The caller may be gone, and asyncio would complain.
            else:
                known = before.get(user_id)
                answer.set_result(known is not None and known < seqs[message_id])

    async def _seqs(self, conversation_id: str, message_ids: set[str]) -> dict[str, int]:
        found = await self._database.read(
            lambda: self._database.messages.find(
                {
                    "_id": {"$in": list(message_ids)},
                    "conversationId": conversation_id,
                    "seq": {"$type": WHOLE},
                },
                {"seq": 1},
            ).to_list(None)
        )
        return {each["_id"]: each["seq"] for each in found}

    async def _write(
        self, conversation_id: str, marks: Mapping[str, str], seqs: Mapping[str, int]
    ) -> dict[str, int]:
        """Write marks; with `compares`, returns the seq that each user had read before."""
        if not marks:
            return {}
        places: dict[str, Any] = {}
        filters = []
        for number, (user_id, message_id) in enumerate(marks.items()):
            places[f"participants.$[p{number}].lastReadSeq"] = seqs[message_id]
            places[f"participants.$[p{number}].lastReadMessageId"] = message_id
            # In the filter, so that a read-state never moves back, whichever process is faster.
            filters.append(
                {f"p{number}.userId": user_id, f"p{number}.lastReadSeq": {"$lt": seqs[message_id]}}
            )
        place = {"_id": conversation_id}
        update = {"$set": places}
        if not self._compares:
            await self._database.write(
                lambda: self._database.conversations.update_one(
                    place, update, array_filters=filters
                )
            )
            return {}
        # By default this returns the document before the update.
        before = await self._database.write(
            lambda: self._database.conversations.find_one_and_update(
                place,
                update,
                array_filters=filters,
                projection={"participants.userId": 1, "participants.lastReadSeq": 1},
            )
        )
        read = {each["userId"]: each["lastReadSeq"] for each in (before or NOBODY)["participants"]}
        return {each: read[each] for each in marks if each in read}


def _highest(marks: Mapping[tuple[str, str], object], seqs: Mapping[str, int]) -> dict[str, str]:
    """The message with the highest seq of each user, among those that exist."""
    furthest: dict[str, str] = {}
    for user_id, message_id in marks:
        if message_id in seqs and seqs[message_id] > seqs.get(furthest.get(user_id, ""), 0):
            furthest[user_id] = message_id
    return furthest
