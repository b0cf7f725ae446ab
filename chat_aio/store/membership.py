"""Changes a conversation in one transaction, which locks its head before any decision.

Every transaction about a conversation locks in the same order: `counters`, then `conversations`,
then the rest. A change raises the epoch, so that sends checked before it are checked again.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal, TypeVar, cast

from chat_aio.errors import OUTCOME_UNKNOWN, StorageUnavailable
from chat_aio.store import departures, slow_mode
from chat_aio.store.coalescer import Coalescers
from chat_aio.store.database import Database
from chat_aio.store.documents import (
    Change,
    ConversationDocument,
    ConversationPart,
    CounterDocument,
    JoinRequestDocument,
    ParticipantDocument,
)
from chat_aio.store.sent_counts import (
    SentBaseline,
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

_PARTS: Mapping[str, ConversationPart] = {
    "participants": "members",
    "metadata": "metadata",
    "metadataVersion": "metadata",
    "pins": "pins",
}
"""The parts that fields belong to; all others belong to `name`."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Locked:
    """A conversation that is locked until the transaction ends, and its `head`."""

    database: Database
    session: Session
    head: CounterDocument
    conversation: ConversationDocument

    def role_of(self, user_id: str) -> Literal["admin", "member"] | None:
        """The role of a user; None if they are not a participant."""
        found = self.conversation["participants"]
        return next(
            (participant["role"] for participant in found if participant["userId"] == user_id),
            None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipChange:
    """A change of a conversation: users who join or leave, new roles, and fields to set. `change`
    is the stamp, from which the feed makes the event; `resolved` are the join requests it
    resolves."""

    change: Change
    added: tuple[ParticipantDocument, ...] = ()
    removed: tuple[str, ...] = ()
    roles: Mapping[str, Literal["admin", "member"]] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    resolved: tuple[JoinRequestDocument, ...] = ()

    @property
    def times(self) -> dict[str, datetime]:
        """The fields that date the changed parts of the conversation (decision 0083)."""
        parts = {_PARTS.get(name, "name") for name in self.fields}
        if self.added or self.removed or self.roles:
            parts.add("members")
        return {f"changedAt.{part}": self.change["at"] for part in parts}


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A conversation after a change, its head, and the change; None if nothing changed."""

    conversation: ConversationDocument
    head: CounterDocument
    change: MembershipChange | None


Decide = Callable[[Locked], Awaitable[MembershipChange | None]]


class Membership:
    """Membership changes of one process. Changes of one conversation that arrive during another one
    share the next transaction, so that the process waits for the lock once, not once for each
    caller."""

    def __init__(self, database: Database, sequencer: Sequencer, snapshots: Snapshots) -> None:
        self._database = database
        self._sequencer = sequencer
        self._snapshots = snapshots
        self._queue = Coalescers[Decide, Changed | None](most=MAX_CHANGES)

    async def change(self, conversation_id: str, decide: Decide) -> Changed | None:
        """Change a conversation; returns None if there is no such conversation.

        `decide` gets the locked conversation and returns the change, or None for no change. It may
        write in the same transaction; an error that it raises aborts the transaction. It may be
        called several times, because MongoDB may require the transaction to be repeated.
        """
        together = partial(self._change_together, conversation_id)
        answer = self._queue.put(conversation_id, decide, answer=together)
        try:
            return await self._database.calls.shared(answer, seconds=self._database.timeout)
        except StorageUnavailable:
            # Withdrawn before a round started with it: nothing was written.
            if answer.done() or self._queue.take_back(conversation_id, answer):
                raise
            raise StorageUnavailable(OUTCOME_UNKNOWN) from None

    async def write_locked(
        self, conversation_id: str, write: Callable[[Locked], Awaitable[T]]
    ) -> T | None:
        """Run `write` with the conversation locked, for rows that depend on its participants; None
        if there is no such conversation. `write` raises Unchanged with its result if it writes
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
        """Wait up to `seconds` for the queued changes; later ones continue until their deadline."""
        await self._queue.close(seconds=seconds)

    async def _change_together(
        self, conversation_id: str, decides: Sequence[Decide]
    ) -> Sequence[Changed | Exception | None]:
        """Make changes in one transaction; if one is refused, make each change separately."""
        database = self._database
        async with self.hold(conversation_id) as deadline:
            try:
                body = partial(_decide_all, database, conversation_id, decides)
                return await transact(database, body, deadline=deadline)
            except _Refused:
                answers: list[Changed | Exception | None] = []
                for decide in decides:
                    alone = partial(_decide_all, database, conversation_id, [decide])
                    try:
                        answers += await transact(database, alone, deadline=deadline)
                    except Exception as error:
                        answers.append(error)
                return answers


class _Refused(Exception):
    """One of several changes was refused. It may have written before, so all are undone."""


async def _decide_all(
    database: Database, conversation_id: str, decides: Sequence[Decide], session: Session
) -> list[Changed | None]:
    """Make changes one after the other; returns the conversation after each of them. They share one
    new epoch, because none becomes visible without the others."""
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
                conversation = await _write(database, head, conversation, change, session)
                if change.removed and database.dates_changes:
                    at = change.change["at"]
                    await departures.note(database, conversation_id, change.removed, at, session)
        except Exception as refusal:
            # A conflict is no refusal: the transaction is tried again with all of them.
            if len(decides) == 1 or is_passing(refusal):
                raise
            raise _Refused from refusal
        answers.append(Changed(conversation=conversation, head=head, change=change))
    # Nothing was changed, so the epoch must not stay raised: one ahead of the conversation's would
    # refuse every send.
    if conversation is found:
        raise Unchanged(answers)
    return answers


async def _lock(
    database: Database, conversation_id: str, grows: Mapping[str, int], session: Session
) -> tuple[CounterDocument, ConversationDocument] | None:
    # The head before the conversation: changes that locked the conversation first starved behind
    # sends, with 43 tries and 581 ms, measured against one try and 13 ms.
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
    """Update the head's data about the conversation: whether it is public, and how many messages
    joining users have sent in an earlier stay. The counts of leaving users are removed."""
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
        # From an earlier stay that another program has ended.
        stale = [user_id for user_id in joining if user_id not in sent and count_of(head, user_id)]
    else:
        stale = []
    gone = {place_of(user_id): "" for user_id in (*stale, *change.change.get("removedUserIds", ()))}
    # Leaving removes no time: joining again would otherwise end the wait.
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
    database: Database,
    head: CounterDocument,
    conversation: ConversationDocument,
    change: MembershipChange,
    session: Session,
) -> ConversationDocument:
    if database.dates_changes:
        change = replace(change, fields={**change.fields, **change.times})
    written = await database.conversations.find_one_and_update(
        {"_id": head["_id"]},
        **_update(change, head, conversation),
        return_document=True,
        session=session,
    )
    return cast(ConversationDocument, written)


