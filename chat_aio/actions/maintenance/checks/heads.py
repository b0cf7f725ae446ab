"""Checking a conversation against its head, and what is counted once and kept: own messages, unread
ones, the replies of threads."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from chat_aio.actions.maintenance.checks.findings import Violation, is_erased, violation_in
from chat_aio.store.maintenance.snapshot import ConversationSnapshot, is_whole


def without_conversation(snapshot: ConversationSnapshot) -> Iterator[Violation]:
    """A head, or messages, of a conversation that is not there."""
    if snapshot.head_is_full:
        found = "no conversation"
        yield violation_in(snapshot, "head.alone", found, "a conversation", of="counters")
    if snapshot.newest:
        found = f"messages up to seq {snapshot.newest['seq']}, and no conversation"
        yield violation_in(snapshot, "message.alone", found, "a conversation", of="messages")


def head_against_conversation(snapshot: ConversationSnapshot) -> Iterator[Violation]:
    """What must hold between a conversation and its head."""
    head, conversation = snapshot.head, snapshot.conversation
    if conversation is None or head is None or not snapshot.head_is_full:
        found = "a stub" if head else "nothing"
        yield violation_in(snapshot, "head.missing", found, "a head", of="counters")
        return
    yield from _number(snapshot, head)
    if head.get("epoch") != conversation.get("epoch") or not is_whole(head.get("epoch")):
        differs = f"{head.get('epoch')} in counters, {conversation.get('epoch')} in conversations"
        yield violation_in(snapshot, "epoch.differs", differs, "one number, in both")
    public = conversation.get("visibility") == "public"
    if head.get("public") is not public:
        yield violation_in(snapshot, "head.public", head.get("public"), public, of="counters")
    least, active = snapshot.least_activity, head.get("activityAt")
    if not isinstance(active, datetime) or (least and active < least):
        yield violation_in(snapshot, "head.activity", active, f"{least} or later", of="counters")
    if not is_whole(head.get("floorSeq")):
        floor = head.get("floorSeq")
        yield violation_in(snapshot, "head.floor", floor, "a whole number", of="counters")


def _number(snapshot: ConversationSnapshot, head: Mapping[str, Any]) -> Iterator[Violation]:
    """The head's number is that of the newest message, or of the last one that was removed."""
    last = max(snapshot.greatest_seq, snapshot.floor)
    if not is_whole(head["seq"]) or head["seq"] < last:
        yield violation_in(snapshot, "head.seq", head["seq"], last, of="counters")
    elif head["seq"] > last:
        found = f"head at {head['seq']}, last message {last}"
        yield violation_in(snapshot, "seq.gap", found, "a message for each number", of="counters")


async def own_counts(snapshot: ConversationSnapshot) -> list[Violation]:
    """Check-points of own messages that are not true."""
    owns = {each["userId"]: each.get("own") for each in snapshot.participants}
    return [
        violation_in(snapshot, "own.count", f"{owns[user_id]} of {user_id}", expected)
        for user_id, expected in (await untrue_own_counts(snapshot)).items()
    ]


async def untrue_own_counts(snapshot: ConversationSnapshot) -> dict[str, str]:
    """The users whose check-point of own messages is not true, and what would be. A check-point
    that no read-state can reach any more is left out."""
    spans: dict[str, tuple[int, int]] = {}
    untrue: dict[str, str] = {}
    readers = {each["userId"]: each for each in _readers(snapshot) if each.get("own") is not None}
    for user_id, each in readers.items():
        own = each["own"]
        if not _is_usable(own) or own["to"] > snapshot.last_seq:
            untrue[user_id] = "a count up to a message that is there"
        elif own["from"] >= _start(snapshot, each) and not is_erased(user_id):
            spans[user_id] = own["from"], own["to"]
    counted = await snapshot.count_own(spans)
    for user_id in spans:
        if readers[user_id]["own"]["count"] != counted.get(user_id, 0):
            untrue[user_id] = f"a count of {counted.get(user_id, 0)}"
    return untrue


def _is_usable(own: object) -> bool:
    return isinstance(own, dict) and all(
        is_whole(own.get(each)) for each in ("from", "to", "count")
    )


async def unread_counts(snapshot: ConversationSnapshot) -> list[Violation]:
    """What users are shown as unread, against the messages of others that are there."""
    readers = [*_readers(snapshot)]
    starts = {each["userId"]: _start(snapshot, each) for each in readers}
    there = await _messages_behind(snapshot, {*starts.values()})
    spans = {user_id: (start, snapshot.last_seq) for user_id, start in starts.items()}
    own = await snapshot.count_own(spans)
    violations = []
    for user_id, start in starts.items():
        shown = await snapshot.count_unread(user_id)
        counted = there[start] - own.get(user_id, 0)
        if shown != counted:
            found = f"{shown} of {user_id}"
            violations.append(violation_in(snapshot, "unread.count", found, counted))
    return violations


async def _messages_behind(snapshot: ConversationSnapshot, starts: Iterable[int]) -> dict[int, int]:
    """How many messages there are behind each of some numbers. Each message is counted once."""
    counts: dict[int, int] = {}
    above, upto = 0, snapshot.last_seq
    for start in sorted(starts, reverse=True):
        if start < upto:
            above += await snapshot.count_messages(after=start, upto=upto)
            upto = start
        counts[start] = above
    return counts


def _readers(snapshot: ConversationSnapshot) -> Iterator[Mapping[str, Any]]:
    return (each for each in snapshot.participants if is_whole(each.get("lastReadSeq")))


def _start(snapshot: ConversationSnapshot, reader: Mapping[str, Any]) -> int:
    return max(int(reader["lastReadSeq"]), snapshot.floor)


async def threads(snapshot: ConversationSnapshot) -> list[Violation]:
    """Summaries of threads that their replies contradict."""
    return [
        violation_in(
            snapshot,
            "thread.count",
            each.get("said"),
            f"{each['count']} replies, the last {each['last']}",
            of="messages",
            at=each["_id"],
        )
        for each in await snapshot.list_wrong_threads()
    ]
