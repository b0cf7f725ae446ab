"""Numbering: every message gets the next `seq` of its conversation, in order and without gaps.

The counter documents are the locks (decision 0002): a transaction first raises them, in the
order of their ids, and then gives the numbers to its messages. Only messages that are still allowed
under the lock are counted.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

import orjson
from pymongo.errors import PyMongoError

from chat_aio.store.database import Database, is_not_addable, unquoted
from chat_aio.store.documents import ConversationDocument, CounterDocument, MessageDocument
from chat_aio.store.messages import Key
from chat_aio.store.sent_counts import ADDABLE, WITHOUT_COUNTS, growth
from chat_aio.store.shapes import WHOLE, readable
from chat_aio.store.transactions import Session, write_in

BYTES_OF_A_TERM = 20
BYTES_OF_AN_ENTRY = 200

_NUMBERED = {"seq": {"$type": WHOLE}}

StillAllowed = Callable[[ConversationDocument], bool]
"""Whether a message may still be written, based on the stored conversation alone."""


class Uncountable(Exception):
    """The counts of a head are not numbers; nothing was written."""


class EpochChanged(Exception):
    """Who may write has changed since the draft was checked; nothing was written.

    `epoch` is the current one, which a majority may not have yet.
    """

    def __init__(self, epoch: int) -> None:
        super().__init__()
        self.epoch = epoch


@dataclass(slots=True)
class Appended:
    """The stored message; `repeated` if its idempotency key was used before."""

    message: MessageDocument
    repeated: bool = False


@dataclass(slots=True, eq=False)
class Draft:
    """A message without its `seq` and `createdAt`, checked on a snapshot of `epoch`. In a later
    epoch it is valid if `still_allowed` returns True; None means it must be checked again. In slow
    mode its sender must not have sent another message for `slow_seconds`."""

    message: MessageDocument
    epoch: int
    deadline: float
    answer: asyncio.Future[Appended] = field(repr=False)
    still_allowed: StillAllowed | None = None
    origin: Context | None = None
    slow_seconds: int = 0
    queued: bool = True
    weight: int = field(init=False)
    conversation_id: str = field(init=False)
    key: Key | None = field(init=False)
    """The scope in which an idempotency key is unique: (conversation, sender, key)."""

    def __post_init__(self) -> None:
        message = self.message
        self.weight = weight_of(message)
        self.conversation_id = message["conversationId"]
        name = message.get("clientMessageId")
        self.key = (self.conversation_id, message["senderId"], name) if name else None


def weight_of(message: MessageDocument) -> int:
    """The approximate cost of a message in a batch, in bytes. An index entry counts as 200 bytes: a
    batch full of entries takes as long as one full of text."""
    entries = message.get("search", "").count(" ") + 1
    metadata = len(orjson.dumps(message["metadata"])) if message["metadata"] else 2
    texts = 2 * len(message["body"]) + BYTES_OF_A_TERM * len(message.get("terms", ()))
    return 512 + texts + metadata + BYTES_OF_AN_ENTRY * entries


Heads = dict[str, CounterDocument]
"""Counter documents by conversation, as they are under the lock."""


async def count(
    database: Database,
    drafts: Sequence[Draft],
    now: datetime,
    session: Session,
    *,
    addable: bool,
) -> tuple[list[Draft], Heads]:
    """Lock the counters and raise them by the drafts that may be written; returns those drafts, and
    the heads that exist.

    Another program may have corrupted the counts of a head. Raises Uncountable then, unless
    `addable`, which leaves such heads out; that takes MongoDB as long as the rest of the update.
    """
    chosen = ADDABLE if addable else {}
    try:
        heads = await _raise_counters(database, drafts, now, chosen, session)
        known = [draft for draft in drafts if draft.conversation_id in heads]
        outdated = {
            draft for draft in known if heads[draft.conversation_id]["epoch"] != draft.epoch
        }
        allowed = await _recheck(database, outdated, heads, now, session) if outdated else set()
    except PyMongoError as error:
        if is_not_addable(error):
            raise Uncountable from unquoted(error)
        raise
    return [draft for draft in known if draft not in outdated or draft in allowed], heads


def number(drafts: Sequence[Draft], heads: Heads) -> None:
    """Give drafts the numbers just counted for them, in their order, and the time of their head."""
    following = {name: head["seq"] for name, head in heads.items()}
    for draft in reversed(drafts):
        at = heads[draft.conversation_id]["activityAt"]
        draft.message["seq"] = following[draft.conversation_id]
        draft.message["createdAt"] = at
        for mention in draft.message["mentions"]:
            mention["createdAt"] = at
        following[draft.conversation_id] -= 1


async def _raise_counters(
    database: Database,
    drafts: Iterable[Draft],
    now: datetime,
    chosen: Mapping[str, Any],
    session: Session,
) -> Heads:
    """Raise the `chosen` counters whose epoch is unchanged and read them back; they are locked from
    here on.

    `activityAt`, which becomes the messages' `createdAt`, never falls: `$max` ignores clocks that
    are behind.
    """
    groups = _by_conversation(drafts)
    # One conversation, the usual case, takes one round trip instead of two.
    if len(groups) == 1:
        ((conversation_id, group),) = groups.items()
        epoch, newest = _newest(group)
        head = await database.counters.find_one_and_update(
            {"_id": conversation_id, "epoch": epoch, **_NUMBERED, **chosen},
            _raised(newest, now),
            WITHOUT_COUNTS,
            return_document=True,
            session=session,
        )
        if head:
            return {conversation_id: head}
    else:
        raises = [
            {
                "q": {"_id": conversation_id, "epoch": epoch, **_NUMBERED, **chosen},
                "u": _raised(newest, now),
            }
            for conversation_id in sorted(groups)  # One lock order for all processes.
            for epoch, newest in [_newest(groups[conversation_id])]
        ]
        update = {"update": database.counters.name, "updates": raises, "ordered": False}
        await write_in(session, database, update)
    wanted = {"_id": {"$in": list(groups)}, **chosen}
    found = await database.counters.find(wanted, WITHOUT_COUNTS, session=session).to_list(None)
    heads = readable("counters", found)
    if len(heads) < len(found) and not chosen:
        raise Uncountable  # It would be counted, and have no message with its number.
    return {head["_id"]: cast(CounterDocument, head) for head in heads}


async def _recheck(
    database: Database,
    outdated: Iterable[Draft],
    heads: Heads,
    now: datetime,
    session: Session,
) -> set[Draft]:
    """Check drafts of an older epoch again, on the stored conversation, and count those that pass.

    Otherwise frequent joins and leaves in a group would send every message back to its checks.
    Counting locks the head, so participants stay as read here until the commit.
    """
    asked = [draft for draft in outdated if draft.still_allowed]
    chosen = {"_id": {"$in": list({draft.conversation_id for draft in asked})}}
    found = (
        await database.conversations.find(chosen, session=session).to_list(None) if asked else []
    )
    conversations = {
        conversation["_id"]: conversation for conversation in readable("conversations", found)
    }
    allowed = [
        draft
        for draft in asked
        if draft.conversation_id in conversations
        and draft.still_allowed
        and draft.still_allowed(conversations[draft.conversation_id])
    ]
    for conversation_id, group in _by_conversation(allowed).items():
        heads[conversation_id] = await database.counters.find_one_and_update(
            {"_id": conversation_id},
            _raised(group, now),
            WITHOUT_COUNTS,
            return_document=True,
            session=session,
        )
    return set(allowed)


def _raised(drafts: Iterable[Draft], now: datetime) -> dict[str, Any]:
    """The update of a head that counts drafts of its conversation."""
    return {"$inc": growth([draft.message for draft in drafts]), "$max": {"activityAt": now}}


def _newest(drafts: Sequence[Draft]) -> tuple[int, list[Draft]]:
    """The newest epoch among drafts of one conversation, and the drafts that have it."""
    epoch = max(draft.epoch for draft in drafts)
    return epoch, [draft for draft in drafts if draft.epoch == epoch]


def _by_conversation(drafts: Iterable[Draft]) -> dict[str, list[Draft]]:
    groups: dict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        groups[draft.conversation_id].append(draft)
    return groups