def _update(
    change: MembershipChange, head: CounterDocument, conversation: ConversationDocument
) -> dict[str, Any]:
    """The update that makes the change, and its array filters, as keyword arguments."""
    fields = {**change.fields, "epoch": head["epoch"], "change": change.change}
    added = [{**participant, **_sent_before(participant, head)} for participant in change.added]
    if (bool(added), bool(change.removed), bool(change.roles)).count(True) > 1:
        # MongoDB refuses several operators on one array. The transaction has read the array, so a
        # read mark that changes it at the same time conflicts with this write and is not lost.
        staying = [
            {**participant, "role": change.roles.get(participant["userId"], participant["role"])}
            for participant in conversation["participants"]
            if participant["userId"] not in change.removed
        ]
        # In their order (specification 3.4).
        fields["participants"] = sorted(
            [*staying, *added], key=lambda person: (person["joinedAt"], person["userId"])
        )
        return {"update": {"$set": fields}}
    places = dict(enumerate(change.roles))
    fields |= {f"participants.$[r{place}].role": change.roles[places[place]] for place in places}
    update: dict[str, Any] = {"$set": fields}
    if added:
        order = {"joinedAt": 1, "userId": 1}
        update["$push"] = {"participants": {"$each": added, "$sort": order}}
    if change.removed:
        update["$pull"] = {"participants": {"userId": {"$in": list(change.removed)}}}
    filters = [{f"r{place}.userId": user_id} for place, user_id in places.items()]
    return {"update": update, "array_filters": filters or None}


def _sent_before(joining: ParticipantDocument, head: CounterDocument) -> SentBaseline:
    """The messages that a joining user has sent before the first one that is shown to them:
    `_change_head` has counted all behind the floor, and older ones are gone."""
    if upto := joining.get("hiddenUpToSeq"):
        return known(upto=upto, count=count_of(head, joining["userId"]))
    return nothing_up_to(head["floorSeq"])
