"""Checking the messages of a conversation, page by page: individually, and in their sequence.

A message's number, time and place never change, new messages come behind all others, and only
messages at or below the floor are ever removed. So no snapshot is needed if the floor is read
afterwards.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from chat_aio.actions.maintenance.check.findings import MOST, Violation
from chat_aio.options import Options
from chat_aio.schema.fields import MAX_MENTIONS
from chat_aio.store.database import Database
from chat_aio.store.maintenance import check as stored
from chat_aio.store.maintenance.repair import has_wrong_tokens
from chat_aio.store.maintenance.snapshot import is_whole

POINTERS = {"replyToMessageId": "message.reply", "threadRootMessageId": "thread.root"}
"""The fields that name another message, and the kind of violation if that does not exist."""


@dataclass(slots=True)
class Walk:
    """The findings of going through a conversation's messages.

    `gaps` are ranges of missing numbers (first, last), `pointing` are messages that name a missing
    message. Both are correct if retention has removed the missing messages.
    """

    violations: list[Violation] = field(default_factory=list)
    pointing: list[Violation] = field(default_factory=list)
    gaps: list[tuple[int, int]] = field(default_factory=list)
    count: int = 0
    last_seq: int = 0
    last_at: datetime | None = None
    threads: bool = False

    def violations_above(self, floor: int, conversation_id: object) -> list[Violation]:
        """The violations that retention up to the floor does not explain."""
        lost = [(max(first, floor + 1), last) for first, last in self.gaps if last > floor]
        gaps = [
            Violation(
                "seq.gap",
                "messages",
                conversation_id,
                "no message" if first == last else f"no messages up to {last}",
                f"a message with seq {first}",
                conversation_id,
            )
            for first, last in lost
        ]
        return self.violations + gaps + ([] if floor else self.pointing)


async def walk_messages(database: Database, conversation_id: object, options: Options) -> Walk:
    """Check every message of a conversation."""
    walk = Walk()
    after: int | None = None
    while True:
        page = await stored.page_of_messages(database, conversation_id, after=after)
        # The parents and roots that they name, of the whole page in one read.
        named = {
            message[name]
            for message in page
            for name in POINTERS
            if isinstance(message.get(name), str)
        }
        targets = await stored.find_places(database, named)
        for message in page:
            _follow(walk, message)
            walk.violations += _alone(message, options)
            if has_wrong_tokens(message):
                found = "others" if "search" in message else "none"
                walk.violations.append(_of(message, "message.tokens", found, "those of its terms"))
            _point(walk, message, targets)
        enough = len(walk.violations) + len(walk.gaps) >= MOST
        if enough or len(page) < stored.MESSAGES_AT_A_TIME or not is_whole(page[-1].get("seq")):
            return walk
        # By number, not by position: messages that are sent during the walk do not shift the pages.
        after = page[-1]["seq"]


def _follow(walk: Walk, message: Mapping[str, Any]) -> None:
    """Check a message's place behind the previous one."""
    seq, at = message.get("seq"), message.get("createdAt")
    walk.count += 1
    if not is_whole(seq) or seq < 1:
        walk.violations.append(_of(message, "message.seq", seq, "a whole number from 1 on"))
        return
    walk.threads = walk.threads or bool(message.get("thread") or message.get("threadRootMessageId"))
    if seq == walk.last_seq:
        walk.violations.append(_of(message, "seq.repeated", seq, "another seq"))
    elif seq > walk.last_seq + 1:
        walk.gaps.append((walk.last_seq + 1, seq - 1))
    walk.last_seq = seq
    if not isinstance(at, datetime):
        walk.violations.append(_of(message, "message.time", at, "a time"))
        return
    if walk.last_at and at < walk.last_at:
        found = _of(message, "message.time", at, f"not before {walk.last_at}")
        walk.violations.append(found)
    # The latest so far: one wrong time must not make all messages behind it look wrong.
    walk.last_at = max(at, walk.last_at or at)


def _alone(message: Mapping[str, Any], options: Options) -> Iterable[Violation]:
    """The checks of a single message, independent of its neighbours."""
    if message.get("deletedAt"):
        left = [f"({name})" for name in ("body", "terms", "search") if message.get(name)]
        if left:
            yield _of(message, "tombstone.content", " ".join(left), "nothing of what was deleted")
    conversation_id, root = message["conversationId"], message.get("threadRootMessageId")
    lists = message.get("timelines")
    places = [[conversation_id]] if root is None else [[root], [conversation_id, root]]
    # Compared as text: the values of a malformed row need not have an order.
    if not isinstance(lists, list) or sorted(map(str, lists)) not in [
        sorted(map(str, place)) for place in places
    ]:
        yield _of(message, "message.timelines", lists, " or ".join(map(str, places)))
    given = Counter(
        (reaction.get("emoji"), reaction.get("userId"))
        for reaction in _entries(message, "reactions")
    )
    for (emoji, user_id), count in given.items():
        if count > 1:
            found = f"{emoji} of {user_id} {count} times"
            yield _of(message, "reactions.repeated", found, "each once")
    different = len({emoji for emoji, _ in given})
    if different > options.max_emoji_per_message:
        expected = f"at most {options.max_emoji_per_message} different"
        yield _of(message, "reactions.too-many", different, expected)
    for user_id, count in Counter(user_id for _, user_id in given).items():
        if count > options.max_emoji_per_user:
            expected = f"at most {options.max_emoji_per_user}"
            yield _of(message, "reactions.too-many", f"{count} of {user_id}", expected)
    mentions = Counter(mention.get("userId") for mention in _entries(message, "mentions"))
    if len(mentions) > MAX_MENTIONS:
        expected = f"at most {MAX_MENTIONS}"
        yield _of(message, "mentions.too-many", len(mentions), expected)
    for user_id, count in mentions.items():
        if count > 1:
            yield _of(message, "mentions.repeated", f"{user_id} {count} times", "each once")


def _point(
    walk: Walk, message: Mapping[str, Any], targets: Mapping[object, Mapping[str, Any]]
) -> None:
    """Check that the messages named exist in the same conversation, and that a root is in its main
    list."""
    here = message["conversationId"]
    for name, kind in POINTERS.items():
        named = message.get(name)
        if named is None:
            continue
        target = targets.get(named) if isinstance(named, str) else None
        expected = "a message of the same conversation"
        if target is None:
            missing = f"{named}, which is not there"
            # Not a violation yet: retention may have removed it, which the floor will show.
            walk.pointing.append(_of(message, kind, missing, expected))
        elif target.get("conversationId") != here:
            found = f"{named} of conversation {target.get('conversationId')}"
            walk.violations.append(_of(message, kind, found, expected))
        elif kind == "thread.root" and here not in target.get("timelines", ()):
            found = f"{named}, which is a thread reply itself"
            walk.violations.append(_of(message, kind, found, "a message of the main list"))


def _entries(message: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The readable elements of a list."""
    found = message.get(name)
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _of(message: Mapping[str, Any], kind: str, found: object, expected: object) -> Violation:
    return Violation(kind, "messages", message["_id"], found, expected, message["conversationId"])
