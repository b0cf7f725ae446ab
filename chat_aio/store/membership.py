"""Changes a conversation in one transaction, which locks its head before anything is decided.

Every transaction about a conversation locks in the same order: `counters`, then `conversations`,
then the rest. A change raises the epoch, so that sends checked before it are checked again.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeVar, cast

from chat_aio.errors import OUTCOME_UNKNOWN, StorageUnavailable
from chat_aio.store import slow_mode
from chat_aio.store.calls import shared
from chat_aio.store.coalescer import Coalescers
from chat_aio.store.database import Database
from chat_aio.store.documents import (
    Change,
    ConversationDocument,
    CounterDocument,
    JoinRequestDocument,
    ParticipantDocument,
)
from chat_aio.store.sent_counts import (
    Known,
    count_of,
    count_sent,
    known,
    nothing_up_to,
    place_of,
)
from chat_aio.store.sequencer import Sequencer
from chat_aio.store.shapes import WHOLE, one_readable
from chat_aio.store.snapshots import Snapshots
from chat_aio.store.transactions import Session, Unchanged, is_passing, transact

MAX_CHANGES = 16

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Locked:
    """A conversation that is locked until the transaction ends, and its `head`."""

    database: Database
    session: Session
    head: CounterDocument
    conversation: ConversationDocument

    def role_of(self, user_id: str) -> Literal["admin", "member"] | None:
        """The role of a user, None if they are not a participant."""
        found = self.conversation["participants"]
        return next(
            (participant["role"] for participant in found if participant["userId"] == user_id),
            None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipChange:
    """A change of a conversation: who joins, who leaves, new roles, and fields to set. `change` is
    the stamp, from which the feed makes the event; `resolved` are the join requests it resolves."""

    change: Change
    added: tuple[ParticipantDocument, ...] = ()
    removed: tuple[str, ...] = ()
    roles: Mapping[str, Literal["admin", "member"]] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    resolved: tuple[JoinRequestDocument, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A conversation after a change, its head, and the change, None if nothing changed."""

    conversation: ConversationDocument
    head: CounterDocument
    change: MembershipChange | None


Decide = Callable[[Locked], Awaitable[MembershipChange | None]]


class Membership:
    """Changes of who is in conversations, by one process. Those of one conversation that arrive
    while another one is under way share the next transaction, so that the process waits for the
    lock once, not once for each caller."""

    def __init__(self, database: Database, sequencer: Sequencer, snapshots: Snapshots) -> None:
        self._database = database
        self._sequencer = sequencer
        self._snapshots = snapshots
        self._queue = Coalescers[Decide, Changed | None](most=MAX_CHANGES)

    async def change(self, conversation_id: str, decide: Decide) -> Changed | None:
        """Change a conversation; returns None if there is no such conversation.

        `decide` gets the locked conversation and returns the change, or None for no change. It may
        write in the same transaction; what it raises aborts that. It may be called several times,
        because MongoDB may ask for the transaction to be repeated.
        """
        together = partial(self._change_together, conversation_id)
        answer = self._queue.put(conversation_id, decide, answer=together)
        try:
            return await shared(answer, seconds=self._database.timeout)
        except StorageUnavailable:
            # Withdrawn before a round began with it: nothing was written.
            if answer.done() or self._queue.take_back(conversation_id, answer):
                raise
            raise StorageUnavailable(OUTCOME_UNKNOWN) from None

    async def write_locked(
        self, conversation_id: str, write: Callable[[Locked], Awaitable[T]]
    ) -> T | None:
        """Run `write` with the conversation locked, for rows that depend on its participants; None
        if there is no such conversation. `write` raises Unchanged with its answer if it writes
        nothing."""
        # `fence`, not `epoch`: sends that were checked before stay valid.

        async def body(session: Session) -> T | None:
            locked = await _lock(self._database, conversation_id, {"fence": 1}, session)
            if locked is None:
                raise Unchanged(None)
            return await write(Locked(self._database, session, *locked))

        async with self._sequencer.hold(conversation_id) as deadline:
            return await transact(self._database, body, deadline=deadline)

    @asynccontextmanager
    async def hold(self, conversation_id: str) -> AsyncIterator[float]:
        """Hold a conversation for a transaction that changes who may write in it; yields the
        deadline. Raises StorageUnavailable past it."""
        async with self._sequencer.hold(conversation_id) as deadline:
            try:
                yield deadline
            finally:  # Also after a failure: the outcome of the commit may be unknown.
                self._snapshots.forget(conversation_id)

    async def close(self, *, seconds: float) -> None:
        """Wait up to `seconds` for the queued changes; later ones go on until their deadline."""
        await self._queue.close(seconds=seconds)

    async def _change_together(
        self, conversation_id: str, decides: Sequence[Decide]
    ) -> Sequence[Changed | Exception | None]:
        """Make changes in one transaction; if one is refused, make each in its own."""
        database = self._database
        async with self.hold(conversation_id) as deadline:
            try:
                body = partial(_decide_all, database, conversation_id, decides)
                return await transact(database, body, deadline=deadline)
            except _Refused:
                answers: list[Changed | Exception | None] = []
                for decide in decides:
                    answers += await _change_alone(database, conversation_id, decide, deadline)
                return answers


