"""Checking a conversation against its head: both as one snapshot has them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chat_aio.store.database import Database
from chat_aio.store.transactions import Session
from tools.check_found import Violation, is_whole

SNAPSHOT_SECONDS = 50.0
"""MongoDB ends transactions after a minute."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A conversation, its head and its newest message in the snapshot of `session`; None for what
    is not there."""

    database: Database
    session: Session
    id: object
    conversation: dict[str, Any] | None
    head: dict[str, Any] | None
    newest: dict[str, Any] | None

    @property
    def floor(self) -> int:
        """Messages up to here may be gone."""
        floor = (self.head or {}).get("floorSeq")
        return floor if is_whole(floor) else 0

    @property
    def participants(self) -> list[dict[str, Any]]:
        """Those who can be told apart, in a form that can be looked into."""
        found = (self.conversation or {}).get("participants")
        return [
            each
            for each in (found if isinstance(found, list) else ())
            if isinstance(each, dict) and isinstance(each.get("userId"), str)
        ]

    def violation(
        self,
        kind: str,
        found: object,
        expected: object,
        *,
        of: str = "conversations",
        at: Any = None,
    ) -> Violation:
        return Violation(kind, of, self.id if at is None else at, found, expected, self.id)


async def see(database: Database, session: Session, conversation_id: object) -> Seen:
    here = {"_id": conversation_id}
    head = await database.counters.find_one(here, session=session)
    conversation = await database.conversations.find_one(here, session=session)
    newest = await database.messages.find_one(
        {"conversationId": conversation_id, "seq": {"$gte": 1}},
        {"seq": 1, "createdAt": 1},
        sort=[("seq", -1)],
        session=session,
    )
    return Seen(database, session, conversation_id, conversation, head, newest)


def is_full(head: Mapping[str, Any] | None) -> bool:
    """Whether a head is more than the stub that a block leaves before there is a conversation."""
    return head is not None and "seq" in head


def lonely(seen: Seen) -> Iterator[Violation]:
    """What is there of a conversation that is not."""
    if is_full(seen.head):
        yield seen.violation("head.alone", "no conversation", "a conversation", of="counters")
    if seen.newest:
        found = f"messages up to seq {seen.newest['seq']}, and no conversation"
        yield seen.violation("message.alone", found, "a conversation", of="messages")


def together(seen: Seen) -> Iterator[Violation]:
    """What must hold between a conversation and its head."""
    head, conversation = seen.head, seen.conversation
    if conversation is None or head is None or not is_full(head):
        found = "a stub" if head else "nothing"
        yield seen.violation("head.missing", found, "a head", of="counters")
        return
    yield from _number(seen, head)
    if head.get("epoch") != conversation.get("epoch") or not is_whole(head.get("epoch")):
        differs = f"{head.get('epoch')} in counters, {conversation.get('epoch')} in conversations"
        yield seen.violation("epoch.differs", differs, "one number, in both")
    public = conversation.get("visibility") == "public"
    if head.get("public") is not public:
        yield seen.violation("head.public", head.get("public"), public, of="counters")
    least, active = least_activity(seen), head.get("activityAt")
    if not isinstance(active, datetime) or (least and active < least):
        yield seen.violation("head.activity", active, f"{least} or later", of="counters")
    if not is_whole(head.get("floorSeq")):
        floor = head.get("floorSeq")
        yield seen.violation("head.floor", floor, "a whole number", of="counters")


def _number(seen: Seen, head: Mapping[str, Any]) -> Iterator[Violation]:
    """The head's number is that of the newest message, or of the last one that was removed."""
    last = max(greatest_seq(seen), seen.floor)
    if not is_whole(head["seq"]) or head["seq"] < last:
        yield seen.violation("head.seq", head["seq"], last, of="counters")
    elif head["seq"] > last:
        found = f"head at {head['seq']}, last message {last}"
        yield seen.violation("seq.gap", found, "a message for each number", of="counters")


def last_seq(seen: Seen) -> int:
    """The last number that the head has given out, 0 where it does not tell."""
    seq = (seen.head or {}).get("seq")
    return seq if is_whole(seq) else 0


def greatest_seq(seen: Seen) -> int:
    """The number of the newest message, 0 where there is none."""
    return int(seen.newest["seq"]) if seen.newest else 0


def least_activity(seen: Seen) -> datetime | None:
    """When something last happened here, as far as messages and the conversation tell."""
    times = [(each or {}).get("createdAt") for each in (seen.newest, seen.conversation)]
    return max((each for each in times if isinstance(each, datetime)), default=None)
