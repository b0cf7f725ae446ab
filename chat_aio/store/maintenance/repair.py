"""Writes a repair: everything wrong in a conversation, in one transaction that locks its head."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pymongo import UpdateOne

from chat_aio.store.database import Database
from chat_aio.store.maintenance.snapshot import (
    SNAPSHOT_SECONDS,
    ConversationSnapshot,
    is_whole,
    load_snapshot,
)
from chat_aio.store.metadata import escaped
from chat_aio.store.sent_counts import nothing_up_to
from chat_aio.store.tokenizer import search_of
from chat_aio.store.transactions import Session, Unchanged, transact

MESSAGES_AT_A_TIME = 100
PAGE_SECONDS = 60.0
SEARCHED = {"conversationId": 1, "seq": 1, "deletedAt": 1, "terms": 1, "search": 1}


@dataclass(frozen=True, slots=True)
class Repair:
    """One repaired value of a conversation, before and after."""

    conversation_id: object
    what: str
    before: object
    after: object


@dataclass(slots=True)
class RepairPlan:
    """The writes of a repair of a conversation; `repairs` describes them for people.

    `read_states` has the new (seq, message id) by user id. `threads` has the new summary by root,
    None to remove it. `counts_begin` is the seq behind which all sent messages have been recounted,
    None if the counts are not changed.
    """

    head: dict[str, Any] = field(default_factory=dict)
    conversation: dict[str, Any] = field(default_factory=dict)
    read_states: dict[str, tuple[object, object]] = field(default_factory=dict)
    counts_begin: int | None = None
    threads: dict[str, Mapping[str, Any] | None] = field(default_factory=dict)
    repairs: list[Repair] = field(default_factory=list)

    def begin_epoch(self, snapshot: ConversationSnapshot) -> int:
        """Give head and conversation a new epoch, later than both of theirs; returns it."""
        rows = (snapshot.head or {}, snapshot.conversation or {})
        epoch = max([row["epoch"] for row in rows if is_whole(row.get("epoch"))], default=0) + 1
        self.head["epoch"] = self.conversation["epoch"] = epoch
        return epoch


Decide = Callable[[ConversationSnapshot], Awaitable[RepairPlan]]


async def repair(
    database: Database, conversation_id: object, decide: Decide, *, dry_run: bool
) -> RepairPlan:
    """Lock a conversation, plan its repair, and write that unless this is a dry run. Returns the
    plan, which is empty if there is no such conversation. `decide` may be called several times.
    """

    async def body(session: Session) -> RepairPlan:
        # Locks the head, as a send does. An update that changes no value would lock nothing.
        await database.counters.update_one(
            {"_id": conversation_id},
            {"$inc": {"fence": 1}, "$setOnInsert": {"epoch": 0}},
            upsert=True,
            session=session,
        )
        # After the lock: no send or membership change can come between the plan and its writes.
        snapshot = await load_snapshot(database, session, conversation_id)
        if snapshot.conversation is None:
            raise Unchanged(RepairPlan())
        plan = await decide(snapshot)
        if dry_run or not plan.repairs:
            raise Unchanged(plan)
        await _write(snapshot, plan)
        return plan

    return await transact(database, body, deadline=time.monotonic() + SNAPSHOT_SECONDS)


async def plan_recount(snapshot: ConversationSnapshot, plan: RepairPlan) -> None:
    """Count all messages that the participants of a conversation have sent behind its floor."""
    before = (snapshot.head or {}).get("sent")
    sent = await snapshot.count_sent()
    plan.head |= {"counted": snapshot.last_seq, "sent": escaped(sent)}
    plan.counts_begin = snapshot.floor
    # A new epoch, so that no conclusion from the earlier counts is kept.
    if "epoch" not in plan.head:
        plan.begin_epoch(snapshot)
    plan.repairs.append(Repair(snapshot.id, "counts of sent messages", before, sent))


async def _write(snapshot: ConversationSnapshot, plan: RepairPlan) -> None:
    database, session, here = snapshot.database, snapshot.session, {"_id": snapshot.id}
    if plan.head:
        await database.counters.update_one(here, {"$set": plan.head}, session=session)
    fields, filters = {**plan.conversation}, list[dict[str, Any]]()
    for number, (user_id, (seq, message_id)) in enumerate(plan.read_states.items()):
        fields[f"participants.$[p{number}].lastReadSeq"] = seq
        fields[f"participants.$[p{number}].lastReadMessageId"] = message_id
        filters.append({f"p{number}.userId": user_id})
    if fields:
        await database.conversations.update_one(
            here, {"$set": fields}, array_filters=filters or None, session=session
        )
    if plan.counts_begin is not None and snapshot.participants:
        begun = nothing_up_to(plan.counts_begin).items()
        everybody = {f"participants.$[p].{name}": value for name, value in begun}
        # Elements that another program has written, and that are no participants, are left alone.
        await database.conversations.update_one(
            here,
            {"$set": everybody},
            array_filters=[{"p.userId": {"$type": "string"}}],
            session=session,
        )
    if plan.threads:
        updates: list[UpdateOne] = []
        for root_id, summary in plan.threads.items():
            gone = {"$unset": {"thread": ""}}
            update = gone if summary is None else {"$set": {"thread": summary}}
            updates.append(UpdateOne({"_id": root_id}, update))
        await database.messages.bulk_write(updates, session=session)


async def repair_tokens(database: Database, conversation_id: object, *, dry_run: bool) -> int:
    """Give the messages of a conversation the search tokens of their terms; returns how many had
    other tokens. A dry run only counts. Clients are not notified: no stamp is written."""
    wrong, after = 0, 0
    while True:
        chosen = {"conversationId": conversation_id, "seq": {"$gt": after}}
        rows = database.messages.find(chosen, SEARCHED).sort("seq", 1).limit(MESSAGES_AT_A_TIME)
        page = await database.read(partial(rows.to_list, None), seconds=PAGE_SECONDS)
        updates: list[UpdateOne] = []
        for message in filter(has_wrong_tokens, page):
            # Conditional on the terms: an edit or a deletion in between wins.
            same: dict[str, Any] = {"_id": message["_id"], "terms": {"$exists": False}}
            update: dict[str, Any] = {"$unset": {"search": ""}}
            if "terms" in message:
                same["terms"] = message["terms"]
                search = search_of(message["conversationId"], message["terms"])
                update = {"$set": {"search": search}}
            updates.append(UpdateOne(same, update))
        wrong += len(updates)
        if updates and not dry_run:
            await database.write(partial(database.messages.bulk_write, updates, ordered=False))
        if len(page) < MESSAGES_AT_A_TIME:
            return wrong
        after = page[-1]["seq"]


def has_wrong_tokens(message: Mapping[str, Any]) -> bool:
    """Whether a message has search tokens that differ from those of its terms. False for a
    tombstone, and for a row with unreadable terms or an unreadable conversation, which other checks
    report."""
    conversation_id, terms = message.get("conversationId"), message.get("terms", [])
    if message.get("deletedAt") or not isinstance(conversation_id, str):
        return False
    if not isinstance(terms, list) or not all(isinstance(term, str) for term in terms):
        return False
    right = search_of(conversation_id, terms) if "terms" in message else None
    return message.get("search") != right
