"""Drafts: messages on their way into a batch, and what became of them."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextvars import Context
from dataclasses import dataclass, field

from chat_aio.errors import ConversationNotFound
from chat_aio.store.documents import ConversationDocument, MessageDocument
from chat_aio.store.messages import Key, weight_of

StillAllowed = Callable[[ConversationDocument], bool]
"""Whether a message may still be written, going by the conversation alone."""


class EpochMoved(Exception):
    """Who may write has changed since the draft was checked; nothing was written.

    `epoch` is the one that holds now; a majority may still be about to learn of it.
    """

    def __init__(self, epoch: int) -> None:
        super().__init__()
        self.epoch = epoch


class Taken(Exception):
    """A seq or idempotency key was written by somebody who does not lock the counters."""


@dataclass(slots=True)
class Appended:
    """The stored message; `repeated` when its idempotency key had been used before."""

    message: MessageDocument
    repeated: bool = False


Decision = Appended | EpochMoved | ConversationNotFound
"""The last where a conversation has no head, or none that can be read."""


@dataclass(slots=True, eq=False)
class Draft:
    """A message that is ready but for `seq` and `createdAt`, valid as of `epoch`; in a later one
    too where `still_allowed` says so, which is not asked if None."""

    message: MessageDocument
    epoch: int
    deadline: float
    answer: asyncio.Future[Appended] = field(repr=False)
    still_allowed: StillAllowed | None = None
    origin: Context | None = None
    queued: bool = True
    weight: int = field(init=False)
    conversation_id: str = field(init=False)
    key: Key | None = field(init=False)
    """What an idempotency key is unique by: conversation, sender, key."""

    def __post_init__(self) -> None:
        message = self.message
        self.weight = weight_of(message)
        self.conversation_id = message["conversationId"]
        name = message.get("clientMessageId")
        self.key = (self.conversation_id, message["senderId"], name) if name else None


def folded(drafts: Sequence[Draft]) -> tuple[list[Draft], dict[Draft, Draft]]:
    """Drafts without equal keys, and for each left out the one that stands for it."""
    first: dict[Key, Draft] = {}
    leaders, followers = [], {}
    for draft in drafts:
        leader = first.setdefault(draft.key, draft) if draft.key else draft
        if leader is draft:
            leaders.append(draft)
        else:
            followers[draft] = leader
    return leaders, followers


def by_conversation(drafts: Iterable[Draft]) -> dict[str, list[Draft]]:
    groups: dict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        groups[draft.conversation_id].append(draft)
    return groups


def halves(drafts: Sequence[Draft]) -> list[list[Draft]]:
    """Two parts without a common conversation, or the whole where there is but one."""
    names = list(dict.fromkeys(each.conversation_id for each in drafts))
    left = set(names[: len(names) // 2])
    parts = (
        [each for each in drafts if each.conversation_id in left],
        [each for each in drafts if each.conversation_id not in left],
    )
    return [part for part in parts if part]
