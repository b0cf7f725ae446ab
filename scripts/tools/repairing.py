"""Repairing what follows from other data: heads, read-states, counts. All of a conversation is one
transaction, which locks its head first and looks again behind the lock."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from pymongo import UpdateOne

from chat_aio.store.database import Database
from chat_aio.store.transactions import Session, Unchanged, transact
from tools.check_conversation import (
    SNAPSHOT_SECONDS,
    Seen,
    greatest_seq,
    is_full,
    last_seq,
    least_activity,
    see,
)
from tools.check_counts import threads, untrue_owns
from tools.check_found import is_whole, told
from tools.printing import table_of


@dataclass(frozen=True, slots=True)
class Repair:
    """What was mended in a conversation: how it was, and has become."""

    conversation_id: object
    what: str
    before: object
    after: object


@dataclass(slots=True)
class Plan:
    """The writes that mend a conversation, and what they do."""

    head: dict[str, Any] = field(default_factory=dict)
    conversation: dict[str, Any] = field(default_factory=dict)
    removed: dict[str, str] = field(default_factory=dict)
    readers: list[str] = field(default_factory=list)
    messages: list[UpdateOne] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)

    def reader(self, user_id: str) -> str:
        """Where a participant's fields are written."""
        if user_id not in self.readers:
            self.readers.append(user_id)
        return f"participants.$[p{self.readers.index(user_id)}]"


async def repair(database: Database, conversation_id: object, *, dry_run: bool) -> list[Repair]:
    """Mend a conversation as far as what is right follows from the rest, while the chat works."""

    async def body(session: Session) -> list[Repair]:
        await database.counters.update_one(
            {"_id": conversation_id},
            {"$inc": {"fence": 1}, "$setOnInsert": {"epoch": 0}},
            upsert=True,
            session=session,
        )
        seen = await see(database, session, conversation_id)
        if seen.conversation is None:
            raise Unchanged([])
        plan = await _plan(seen)
        if dry_run or not plan.repairs:
            raise Unchanged(plan.repairs)
        await _write(seen, plan)
        return plan.repairs

    return await transact(database, body, deadline=time.monotonic() + SNAPSHOT_SECONDS)


async def _plan(seen: Seen) -> Plan:
    plan = Plan()
    await _mend_head(seen, plan)
    mended = replace(seen, head={**(seen.head or {}), **plan.head})
    await _mend_readers(mended, plan)
    for user_id in await untrue_owns(mended):
        own = next(each["own"] for each in seen.participants if each["userId"] == user_id)
        plan.removed[f"{plan.reader(user_id)}.own"] = ""
        plan.repairs.append(Repair(seen.id, f"own count of {user_id}", own, None))
    for root in await threads(mended):
        plan.messages.append(_thread_update(root))
        after = f"{root['count']} replies"
        plan.repairs.append(Repair(seen.id, f"thread {root['_id']}", root.get("said"), after))
    return plan


async def _mend_head(seen: Seen, plan: Plan) -> None:
    head, conversation = seen.head or {}, seen.conversation or {}
    if not is_whole(head.get("floorSeq")):
        plan.head["floorSeq"] = await _floor_of(seen)
    last = max(greatest_seq(seen), plan.head.get("floorSeq", seen.floor))
    if not is_whole(head.get("seq")) or head["seq"] < last:
        plan.head["seq"] = last
    least, active = least_activity(seen), head.get("activityAt")
    if least and (not isinstance(active, datetime) or active < least):
        plan.head["activityAt"] = least
    public = conversation.get("visibility") == "public"
    if head.get("public") is not public:
        plan.head["public"] = public
    plan.repairs += [
        Repair(seen.id, f"head: {name}", head.get(name), value) for name, value in plan.head.items()
    ]
    epochs = [each.get("epoch") for each in (head, conversation)]
    if epochs[0] != epochs[1] or not is_whole(epochs[0]) or not is_full(seen.head):
        epoch = max([each for each in epochs if is_whole(each)], default=0) + 1
        plan.head["epoch"] = plan.conversation["epoch"] = epoch
        before = f"{epochs[0]} in counters, {epochs[1]} in conversations"
        plan.repairs.append(Repair(seen.id, "epoch of both", before, epoch))


async def _floor_of(seen: Seen) -> int:
    """What is missing below the oldest message has been removed."""
    oldest = await seen.database.messages.find_one(
        {"conversationId": seen.id, "seq": {"$gte": 1}},
        {"seq": 1},
        sort=[("seq", 1)],
        session=seen.session,
    )
    return int(oldest["seq"]) - 1 if oldest else 0


async def _mend_readers(seen: Seen, plan: Plan) -> None:
    """Read-states: the number counts, as long as it can be one; else the message that is named."""
    for each in seen.participants:
        before = each.get("lastReadSeq"), each.get("lastReadMessageId")
        after = await _read_state(seen, *before)
        if after != before:
            place = plan.reader(each["userId"])
            plan.conversation[f"{place}.lastReadSeq"] = after[0]
            plan.conversation[f"{place}.lastReadMessageId"] = after[1]
            plan.repairs.append(Repair(seen.id, f"read-state of {each['userId']}", before, after))


async def _read_state(seen: Seen, seq: object, message_id: object) -> tuple[object, object]:
    named = await _find(seen, {"_id": message_id}) if isinstance(message_id, str) else None
    if named and named["seq"] == seq:
        return seq, message_id
    if not is_whole(seq):
        return (named["seq"], message_id) if named else (0, None)
    reached = min(seq, last_seq(seen))
    if reached == seq and seq <= seen.floor:
        return seq, message_id
    there = await _find(seen, {"seq": reached})
    if there:
        return reached, there["_id"]
    return (reached, message_id) if reached == seq else (reached, None)


async def _find(seen: Seen, chosen: dict[str, Any]) -> dict[str, Any] | None:
    found: dict[str, Any] | None = await seen.database.messages.find_one(
        {"conversationId": seen.id, **chosen}, {"seq": 1}, session=seen.session
    )
    return found


def _thread_update(root: dict[str, Any]) -> UpdateOne:
    here = {"_id": root["_id"]}
    if not root["count"]:
        return UpdateOne(here, {"$unset": {"thread": ""}})
    summary = {"replyCount": root["count"], "lastReplyAt": root["last"]}
    return UpdateOne(here, {"$set": {"thread": summary}})


async def _write(seen: Seen, plan: Plan) -> None:
    here = {"_id": seen.id}
    if plan.head:
        await seen.database.counters.update_one(here, {"$set": plan.head}, session=seen.session)
    update = {"$set": plan.conversation, "$unset": plan.removed}
    if operators := {name: fields for name, fields in update.items() if fields}:
        await seen.database.conversations.update_one(
            here, operators, array_filters=[*_filters(plan)] or None, session=seen.session
        )
    if plan.messages:
        await seen.database.messages.bulk_write(plan.messages, session=seen.session)


def _filters(plan: Plan) -> Iterator[dict[str, str]]:
    for place, user_id in enumerate(plan.readers):
        yield {f"p{place}.userId": user_id}


def entry_from(mended: Repair) -> dict[str, object]:
    """A repair as it goes out."""
    return {
        "conversationId": told(mended.conversation_id),
        "what": mended.what,
        "was": told(mended.before),
        "becomes": told(mended.after),
    }


def repairs_table(repairs: Sequence[Repair]) -> str:
    return table_of(
        ("CONVERSATION", "WHAT", "WAS", "BECOMES"),
        [(each.conversation_id, each.what, each.before, each.after) for each in repairs],
    )
