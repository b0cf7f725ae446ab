"""Read states: coalesces the marks of a conversation that arrive while a write is in flight."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from chat_aio.errors import MessageNotFound
from chat_aio.store import conversations
from chat_aio.store.calls import shared
from chat_aio.store.coalescer import Coalescers
from chat_aio.store.database import Database
from chat_aio.store.documents import CounterDocument
from chat_aio.store.sent_counts import Known, count_of, is_complete, known
from chat_aio.store.shapes import WHOLE

MOST_TOGETHER = 1_000

Mark = tuple[str, str]
"""(user, message): the user has read up to this message."""


class Before(NamedTuple):
    """What a participant had read, and from which seq on they had marked all as unread."""

    lastReadSeq: int
    unreadFrom: int | None


class Moved(NamedTuple):
    """Whether a mark moved the read state, and whether it ended what was marked as unread."""

    read: bool = False
    unread: bool = False


class ReadMarks:
    """Writes the marks of one process. A read state only moves forward (docs/behaviour.md 4.7).

    With `compares`, `mark` knows what it has moved, which doubles the cost of a mark. Where users
    mark messages as unread, a mark ends that up to its message.
    """

    def __init__(self, database: Database, *, compares: bool = False, clears: bool = False) -> None:
        self._database = database
        self._compares = compares
        self._marks = Coalescers[Mark, Moved](most=MOST_TOGETHER)

    async def mark(self, conversation_id: str, user_id: str, message_id: str) -> Moved:
        """Store durably that `user_id` has read up to `message_id`; an older one changes nothing.

        Returns what has moved, nothing without `compares`. Raises
        MessageNotFound for a message of another conversation, and StorageUnavailable.
        """
        write = partial(self._write_marks, conversation_id)
        answer = self._marks.put(conversation_id, (user_id, message_id), answer=write)
        return await shared(answer, seconds=self._database.timeout)

    async def mark_unread(self, conversation_id: str, user_id: str, seq: int) -> None:
        """Store that a participant has marked all from a seq on as unread. Their read state stays;
        it ends with a mark at the lowest such seq or above."""
        here = {"_id": conversation_id, "participants.userId": user_id}
        marked = {"$min": {"participants.$.unreadFrom": seq}}
        await self._database.write(lambda: self._database.conversations.update_one(here, marked))

    async def close(self, *, seconds: float) -> None:
        """Wait up to so many seconds for writes in flight."""
        await self._marks.close(seconds=seconds)

    async def _write_marks(
        self, conversation_id: str, marks: Sequence[Mark]
    ) -> Sequence[Moved | Exception]:
        """Write the valid marks; returns for each what has moved."""
        seqs = await self._seqs(conversation_id, {message_id for _, message_id in marks})
        highest = _highest(marks, seqs)
        before = await self._write(conversation_id, highest, seqs) if highest else {}
        return [
            _moved(before.get(user_id), seqs[message_id])
            if message_id in seqs
            else MessageNotFound()
            for user_id, message_id in marks
        ]

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
        return {mark["_id"]: mark["seq"] for mark in found}

    async def _write(
        self, conversation_id: str, marks: Mapping[str, str], seqs: Mapping[str, int]
    ) -> dict[str, Before]:
        """Write marks; with `compares`, returns what each user had read before."""
        head = await conversations.find_head(self._database, conversation_id, counts_of=marks)
        here = {"_id": conversation_id}
        if head and (sent := _sent(marks, seqs, head)):
            # In another epoch one of them may have left and come back, and their count began anew.
            same = {**here, "epoch": head["epoch"]}
            if (before := await self._update(same, marks, seqs, sent)) is not None:
                return before
        return await self._update(here, marks, seqs, {}) or {}

    async def _update(
        self,
        place: Mapping[str, Any],
        marks: Mapping[str, str],
        seqs: Mapping[str, int],
        sent: Mapping[str, Known],
    ) -> dict[str, Before] | None:
        """Write marks, and what is `sent` by then; returns as `_write`, None if there is no such
        conversation."""
        update, filters = _update_of(marks, seqs, sent)
        if self._database.unread_marks:
            update["$unset"], clearing = _clearing(marks, seqs)
            filters += clearing
        if not self._compares:
            written = await self._database.write(
                lambda: self._database.conversations.update_one(
                    place, update, array_filters=filters
                )
            )
            return {} if written.matched_count else None
        # By default this returns the document before the update.
        before = await self._database.write(
            lambda: self._database.conversations.find_one_and_update(
                place,
                update,
                array_filters=filters,
                projection=[f"participants.{field}" for field in ("userId", *Before._fields)],
            )
        )
        if before is None:
            return None
        return {
            participant["userId"]: Before(participant["lastReadSeq"], participant.get("unreadFrom"))
            for participant in before["participants"]
            if participant["userId"] in marks
        }


def _update_of(
    marks: Mapping[str, str], seqs: Mapping[str, int], sent: Mapping[str, Known]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The update of a conversation that writes marks, and its array filters."""
    places: dict[str, Any] = {}
    filters: list[dict[str, Any]] = []
    for number, (user_id, message_id) in enumerate(marks.items()):
        places[f"participants.$[p{number}].lastReadSeq"] = seqs[message_id]
        places[f"participants.$[p{number}].lastReadMessageId"] = message_id
        for name, value in sent.get(user_id, {}).items():
            places[f"participants.$[p{number}].{name}"] = value
        # In the filter, so that a read state never moves back, whichever process is faster.
        filters.append(
            {f"p{number}.userId": user_id, f"p{number}.lastReadSeq": {"$lt": seqs[message_id]}}
        )
    return {"$set": places}, filters


def _moved(before: Before | None, seq: int) -> Moved:
    if before is None:
        return Moved()
    marked = before.unreadFrom
    return Moved(before.lastReadSeq < seq, marked is not None and marked <= seq)


def _clearing(
    marks: Mapping[str, str], seqs: Mapping[str, int]
) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """What marks end of what their users have marked as unread, and its array filters."""
    filters = [
        {f"u{number}.userId": user_id, f"u{number}.unreadFrom": {"$lte": seqs[message_id]}}
        for number, (user_id, message_id) in enumerate(marks.items())
    ]
    places = (f"participants.$[u{number}].unreadFrom" for number in range(len(marks)))
    return dict.fromkeys(places, ""), filters


def _sent(
    marks: Mapping[str, str], seqs: Mapping[str, int], head: CounterDocument
) -> dict[str, Known]:
    """What users have sent up to the message that they mark, where that is the newest: then it is
    all that they have sent. Who has sent nothing needs no new count."""
    if not is_complete(head):
        return {}
    return {
        user_id: known(upto=head["seq"], count=count)
        for user_id, message_id in marks.items()
        if seqs[message_id] == head["seq"] and (count := count_of(head, user_id))
    }


def _highest(marks: Iterable[Mark], seqs: Mapping[str, int]) -> dict[str, str]:
    """The message with the highest seq of each user, among those that exist."""
    furthest: dict[str, str] = {}
    for user_id, message_id in marks:
        if message_id in seqs and seqs[message_id] > seqs.get(furthest.get(user_id, ""), 0):
            furthest[user_id] = message_id
    return furthest
