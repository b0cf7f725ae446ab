"""Changing a conversation in one transaction: its head is locked first, then all else is decided.

The lock order is the same for everything that concerns a conversation: `counters`, then
`conversations`, then the rest. A new epoch fences every send that was checked before.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeVar, cast

from chat_aio.errors import OUTCOME_UNKNOWN, StorageUnavailable
from chat_aio.store.calls import retrieve, shared
from chat_aio.store.coalescer import Coalescer
from chat_aio.store.database import Database
from chat_aio.store.documents import (
    Change,
    ConversationDocument,
    CounterDocument,
    ParticipantDocument,
)
from chat_aio.store.sequencer import Sequencer
from chat_aio.store.shapes import WHOLE, one_readable
from chat_aio.store.snapshots import Snapshots
from chat_aio.store.transactions import Session, Unchanged, is_passing, transact

T = TypeVar("T")

MOST_TOGETHER = 16


@dataclass(frozen=True, slots=True)
class Locked:
    """A conversation that nobody else changes until the transaction is over; its `head` was read
    before it."""

    database: Database
    session: Session
    head: CounterDocument
    conversation: ConversationDocument

    def find_participant(self, user_id: str) -> ParticipantDocument | None:
        found = self.conversation["participants"]
        return next((each for each in found if each["userId"] == user_id), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alteration:
    """What changes in a conversation, and the stamp that tells of it: who comes, who goes, who gets
    which role, which of its own fields are set."""

    change: Change
    added: tuple[ParticipantDocument, ...] = ()
    removed: tuple[str, ...] = ()
    roles: Mapping[str, Literal["admin", "member"]] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)


Decide = Callable[[Locked], Awaitable[Alteration | None]]


async def change_conversation(
    database: Database,
    sequencer: Sequencer,
    snapshots: Snapshots,
    conversation_id: str,
    decide: Decide,
) -> ConversationDocument | None:
    """Change a conversation; returns it as it is then, None if there is none.

    `decide` sees it behind the lock, may write beside it, and returns what changes; None where
    nothing does and nothing was written. What it raises undoes what it wrote. It may be asked
    several times. Changes of one conversation that come while another is made go together, one
    after the other in one transaction: each process takes a turn at the lock, not each caller.
    """
    queues = sequencer.changes
    queue = queues.setdefault(
        conversation_id,
        Coalescer(
            partial(_change_together, database, sequencer, snapshots, conversation_id),
            most=MOST_TOGETHER,
        ),
    )
    answer = queue.put(decide)
    answer.add_done_callback(partial(_answered, queues, conversation_id))
    try:
        return await shared(answer, seconds=database.timeout)
    except StorageUnavailable:
        if answer.done() or queue.take_back(answer):
            raise
        raise StorageUnavailable(OUTCOME_UNKNOWN) from None


def _answered(
    queues: dict[str, Coalescer[Any, Any]], conversation_id: str, answer: asyncio.Future[Any]
) -> None:
    """Let go of a queue whose round is over; who has asked may have left."""
    retrieve(answer)
    if conversation_id in queues and queues[conversation_id].is_idle:
        del queues[conversation_id]


async def _change_together(
    database: Database,
    sequencer: Sequencer,
    snapshots: Snapshots,
    conversation_id: str,
    decides: Sequence[Decide],
) -> Sequence[ConversationDocument | Exception | None]:
    """Make some changes in one transaction; where one is refused, each in its own."""
    async with sequencer.hold(conversation_id) as deadline:
        try:
            body = partial(_decide_all, database, conversation_id, decides)
            return await transact(database, body, deadline=deadline)
        except _Refused:
            answers: list[ConversationDocument | Exception | None] = []
            for decide in decides:
                answers += await _change_alone(database, conversation_id, decide, deadline)
            return answers
        finally:
            snapshots.forget(conversation_id)


class _Refused(Exception):
    """One of several changes was refused, and may have written something before."""


async def _change_alone(
    database: Database, conversation_id: str, decide: Decide, deadline: float
) -> Sequence[ConversationDocument | Exception | None]:
    try:
        body = partial(_decide_all, database, conversation_id, [decide])
        return await transact(database, body, deadline=deadline)
    except Exception as error:
        return [error]


async def _decide_all(
    database: Database, conversation_id: str, decides: Sequence[Decide], session: Session
) -> list[ConversationDocument | None]:
    """What became of the conversation by each change. All have the same new epoch: none of them is
    seen without the others."""
    locked = await _lock(database, conversation_id, {"epoch": 1}, session)
    if locked is None:
        raise Unchanged([None] * len(decides))
    head, conversation = locked
    found = conversation
    answers: list[ConversationDocument | None] = []
    for decide in decides:
        try:
            alteration = await decide(Locked(database, session, head, conversation))
            if alteration is not None:
                conversation = await _write(
                    database, conversation_id, alteration, head["epoch"], session
                )
        except Exception as refusal:
            if len(decides) == 1 or is_passing(refusal):
                raise
            raise _Refused from refusal
        answers.append(conversation)
    if conversation is found:
        raise Unchanged(answers)
    return answers


async def write_beside(
    database: Database,
    sequencer: Sequencer,
    conversation_id: str,
    write: Callable[[Locked], Awaitable[T]],
) -> T | None:
    """Write what depends on who is in a conversation, and changes nothing of that; None if there is
    no such conversation. `write` raises Unchanged where it writes nothing."""

    async def body(session: Session) -> T | None:
        locked = await _lock(database, conversation_id, {"fence": 1}, session)
        if locked is None:
            raise Unchanged(None)
        return await write(Locked(database, session, *locked))

    async with sequencer.hold(conversation_id) as deadline:
        return await transact(database, body, deadline=deadline)


async def _lock(
    database: Database, conversation_id: str, grows: Mapping[str, int], session: Session
) -> tuple[CounterDocument, ConversationDocument] | None:
    head = await database.counters.find_one_and_update(
        {"_id": conversation_id, **{each: {"$type": WHOLE} for each in ("seq", *grows)}},
        {"$inc": grows},
        return_document=True,
        session=session,
    )
    found = head and await database.conversations.find_one(
        {"_id": conversation_id}, session=session
    )
    conversation = one_readable("conversations", found)
    head = one_readable("counters", head)
    return (head, conversation) if head and conversation else None


async def _write(
    database: Database,
    conversation_id: str,
    alteration: Alteration,
    epoch: int,
    session: Session,
) -> ConversationDocument:
    if "visibility" in alteration.fields:
        public = alteration.fields["visibility"] == "public"
        await database.counters.update_one(
            {"_id": conversation_id}, {"$set": {"public": public}}, session=session
        )
    if alteration.added:
        await _close_requests(database, conversation_id, alteration, session)
    written = await database.conversations.find_one_and_update(
        {"_id": conversation_id},
        _update(alteration, epoch),
        array_filters=[{f"r{place}.userId": each} for place, each in enumerate(alteration.roles)]
        or None,
        return_document=True,
        session=session,
    )
    return cast(ConversationDocument, written)


def _update(alteration: Alteration, epoch: int) -> dict[str, Any]:
    roles = {
        f"participants.$[r{place}].role": role
        for place, role in enumerate(alteration.roles.values())
    }
    update: dict[str, Any] = {
        "$set": {**alteration.fields, **roles, "epoch": epoch, "change": alteration.change}
    }
    if alteration.added:
        order = {"joinedAt": 1, "userId": 1}
        update["$push"] = {"participants": {"$each": list(alteration.added), "$sort": order}}
    if alteration.removed:
        update["$pull"] = {"participants": {"userId": {"$in": list(alteration.removed)}}}
    return update


async def _close_requests(
    database: Database, conversation_id: str, alteration: Alteration, session: Session
) -> None:
    """Whoever gets in, by whichever way, waits no longer (docs/behaviour.md 9.6)."""
    change = alteration.change
    await database.join_requests.update_many(
        {
            "conversationId": conversation_id,
            "userId": {"$in": [each["userId"] for each in alteration.added]},
            "status": "pending",
        },
        {
            "$set": {
                "status": "approved",
                "resolvedAt": change["at"],
                "resolvedBy": change["actorId"],
            }
        },
        session=session,
    )
