"""Drafts: messages that wait for a batch, and their outcomes."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextvars import Context
from dataclasses import dataclass, field

from chat_aio.errors import ConversationNotFound
from chat_aio.store.documents import ConversationDocument, MessageDocument
from chat_aio.store.messages import Key, weight_of

StillAllowed = Callable[[ConversationDocument], bool]
"""Whether a message may still be written, judged by the stored conversation alone."""


class EpochMoved(Exception):
    """Who may write has changed since the draft was checked; nothing was written.

    `epoch` is the current one, which a majority may not have yet.
    """

    def __init__(self, epoch: int) -> None:
        super().__init__()
        self.epoch = epoch


class Taken(Exception):
    """A seq or idempotency key was written by a program that does not lock the counters."""


@dataclass(slots=True)
class Appended:
    """The stored message; `repeated` if its idempotency key was used before."""

    message: MessageDocument
    repeated: bool = False


Decision = Appended | EpochMoved | ConversationNotFound
"""ConversationNotFound if a conversation has no head, or a malformed one."""


@dataclass(slots=True, eq=False)
class Draft:
    """A message without its `seq` and `createdAt`, checked on a snapshot of `epoch`. In a later
    epoch it is valid if `still_allowed` says so; None means it must be checked again."""

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
    """The scope in which an idempotency key is unique: (conversation, sender, key)."""

    def __post_init__(self) -> None:
        message = self.message
        self.weight = weight_of(message)
        self.conversation_id = message["conversationId"]
        name = message.get("clientMessageId")
        self.key = (self.conversation_id, message["senderId"], name) if name else None


def folded(drafts: Sequence[Draft]) -> tuple[list[Draft], dict[Draft, Draft]]:
    """The drafts with distinct keys, and for each other draft the one with the same key."""
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
    """Two parts without a common conversation; one part if there is only one conversation."""
    names = list(dict.fromkeys(each.conversation_id for each in drafts))
    left = set(names[: len(names) // 2])
    parts = (
        [each for each in drafts if each.conversation_id in left],
        [each for each in drafts if each.conversation_id not in left],
    )
    return [part for part in parts if part]
