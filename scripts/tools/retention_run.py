"""One run of retention: what is old is looked for, then emptied or removed, then told of in the
audit trail."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import click

from chat_aio.actions.context import Context
from chat_aio.actions.guards import user_action
from chat_aio.store import audit
from chat_aio.store.documents import Change
from chat_aio.store.maintenance import retention
from chat_aio.store.maintenance.retention import Old
from chat_aio.store.transactions import Session, transact

ACTION = "retention"
EVERYWHERE = "all"

SECONDS_BEFORE_REMOVING = 1.0
"""Unread counts that were begun before the floors were raised are over by then: one that takes its
head from before, and counts own messages after their removal, would be too high."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which messages are old, and whether they are removed or emptied."""

    before: datetime
    removes: bool
    conversation_id: str | None

    @property
    def mode(self) -> Literal["remove", "delete"]:
        return "remove" if self.removes else "delete"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many messages of how many conversations."""

    messages: int
    conversations: int


@user_action
async def rehearse(context: Context, user_id: str, wanted: Wanted) -> Counts:
    """What a run would do now. Raises ConversationNotFound."""
    olds = await _find_old(context, wanted)

    async def count(old: Old, advance: Callable[[int], None]) -> int:
        counted = await retention.count(context.database, old, live=not wanted.removes)
        advance(len(old))
        return counted

    return await _each(olds, "Counting", count)


@user_action
async def retain(context: Context, user_id: str, wanted: Wanted) -> Counts:
    """Empty or remove what is old. Raises ConversationNotFound."""
    run_id = context.new_id()
    olds = await _find_old(context, wanted)
    if wanted.removes:
        counts = await _remove(context, olds)
    else:
        counts = await _empty(context, user_id, olds, run_id)
    await _record(context, user_id, run_id, wanted, counts)
    return counts


async def _find_old(context: Context, wanted: Wanted) -> list[Old]:
    database = context.database
    find = retention.find_old_to_remove if wanted.removes else retention.find_old_to_empty
    heads = await retention.list_heads(database, conversation_id=wanted.conversation_id)
    with click.progressbar(heads, label="Looking", file=sys.stderr) as bar:
        found = [await find(database, head, before=wanted.before) for head in bar]
    return [each for each in found if each]


async def _empty(context: Context, user_id: str, olds: Sequence[Old], run_id: str) -> Counts:
    def change() -> Change:
        at = context.clock()
        return {"id": run_id, "at": at, "kind": "message.deleted", "actorId": user_id}

    async def empty(old: Old, advance: Callable[[int], None]) -> int:
        return await retention.empty(context.database, old, change=change, advance=advance)

    return await _each(olds, "Deleting", empty)


async def _remove(context: Context, olds: Sequence[Old]) -> Counts:
    async def remove(old: Old, advance: Callable[[int], None]) -> int:
        return await retention.remove(context.database, old, advance=advance)

    if olds:
        await retention.raise_floors(context.database, olds)
        await asyncio.sleep(SECONDS_BEFORE_REMOVING)
    return await _each(olds, "Removing", remove)


async def _each(
    olds: Sequence[Old],
    label: str,
    work: Callable[[Old, Callable[[int], None]], Awaitable[int]],
) -> Counts:
    with click.progressbar(length=sum(map(len, olds)), label=label, file=sys.stderr) as bar:
        done = [await work(old, bar.update) for old in olds]
    return Counts(sum(done), sum(map(bool, done)))


async def _record(
    context: Context, user_id: str, run_id: str, wanted: Wanted, counts: Counts
) -> None:
    """One row for each run, also where nothing was left to do: the run before may have been cut
    short before its row."""
    row = audit.entry(
        run_id,
        ACTION,
        wanted.conversation_id or EVERYWHERE,
        actor_id=user_id,
        at=context.clock(),
        mode=wanted.mode,
        olderThan=wanted.before,
        messages=counts.messages,
        conversations=counts.conversations,
    )

    async def body(session: Session) -> None:
        await audit.add(context.database, row, session)

    await transact(context.database, body)