class _Refused(Exception):
    """One of several changes was refused. It may have written before, so all are undone."""


async def _change_alone(
    database: Database, conversation_id: str, decide: Decide, deadline: float
) -> Sequence[Changed | Exception | None]:
    try:
        body = partial(_decide_all, database, conversation_id, [decide])
        return await transact(database, body, deadline=deadline)
    except Exception as error:
        return [error]


async def _decide_all(
    database: Database, conversation_id: str, decides: Sequence[Decide], session: Session
) -> list[Changed | None]:
    """Make changes one after the other; returns the conversation after each. They share one new
    epoch, because none of them becomes visible without the others."""
    locked = await _lock(database, conversation_id, {"epoch": 1}, session)
    if locked is None:
        raise Unchanged([None] * len(decides))
    head, conversation = locked
    found = conversation
    answers: list[Changed | None] = []
    for decide in decides:
        try:
            change = await decide(Locked(database, session, head, conversation))
            if change is not None:
                head = await _change_head(database, head, change, session)
                conversation = await _write(database, head, change, session)
        except Exception as refusal:
            if len(decides) == 1 or is_passing(refusal):
                raise
            raise _Refused from refusal
        answers.append(Changed(conversation=conversation, head=head, change=change))
    if conversation is found:
        raise Unchanged(answers)
    return answers


async def _lock(
    database: Database, conversation_id: str, grows: Mapping[str, int], session: Session
) -> tuple[CounterDocument, ConversationDocument] | None:
    head = await database.counters.find_one_and_update(
        {"_id": conversation_id, **{name: {"$type": WHOLE} for name in ("seq", *grows)}},
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


async def _change_head(
    database: Database, head: CounterDocument, change: MembershipChange, session: Session
) -> CounterDocument:
    """Change what the head says of the conversation: whether it is public, and how many messages
    those who join have sent in an earlier stay. The counts of those who leave go."""
    fields: dict[str, Any] = {}
    if "visibility" in change.fields:
        fields["public"] = change.fields["visibility"] == "public"
    if joining := [user_id["userId"] for user_id in change.added]:
        sent = await count_sent(
            database,
            head["_id"],
            joining,
            after=head["floorSeq"],
            upto=head["seq"],
            session=session,
        )
        fields |= {place_of(user_id): count for user_id, count in sent.items()}
        # Of an earlier stay that ended without the chat.
        stale = [user_id for user_id in joining if user_id not in sent and count_of(head, user_id)]
    else:
        stale = []
    gone = {place_of(user_id): "" for user_id in (*stale, *change.change.get("removedUserIds", ()))}
    if change.fields.get("slowModeSeconds") == 0:
        gone[slow_mode.FIELD] = ""
    operators = {"$set": fields, "$unset": gone}
    update = {name: fields for name, fields in operators.items() if fields}
    if not update:
        return head
    changed = await database.counters.find_one_and_update(
        {"_id": head["_id"]}, update, return_document=True, session=session
    )
    return cast(CounterDocument, changed)


async def _write(
    database: Database, head: CounterDocument, change: MembershipChange, session: Session
) -> ConversationDocument:
    written = await database.conversations.find_one_and_update(
        {"_id": head["_id"]},
        _update(change, head),
        array_filters=[{f"r{place}.userId": user_id} for place, user_id in enumerate(change.roles)]
        or None,
        return_document=True,
        session=session,
    )
    return cast(ConversationDocument, written)


def _update(change: MembershipChange, head: CounterDocument) -> dict[str, Any]:
    roles = {
        f"participants.$[r{place}].role": role for place, role in enumerate(change.roles.values())
    }
    update: dict[str, Any] = {
        "$set": {**change.fields, **roles, "epoch": head["epoch"], "change": change.change}
    }
    if change.added:
        order = {"joinedAt": 1, "userId": 1}
        added = [{**participant, **_sent_before(participant, head)} for participant in change.added]
        update["$push"] = {"participants": {"$each": added, "$sort": order}}
    if change.removed:
        update["$pull"] = {"participants": {"userId": {"$in": list(change.removed)}}}
    return update


def _sent_before(joining: ParticipantDocument, head: CounterDocument) -> Known:
    """What somebody who joins has sent up to where their messages begin. `_change_head` has counted
    all behind the floor, older messages are gone."""
    if upto := joining.get("hiddenUpto"):
        return known(upto=upto, count=count_of(head, joining["userId"]))
    return nothing_up_to(head["floorSeq"])
