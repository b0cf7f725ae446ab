"""Checking all invariants of a chat's database, or of one conversation. Nothing is written, and
the chat may be running."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from chat_aio.actions.maintenance.check import heads, rows
from chat_aio.actions.maintenance.check.findings import MOST, Findings, Violation
from chat_aio.actions.maintenance.check.invites_and_blocks import joining_and_blocks
from chat_aio.actions.maintenance.check.messages import Walk, walk_messages
from chat_aio.actions.maintenance.check.participants import DirectIds, participants
from chat_aio.actions.maintenance.check.restored import after_restore
from chat_aio.errors import ConversationNotFound
from chat_aio.options import Options
from chat_aio.store.database import Database
from chat_aio.store.maintenance import check as stored
from chat_aio.store.maintenance.progress import Progress, silent
from chat_aio.store.maintenance.snapshot import ConversationSnapshot, in_snapshot, is_whole

AT_A_TIME = 8

COUNTING = {"conversation_seq", "sender_conversation_seq"}
"""The indexes that counting needs. If one is missing, nothing is counted."""

CAUSES = ("head.seq", "head.floor", "seq.", "message.seq", "sent.", "read state.", "participants.")
"""The kinds of violations that make unread counts wrong."""


async def violations_in(
    database: Database, conversation_id: str | None = None
) -> Sequence[Violation]:
    """All violations. Raises ConversationNotFound."""
    return (await check(database, conversation_id)).violations


async def check(
    database: Database,
    conversation_id: str | None = None,
    *,
    options: Options | None = None,
    restored: bool = False,
    progress: Progress = silent,
) -> Findings:
    """All violations in the database or in one conversation; after a restore (`restored`) also the
    steps still to do. Raises ConversationNotFound if no row names the conversation."""
    if conversation_id is not None and not await stored.is_known(database, conversation_id):
        raise ConversationNotFound
    length = 1 if conversation_id else await stored.count_conversations(database)
    with progress("Checking", length) as advance:
        findings = await rows.all_indexes(database)
        lacking = {
            violation.id for violation in findings.violations if violation.kind != "index.twins"
        }
        if conversation_id is not None:
            findings = Findings()
        else:
            findings.add(await rows.moderation(database))
        findings.violations += await rows.deletions(database, conversation_id)
        if restored:
            findings.add(await after_restore(database))
        checker = _Checker(
            database, options or Options(), DirectIds(database), counts=not lacking & COUNTING
        )
        async for ids in _ids(database, conversation_id):
            for found in await asyncio.gather(*map(checker.check, ids)):
                findings.add(found)
            advance(len(ids))
            if len(findings.violations) >= MOST:
                findings.more = True
                return findings
        findings.add(await rows.shapes(database, conversation_id, findings))
        return findings


async def _ids(database: Database, only: str | None) -> AsyncIterator[Sequence[Any]]:
    """The ids of the conversations to check, a few at a time."""
    if only is not None:
        yield [] if await stored.being_removed(database, [only]) else [only]
        return
    async for page in stored.conversation_ids(database):
        for start in range(0, len(page), AT_A_TIME):
            yield page[start : start + AT_A_TIME]


@dataclass(frozen=True, slots=True)
class _Checker:
    """The inputs of checking conversations. `counts` is whether the index exists that messages are
    counted by."""

    database: Database
    options: Options
    direct_ids: DirectIds
    counts: bool

    async def check(self, conversation_id: object) -> Findings:
        """Check a conversation: its messages one by one, then the rest in one snapshot."""
        walk = await walk_messages(self.database, conversation_id, self.options)
        return await in_snapshot(self.database, conversation_id, partial(self._in_snapshot, walk))

    async def _in_snapshot(self, walk: Walk, snapshot: ConversationSnapshot) -> Findings:
        others, kinds = await joining_and_blocks(snapshot)
        if snapshot.conversation is None:
            alone = [*heads.without_conversation(snapshot), *others]
            return Findings(alone, Counter(messages=walk.count))
        found = walk.violations_above(snapshot.floor, snapshot.id)
        found += heads.head_against_conversation(snapshot)
        found += await participants(snapshot, self.direct_ids)
        # If a message is lost, the counts of its sender are right, and look wrong.
        lost = any(violation.kind.startswith(("seq.", "message.seq")) for violation in found)
        is_numbered = snapshot.head_is_full and is_whole((snapshot.head or {})["seq"])
        if self.counts and is_numbered and not lost:
            found += await heads.sent_counts(snapshot)
        if walk.threads:
            found += await heads.threads(snapshot)
        # Wrong numbers, floors and counts lead to wrong counts, and are violations themselves.
        is_caused = any(violation.kind.startswith(CAUSES) for violation in found)
        if self.counts and snapshot.head_is_full and not is_caused:
            found += await heads.unread_counts(snapshot)
        looked_at = Counter(
            conversations=1, messages=walk.count, participants=len(snapshot.participants)
        )
        return Findings(found + others, looked_at + kinds)
