"""Notifies observers when a batch begins and how it ended."""

import time
from collections.abc import Awaitable, Mapping, Sequence

from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import Batch, BatchOutcome, BatchResult, Observer
from chat_aio.store.drafts import Decision, Draft
from chat_aio.store.transactions import Conflict

Decided = Mapping[Draft, Decision]


async def observed(
    writing: Awaitable[Decided], drafts: Sequence[Draft], observers: Sequence[Observer]
) -> Decided:
    """Await the writing of a batch and notify observers of its beginning and outcome."""
    if not observers:
        return await writing
    origins = tuple(each.origin for each in drafts if each.origin)
    batch = Batch(messages=len(drafts), origins=origins)
    notify(observers, Observer.batch_begun, batch)
    began = time.perf_counter()
    outcome: BatchOutcome = "failed"
    try:
        decided = await writing
        outcome = "committed"
        return decided
    except Conflict:
        outcome = "conflict"
        raise
    finally:
        written = BatchResult(outcome=outcome, seconds=time.perf_counter() - began)
        notify(observers, Observer.batch_ended, batch, written)
