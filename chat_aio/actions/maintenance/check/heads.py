"""Checking a conversation against its head, and the stored counts: sent messages, unread messages,
the replies of threads."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from chat_aio.actions.maintenance.check.findings import Violation, violation_in
from chat_aio.store.documents import ConversationDocument, CounterDocument, ParticipantDocument
from chat_aio.store.maintenance.snapshot import ConversationSnapshot, is_whole
from chat_aio.store.sent_counts import own_behind


def without_conversation(snapshot: ConversationSnapshot) -> Iterator[Violation]:
    """A head, or messages, without their conversation."""
    if snapshot.head_is_full:
        found = "no conversation"
        yield violation_in(snapshot, "head.alone", found, "a conversation", of="counters")
    if snapshot.newest:
        found = f"messages up to seq {snapshot.newest['seq']}, and no conversation"
        yield violation_in(snapshot, "message.alone", found, "a conversation", of="messages")


def head_against_conversation(snapshot: ConversationSnapshot) -> Iterator[Violation]:
    """The invariants between a conversation and its head."""
    head, conversation = snapshot.head, snapshot.conversation
    if conversation is None or head is None or not snapshot.head_is_full:
        found = "a stub" if head else "nothing"
        yield violation_in(snapshot, "head.missing", found, "a head", of="counters")
        return
    # The number of the newest message, or of the last one removed.
    last = max(snapshot.greatest_seq, snapshot.floor)
    if not is_whole(head["seq"]) or head["seq"] < last:
        yield violation_in(snapshot, "head.seq", head["seq"], last, of="counters")
    elif head["seq"] > last:
        found = f"head at {head['seq']}, last message {last}"
        yield violation_in(snapshot, "seq.gap", found, "a message for each number", of="counters")
    if head.get("epoch") != conversation.get("epoch") or not is_whole(head.get("epoch")):
        differs = f"{head.get('epoch')} in counters, {conversation.get('epoch')} in conversations"
        yield violation_in(snapshot, "epoch.differs", differs, "one number, in both")
    public = conversation.get("visibility") == "public"
    if head.get("public") is not public:
        yield violation_in(snapshot, "head.public", head.get("public"), public, of="counters")
    least, active = snapshot.least_activity, head.get("activityAt")
    # It may be later than the newest message, which retention may have removed.
    if not isinstance(active, datetime) or (least and active < least):
        yield violation_in(snapshot, "head.activity", active, f"{least} or later", of="counters")
    if not is_whole(head.get("floorSeq")):
        floor = head.get("floorSeq")
        yield violation_in(snapshot, "head.floor", floor, "a whole number", of="counters")


async def sent_counts(snapshot: ConversationSnapshot) -> list[Violation]:
    """Counts of sent messages that are wrong, or do not cover all messages."""
    if not has_readable_counts(snapshot):
        found = "counts that cannot be read"
        return [violation_in(snapshot, "sent.count", found, "whole numbers", of="counters")]
    violations = [
        violation_in(snapshot, "sent.count", f"{found} of {user_id}", expected)
        for user_id, (found, expected) in (await untrue_counts(snapshot)).items()
    ]
    if lacks_counts(snapshot):
        found = f"counts of {(snapshot.head or {}).get('counted', 0)} messages"
        last = max(snapshot.greatest_seq, snapshot.floor)
        violations.append(violation_in(snapshot, "head.counted", found, last, of="counters"))
    return violations


def lacks_counts(snapshot: ConversationSnapshot) -> bool:
    """Whether the counts of a head do not cover all messages. Lists then count messages instead,
    which takes longer."""
    head = snapshot.head or {}
    # If the head does not match its messages, that is the violation.
    last = max(snapshot.greatest_seq, snapshot.floor)
    return not has_readable_counts(snapshot) or head.get("counted", 0) not in (
        last,
        snapshot.last_seq,
    )


def has_readable_counts(snapshot: ConversationSnapshot) -> bool:
    """Whether the counts of a head are numbers; otherwise nobody can send to the conversation."""
    head = snapshot.head or {}
    sent = head.get("sent", {})
    return is_whole(head.get("counted", 0)) and (
        isinstance(sent, dict) and all(map(is_whole, sent.values()))
    )


async def untrue_counts(snapshot: ConversationSnapshot) -> dict[str, tuple[object, object]]:
    """The users whose counts of sent messages differ from the numbers of their messages,
    with both. An unknown count is left out: then the messages are counted."""
    starts = {reader["userId"]: _start(snapshot, reader) for reader in _readers(snapshot)}
    own = await snapshot.count_own(
        {user_id: (start, snapshot.last_seq) for user_id, start in starts.items()}
    )
    untrue: dict[str, tuple[object, object]] = {}
    last, believed = max(snapshot.last_seq, snapshot.greatest_seq), not lacks_counts(snapshot)
    for reader in _readers(snapshot):
        user_id, upto = reader["userId"], reader.get("sentUpToSeq", 0)
        if not (is_whole(upto) and is_whole(reader.get("sentCount", 0))) or upto > last:
            untrue[user_id] = upto, "a count up to a message that is there"
        elif believed:
            known = own_behind(
                starts[user_id],
                cast(ParticipantDocument, reader),
                cast(ConversationDocument, snapshot.conversation),
                cast(CounterDocument, snapshot.head),
            )
            if known is not None and known != own.get(user_id, 0):
                untrue[user_id] = known, own.get(user_id, 0)
    return untrue


async def unread_counts(snapshot: ConversationSnapshot) -> list[Violation]:
    """The unread counts that users see, compared with the existing messages of others."""
    readers = [*_readers(snapshot)]
    starts = {reader["userId"]: _start(snapshot, reader) for reader in readers}
    behind: dict[int, int] = {}
    above, upto = 0, snapshot.last_seq
    # From the latest start to the earliest: every message is counted once.
    for start in sorted({*starts.values()}, reverse=True):
        if start < upto:
            above += await snapshot.count_messages(after=start, upto=upto)
            upto = start
        behind[start] = above
    spans = {user_id: (start, snapshot.last_seq) for user_id, start in starts.items()}
    own = await snapshot.count_own(spans)
    violations = []
    for user_id, start in starts.items():
        shown = await snapshot.count_unread(user_id)
        counted = behind[start] - own.get(user_id, 0)
        if shown != counted:
            found = f"{shown} of {user_id}"
            violations.append(violation_in(snapshot, "unread.count", found, counted))
    return violations


def _readers(snapshot: ConversationSnapshot) -> Iterator[Mapping[str, Any]]:
    return (
        participant
        for participant in snapshot.participants
        if is_whole(participant.get("lastReadSeq"))
    )


def _start(snapshot: ConversationSnapshot, reader: Mapping[str, Any]) -> int:
    hidden = reader.get("hiddenUpToSeq", 0)
    return max(int(reader["lastReadSeq"]), snapshot.floor, hidden if is_whole(hidden) else 0)


async def threads(snapshot: ConversationSnapshot) -> list[Violation]:
    """Summaries of threads that their replies contradict."""
    return [
        violation_in(
            snapshot,
            "thread.count",
            root.get("said"),
            f"{root['count']} replies, the last {root['last']}",
            of="messages",
            at=root["_id"],
        )
        for root in await snapshot.list_wrong_threads()
    ]
