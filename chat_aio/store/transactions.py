"""Transactions with our own retry: small jitter within a deadline, and a commit that is certain."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

import pymongo
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference
from pymongo.write_concern import WriteConcern

from chat_aio.errors import OUTCOME_UNKNOWN, StorageUnavailable
from chat_aio.store.database import Database, settled, translated

T = TypeVar("T")
Session = Any
Body = Callable[[Session], Awaitable[T]]

_TRANSIENT = "TransientTransactionError"
_UNKNOWN = "UnknownTransactionCommitResult"
_SNAPSHOT = ReadConcern("snapshot")
_MAJORITY = WriteConcern("majority")


class Conflict(Exception):
    """Another transaction was faster, or the primary changed; nothing was written."""


class Unchanged(Exception):
    """Raised by a body that has nothing to write: the transaction is aborted, `value` returned."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


async def attempt(database: Database, body: Body[T], *, deadline: float) -> T:
    """Run `body` in one transaction, once; `deadline` is in the event loop's monotonic seconds.

    Raises Conflict when it may be tried again, StorageUnavailable when the outcome of the commit
    stayed unknown until the deadline, and whatever `body` raises.
    """
    with pymongo.timeout(max(deadline - time.monotonic(), 0.001)):
        session = await settled(database.client.start_session(causal_consistency=False))
        try:
            await settled(session.start_transaction(_SNAPSHOT, _MAJORITY, ReadPreference.PRIMARY))
            result = await body(session)
            await _commit(session, deadline)
        except Unchanged as nothing:
            return nothing.value  # type: ignore[no-any-return]
        except PyMongoError as error:
            if error.has_error_label(_TRANSIENT):
                raise Conflict from error
            raise translated(error, "read") from error
        finally:
            await _ended(session)
    return result


async def transact(database: Database, body: Body[T]) -> T:
    """Run `body` in a transaction until it commits; it may run several times.

    Raises StorageUnavailable past the database's timeout, and whatever `body` raises.
    """
    deadline = time.monotonic() + database.timeout
    tries = 0
    while True:
        try:
            return await attempt(database, body, deadline=deadline)
        except Conflict as conflict:
            tries += 1
            if time.monotonic() >= deadline:
                raise StorageUnavailable from conflict
            await asyncio.sleep(jitter(tries))


def jitter(tries: int) -> float:
    """Seconds to wait before try number `tries + 1`: a few milliseconds, growing slowly."""
    return random.uniform(0.0005, 0.002 * min(tries, 8))


async def _commit(session: Session, deadline: float) -> None:
    tries = 0
    while True:
        try:
            await session.commit_transaction()
            return
        except PyMongoError as error:
            if not error.has_error_label(_UNKNOWN):
                raise
            tries += 1
            if time.monotonic() >= deadline:
                raise StorageUnavailable(OUTCOME_UNKNOWN) from error
            await asyncio.sleep(jitter(tries))


async def _ended(session: Session) -> None:
    with suppress(PyMongoError):  # The server ends what it does not hear of again.
        await session.end_session()
