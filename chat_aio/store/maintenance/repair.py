"""Writes a repair: all that is wrong in a conversation, in one transaction that locks its head."""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
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
    """One value of a conversation that is repaired: what it was, and what it becomes."""

    conversation_id: object
    what: str
    before: object
    after: object


@dataclass(slots=True)
class RepairPlan:
    """The writes of a repair of a conversation; `repairs` describes them for people.

    `read_states` has the new (seq, message id) by user id. `threads` has the new summary of
    each root, None to remove it. `counts_begin` is the seq behind which all sent messages have been
    recounted, None if the counts stay.
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
    plan, which is empty where there is no such conversation. `decide` may be called several times.
    """

    async def body(session: Session) -> RepairPlan:
        # Locks the head, as a send does. An update that changes no value would lock nothing.
        await database.counters.update_one(
            {"_id": conversation_id},
            {"$inc": {"fence": 1}, "$setOnInsert": {"epoch": 0}},
            upsert=True,
            session=session,
        )
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
    """Count all that the participants of a conversation have sent behind its floor."""
    before = (snapshot.head or {}).get("sent")
    sent = await snapshot.count_sent()
    plan.head |= {"counted": snapshot.last_seq, "sent": escaped(sent)}
    plan.counts_begin = snapshot.floor
    # A new epoch, so that nothing is kept that was concluded from the counts of before.
    if "epoch" not in plan.head:
        plan.begin_epoch(snapshot)
    plan.repairs.append(Repair(snapshot.id, "counts of sent messages", before, sent))


async def _write(snapshot: ConversationSnapshot, plan: RepairPlan) -> None:
    database, session, here = snapshot.database, snapshot.session, {"_id": snapshot.id}
    if plan.head:
        await database.counters.update_one(here, {"$set": plan.head}, session=session)
    places = {
        user_id: f"participants.$[p{place}]" for place, user_id in enumerate(plan.read_states)
    }
    if fields := {**plan.conversation, **dict(_read_states(plan, places))}:
        filters = [{f"p{place}.userId": user_id} for place, user_id in enumerate(plan.read_states)]
        await database.conversations.update_one(
            here, {"$set": fields}, array_filters=filters or None, session=session
        )
    if plan.counts_begin is not None and snapshot.participants:
        begun = nothing_up_to(plan.counts_begin).items()
        everybody = {f"participants.$[p].{name}": value for name, value in begun}
        # Elements that another program has written, and that are none, are left as they are.
        await database.conversations.update_one(
            here,
            {"$set": everybody},
            array_filters=[{"p.userId": {"$type": "string"}}],
            session=session,
        )
    if plan.threads:
        updates = [_thread_update(root, summary) for root, summary in plan.threads.items()]
        await database.messages.bulk_write(updates, session=session)


async def repair_tokens(database: Database, conversation_id: object, *, dry_run: bool) -> int:
    """Give the messages of a conversation the search tokens of their terms; returns how many had
    others. A dry run only counts. Clients are not notified: no stamp is written."""
    wrong, after = 0, 0
    while True:
        chosen = {"conversationId": conversation_id, "seq": {"$gt": after}}
        rows = database.messages.find(chosen, SEARCHED).sort("seq", 1).limit(MESSAGES_AT_A_TIME)
        page = await database.read(partial(rows.to_list, None), seconds=PAGE_SECONDS)
        updates = [_token_update(message) for message in page if has_wrong_tokens(message)]
        wrong += len(updates)
        if updates and not dry_run:
            await database.write(partial(database.messages.bulk_write, updates, ordered=False))
        if len(page) < MESSAGES_AT_A_TIME:
            return wrong
        after = page[-1]["seq"]


def has_wrong_tokens(message: Mapping[str, Any]) -> bool:
    """Whether a message has other search tokens than those of its terms. False for a tombstone, and
    for a row with unreadable terms or an unreadable conversation, which other checks report."""
    conversation_id, terms = message.get("conversationId"), message.get("terms", [])
    if message.get("deletedAt") or not isinstance(conversation_id, str):
        return False
    if not isinstance(terms, list) or not all(isinstance(term, str) for term in terms):
        return False
    right = search_of(conversation_id, terms) if "terms" in message else None
    return message.get("search") != right


def _token_update(message: Mapping[str, Any]) -> UpdateOne:
    # Conditional on the terms: an edit or a deletion in between wins.
    if "terms" not in message:
        without_terms = {"_id": message["_id"], "terms": {"$exists": False}}
        return UpdateOne(without_terms, {"$unset": {"search": ""}})
    unchanged = {"_id": message["_id"], "terms": message["terms"]}
    search = search_of(message["conversationId"], message["terms"])
    return UpdateOne(unchanged, {"$set": {"search": search}})


def _read_states(plan: RepairPlan, places: Mapping[str, str]) -> Iterator[tuple[str, object]]:
    for user_id, (seq, message_id) in plan.read_states.items():
        yield f"{places[user_id]}.lastReadSeq", seq
        yield f"{places[user_id]}.lastReadMessageId", message_id


def _thread_update(root_id: str, summary: Mapping[str, Any] | None) -> UpdateOne:
    if summary is None:
        return UpdateOne({"_id": root_id}, {"$unset": {"thread": ""}})
    return UpdateOne({"_id": root_id}, {"$set": {"thread": summary}})
