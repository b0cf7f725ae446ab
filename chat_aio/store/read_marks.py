"""Read states: coalesces the marks of a conversation that arrive while a write is in flight."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from chat_aio.errors import MessageNotFound
from chat_aio.store import conversations
from chat_aio.store.clock import Clock
from chat_aio.store.coalescer import Coalescers
from chat_aio.store.database import Database
from chat_aio.store.sent_counts import SentBaseline, count_of, is_complete, known
from chat_aio.store.shapes import WHOLE

MOST_TOGETHER = 1_000

REST_SECONDS = 0.025
"""A round costs the same for ten marks as for a hundred, and nobody waits for the answer to one."""

Mark = tuple[str, str]
"""(user, message): the user has read up to this message."""


class Before(NamedTuple):
    """A participant's earlier read state, and the seq from which they had marked all as unread."""

    lastReadSeq: int
    unreadFrom: int | None


class Moved(NamedTuple):
    """Whether a mark moved the read state, and whether it ended a mark as unread."""

    read: bool = False
    unread: bool = False


class ReadMarks:
    """Writes the marks of one process. A read state only moves forward (specification 4.7).

    With `compares`, `mark` returns what it has moved, which doubles the cost of a mark. If users
    mark messages as unread, a mark ends that up to its message. With a `clock`, marks are dated in
    the same update.
    """

    def __init__(
        self, database: Database, *, compares: bool = False, clock: Clock | None = None
    ) -> None:
        self._database = database
        self._clock = clock
        self._compares = compares
        self._marks = Coalescers[Mark, Moved](most=MOST_TOGETHER, rest=REST_SECONDS)

    async def mark(self, conversation_id: str, user_id: str, message_id: str) -> Moved:
        """Store durably that `user_id` has read up to `message_id`; an older one changes nothing.

        Returns what has moved, nothing without `compares`. Raises MessageNotFound for a message of
        another conversation, and StorageUnavailable.
        """
        write = partial(self._write_marks, conversation_id)
        answer = self._marks.put(conversation_id, (user_id, message_id), answer=write)
        return await self._database.calls.shared(answer, seconds=self._database.timeout)

    async def mark_unread(self, conversation_id: str, user_id: str, seq: int) -> None:
        """Store that a participant has marked all messages from a seq on as unread. Their read
        state is unchanged; the mark ends when they mark the message with that seq, or a later one,
        as read."""
        here = {"_id": conversation_id, "participants.userId": user_id}
        marked: dict[str, Any] = {"$min": {"participants.$.unreadFrom": seq}}
        if self._clock is not None:
            marked["$set"] = {"participants.$.markedAt": self._clock()}
        await self._database.write(lambda: self._database.conversations.update_one(here, marked))

    async def close(self, *, seconds: float) -> None:
        """Wait up to `seconds` for writes in flight."""
        await self._marks.close(seconds=seconds)

    async def _write_marks(
        self, conversation_id: str, marks: Sequence[Mark]
    ) -> Sequence[Moved | Exception]:
        """Write the valid marks; returns the moves of each mark."""
        chosen = {
            "_id": {"$in": list({message_id for _, message_id in marks})},
            "conversationId": conversation_id,
            "seq": {"$type": WHOLE},
        }
        found = await self._database.read(
            lambda: self._database.messages.find(chosen, {"seq": 1}).to_list(None)
        )
        seqs: dict[str, int] = {message["_id"]: message["seq"] for message in found}
        # One mark for each user: two filters of one update may not match the same participant.
        highest: dict[str, str] = {}
        for user_id, message_id in marks:
            if message_id in seqs and seqs[message_id] > seqs.get(highest.get(user_id, ""), 0):
                highest[user_id] = message_id
        before = await self._write(conversation_id, highest, seqs) if highest else {}
        moves: list[Moved | Exception] = []
        for user_id, message_id in marks:
            if message_id not in seqs:
                moves.append(MessageNotFound())
            elif earlier := before.get(user_id):
                seq, unread_from = seqs[message_id], earlier.unreadFrom
                ends_unread = unread_from is not None and unread_from <= seq
                moves.append(Moved(earlier.lastReadSeq < seq, ends_unread))
            else:
                moves.append(Moved())
        return moves

    async def _write(
        self, conversation_id: str, marks: Mapping[str, str], seqs: Mapping[str, int]
    ) -> dict[str, Before]:
        """Write marks; with `compares`, returns the earlier read state of each user."""
        # A mark at the newest message also stores the sender's own count as it is then, so that
        # lists need not count own messages (decision 0054).
        head = await conversations.find_head(self._database, conversation_id, counts_of=marks)
        here = {"_id": conversation_id}
        sent: dict[str, SentBaseline] = {}
        if head and is_complete(head):
            # The counts of users who mark the newest message. If they have sent nothing, they need
            # no new count.
            sent = {
                user_id: known(upto=head["seq"], count=count)
                for user_id, message_id in marks.items()
                if seqs[message_id] == head["seq"] and (count := count_of(head, user_id))
            }
        if head and sent:
            # In another epoch a user may have left and rejoined, and their count restarted.
            same = {**here, "epoch": head["epoch"]}
            if (before := await self._update(same, marks, seqs, sent)) is not None:
                return before
        return await self._update(here, marks, seqs, {}) or {}

    async def _update(
        self,
        place: Mapping[str, Any],
        marks: Mapping[str, str],
        seqs: Mapping[str, int],
        sent: Mapping[str, SentBaseline],
    ) -> dict[str, Before] | None:
        """Write marks, and the counts `sent` by then; returns as `_write`, or None if there is no
        such conversation."""
        update, filters = _update_of(
            marks,
            seqs,
            sent,
            ends_unread=self._database.unread_marks,
            at=None if self._clock is None else self._clock(),
        )
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
    marks: Mapping[str, str],
    seqs: Mapping[str, int],
    sent: Mapping[str, SentBaseline],
    *,
    ends_unread: bool,
    at: datetime | None,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The update of a conversation that writes marks, with their time if it is given, and with
    `ends_unread` ends earlier marks as unread; and its array filters."""
    # Users who mark the same message share a filter: MongoDB tries every filter on every
    # participant.
    groups: dict[tuple[str, tuple[tuple[str, object], ...]], list[str]] = defaultdict(list)
    for user_id, message_id in marks.items():
        groups[message_id, (*sent.get(user_id, {}).items(),)].append(user_id)
    places: dict[str, Any] = {}
    cleared: dict[str, str] = {}
    filters: list[dict[str, Any]] = []
    for number, ((message_id, counts), user_ids) in enumerate(groups.items()):
        places[f"participants.$[p{number}].lastReadSeq"] = seqs[message_id]
        places[f"participants.$[p{number}].lastReadMessageId"] = message_id
        for name, value in counts:
            places[f"participants.$[p{number}].{name}"] = value
        # In the filter, so that a read state never moves back, whichever process is faster.
        moves = {"lastReadSeq": {"$lt": seqs[message_id]}}
        filters.append(_filter(f"p{number}", user_ids, moves))
        if at is not None and not ends_unread:
            places[f"participants.$[p{number}].markedAt"] = at
        if ends_unread:
            # A separate filter: such a mark ends also where the read state is ahead already.
            ends = {"unreadFrom": {"$lte": seqs[message_id]}}
            cleared[f"participants.$[u{number}].unreadFrom"] = ""
            filters.append(_filter(f"u{number}", user_ids, ends))
            if at is not None:
                # A third one, because two filters may not set a field of the same participant.
                places[f"participants.$[m{number}].markedAt"] = at
                filters.append(_filter(f"m{number}", user_ids, moves, ends))
    return {"$set": places, **({"$unset": cleared} if cleared else {})}, filters


def _filter(name: str, user_ids: Sequence[str], *conditions: Mapping[str, Any]) -> dict[str, Any]:
    """An array filter for the participants among some users who meet one of some conditions."""
    named = [
        {f"{name}.{field}": value for field, value in condition.items()} for condition in conditions
    ]
    met = named[0] if len(named) == 1 else {"$or": named}
    return {f"{name}.userId": {"$in": user_ids}, **met}
