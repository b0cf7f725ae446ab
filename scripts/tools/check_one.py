"""Checking one conversation with all that belongs to it."""

import time
from collections import Counter
from dataclasses import dataclass

from chat_aio.options import Options
from chat_aio.store.database import Database
from chat_aio.store.transactions import Session, transact
from tools.check_conversation import SNAPSHOT_SECONDS, Seen, is_full, lonely, see, together
from tools.check_counts import own_counts, thread_violations, threads, unread_counts
from tools.check_found import Findings, Violation, is_whole
from tools.check_groups import beside
from tools.check_messages import go_through
from tools.check_participants import DirectIds, participants

CAUSES = ("head.seq", "head.floor", "seq.", "message.seq", "own.", "read-state.", "participants.")
"""The kinds of what makes unread counts wrong."""


@dataclass(frozen=True, slots=True)
class Checker:
    """What checking conversations needs. `counts` says whether the index is there that messages are
    counted by."""

    database: Database
    options: Options
    direct_ids: DirectIds
    counts: bool

    async def check(self, conversation_id: object) -> Findings:
        """Check a conversation: its messages one by one, then the rest in one snapshot."""
        stretch = await go_through(self.database, conversation_id, self.options)

        async def body(session: Session) -> Findings:
            seen = await see(self.database, session, conversation_id)
            if seen.conversation is None:
                alone = [*lonely(seen), *(await beside(seen))[0]]
                return Findings(alone, Counter(messages=stretch.count))
            walked = stretch.settled(conversation_id, seen.floor)
            found = walked + await self.in_snapshot(seen, with_threads=stretch.threads)
            if self.counts and _is_countable(seen, found):
                found += await unread_counts(seen)
            others, kinds = await beside(seen)
            counted = Counter(
                conversations=1, messages=stretch.count, participants=len(seen.participants)
            )
            return Findings(found + others, counted + kinds)

        return await transact(self.database, body, deadline=time.monotonic() + SNAPSHOT_SECONDS)

    async def in_snapshot(self, seen: Seen, *, with_threads: bool) -> list[Violation]:
        """What must hold between a conversation, its head and its messages."""
        found = [*together(seen), *await participants(seen, self.direct_ids)]
        if self.counts and is_full(seen.head) and is_whole((seen.head or {})["seq"]):
            found += await own_counts(seen)
        if with_threads:
            found += thread_violations(seen, await threads(seen))
        return found


def _is_countable(seen: Seen, found: list[Violation]) -> bool:
    """Whether unread counts can be right: wrong numbers, floors and counts make wrong ones, and are
    named themselves."""
    return is_full(seen.head) and not any(each.kind.startswith(CAUSES) for each in found)
