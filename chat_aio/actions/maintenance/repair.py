"""Repairing derived data: heads, read states, counts. The plan is made under the lock of the
conversation's head, then written, or shown and discarded."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from chat_aio.actions.maintenance.check.findings import Violation
from chat_aio.actions.maintenance.check.heads import (
    has_readable_counts,
    lacks_counts,
    untrue_counts,
)
from chat_aio.actions.maintenance.check.restored import NOT_NOTED
from chat_aio.store.database import Database
from chat_aio.store.maintenance import repair as stored
from chat_aio.store.maintenance import restored
from chat_aio.store.maintenance.progress import Progress, silent
from chat_aio.store.maintenance.repair import Repair, RepairPlan
from chat_aio.store.maintenance.snapshot import ConversationSnapshot, is_whole


async def repair_all(
    database: Database,
    violations: Iterable[Violation],
    *,
    dry_run: bool,
    progress: Progress = silent,
) -> list[Repair]:
    """Repair the conversations with violations, as far as possible; and note a restore that is not
    noted."""
    found = [*violations]
    ids = dict.fromkeys(
        violation.conversation_id for violation in found if violation.conversation_id is not None
    )
    # First: the chat must not be started without the note, however many repairs follow.
    repairs = []
    for violation in found:
        if violation.kind == NOT_NOTED:
            after = "the present time" if dry_run else await restored.note(database)
            repairs.append(Repair(None, "time of the restore", violation.found, after))
    with progress("Repairing", len(ids)) as advance:
        for conversation_id in ids:
            repairs += await repair(database, conversation_id, dry_run=dry_run)
            advance(1)
    return repairs


async def repair(database: Database, conversation_id: object, *, dry_run: bool) -> list[Repair]:
    """Repair a conversation as far as the right values follow from other data; the chat may run."""
    plan = await stored.repair(database, conversation_id, plan_repair, dry_run=dry_run)
    # Apart from the plan, which one transaction writes: there may be any number of messages.
    wrong = await stored.repair_tokens(database, conversation_id, dry_run=dry_run)
    if not wrong:
        return plan.repairs
    before, after = f"wrong in {wrong} messages", "those of their terms"
    return [*plan.repairs, Repair(conversation_id, "tokens", before, after)]


async def plan_repair(snapshot: ConversationSnapshot) -> RepairPlan:
    """The repairs of a conversation."""
    plan = RepairPlan()
    await _repair_head(snapshot, plan)
    repaired = replace(snapshot, head={**(snapshot.head or {}), **plan.head})
    for participant in snapshot.participants:
        was = participant.get("lastReadSeq"), participant.get("lastReadMessageId")
        becomes = await _read_state(repaired, *was)
        if becomes != was:
            plan.read_states[participant["userId"]] = becomes
            of = f"read state of {participant['userId']}"
            plan.repairs.append(Repair(snapshot.id, of, was, becomes))
    # If a message is lost, its sender's count is the only trace of it.
    if not has_readable_counts(repaired) or (
        await repaired.is_gapless() and (lacks_counts(repaired) or await untrue_counts(repaired))
    ):
        await stored.plan_recount(repaired, plan)
    for root in await repaired.list_wrong_threads():
        summary = {"replyCount": root["count"], "lastReplyAt": root["last"]}
        plan.threads[root["_id"]] = summary if root["count"] else None
        before, after = root.get("said"), f"{root['count']} replies"
        plan.repairs.append(Repair(snapshot.id, f"thread {root['_id']}", before, after))
    return plan


async def _repair_head(snapshot: ConversationSnapshot, plan: RepairPlan) -> None:
    head, conversation = snapshot.head or {}, snapshot.conversation or {}
    if not is_whole(head.get("floorSeq")):
        # All numbers missing below the oldest message have been removed.
        oldest = await snapshot.find_oldest()
        plan.head["floorSeq"] = int(oldest["seq"]) - 1 if oldest else 0
    last = max(snapshot.greatest_seq, plan.head.get("floorSeq", snapshot.floor))
    # Never lowered: a number that was given once must not be given again.
    if not is_whole(head.get("seq")) or head["seq"] < last:
        plan.head["seq"] = last
    least, active = snapshot.least_activity, head.get("activityAt")
    if least and (not isinstance(active, datetime) or active < least):
        plan.head["activityAt"] = least
    public = conversation.get("visibility") == "public"
    if head.get("public") is not public:
        plan.head["public"] = public
    plan.repairs += [
        Repair(snapshot.id, f"head: {name}", head.get(name), value)
        for name, value in plan.head.items()
    ]
    of_head, of_conversation = head.get("epoch"), conversation.get("epoch")
    if of_head != of_conversation or not is_whole(of_head) or not snapshot.head_is_full:
        # A new one, not either of the two, so that every cached copy is out of date.
        before = f"{of_head} in counters, {of_conversation} in conversations"
        after = plan.begin_epoch(snapshot)
        plan.repairs.append(Repair(snapshot.id, "epoch of both", before, after))


async def _read_state(
    snapshot: ConversationSnapshot, seq: object, message_id: object
) -> tuple[object, object]:
    """The number counts, if it is valid; otherwise the message named."""
    named = (
        await snapshot.find_message({"_id": message_id}) if isinstance(message_id, str) else None
    )
    if named and named["seq"] == seq:
        return seq, message_id
    if not is_whole(seq):
        return (named["seq"], message_id) if named else (0, None)
    # A read state ahead of the head would count later messages as read.
    reached = min(seq, snapshot.last_seq)
    if reached == seq and seq <= snapshot.floor:
        return seq, message_id
    there = await snapshot.find_message({"seq": reached})
    if there:
        return reached, there["_id"]
    return (reached, message_id) if reached == seq else (reached, None)
