"""Transactions with our own retry: small jitter within a deadline, and a commit that is certain."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

import pymongo
from pymongo.errors import ConfigurationError, DuplicateKeyError, PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference
from pymongo.write_concern import WriteConcern

from chat_aio.errors import OUTCOME_UNKNOWN, StorageUnavailable
from chat_aio.store.backoff import jitter
from chat_aio.store.calls import LateCall, deadline_within
from chat_aio.store.database import Database, maybe_await, translated, unquoted
from chat_aio.store.orphans import end_orphans

T = TypeVar("T")
Session = Any
Body = Callable[[Session], Awaitable[T]]

ABORT_SECONDS = 2.0
COMMIT_SECONDS = 5.0
SETTLE_SECONDS = 30.0

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
    is unknown at the deadline, and whatever `body` raises. A caller that is cancelled stops
    waiting; the transaction is carried to its end.
    """
    try:
        return await database.calls.run(
            lambda: _attempt(database, body, deadline), seconds=deadline - time.monotonic()
        )
    except LateCall:
        raise StorageUnavailable(OUTCOME_UNKNOWN) from None


async def _attempt(database: Database, body: Body[T], deadline: float) -> T:
    session = await maybe_await(database.client.start_session(causal_consistency=False))
    try:
        await maybe_await(session.start_transaction(_SNAPSHOT, _MAJORITY, ReadPreference.PRIMARY))
        result = await body(session)
    except BaseException as error:
        if _is_between_roles(error):
            await _drop_connections(database)
        await _abort(database, session, deadline)
        if isinstance(error, Unchanged):
            return error.value  # type: ignore[no-any-return]
        if isinstance(error, PyMongoError):
            quiet = unquoted(error)
            raise _translated(quiet) from quiet
        raise
    await _commit(database, session, deadline)
    return result


async def transact(database: Database, body: Body[T], *, deadline: float | None = None) -> T:
    """Run `body` in a transaction until it commits; it may run several times.

    Where it has nothing to write, what it saw is awaited on a majority: an answer must survive a
    failover. Raises StorageUnavailable past the deadline, the database's timeout by default, and
    whatever `body` raises.
    """
    deadline = deadline or deadline_within(database.timeout)
    unchanged = False

    async def noted(session: Session) -> T:
        nonlocal unchanged
        unchanged = False
        try:
            return await body(session)
        except Unchanged:
            unchanged = True
            raise

    began, tries = time.monotonic(), 0
    while True:
        try:
            result = await attempt(database, noted, deadline=deadline)
            if unchanged:
                await database.wait_for_majority()
            return result
        except Conflict as conflict:
            tries += 1
            if time.monotonic() >= deadline:
                raise StorageUnavailable from conflict
            await end_orphans(database, since=began)
            await asyncio.sleep(jitter(tries))


async def transact_unique(database: Database, body: Body[T], *, deadline: float | None = None) -> T:
    """`transact`, again where somebody else has taken a unique key: `body` then sees what they
    have written."""
    deadline = deadline or deadline_within(database.timeout)
    tries = 0
    while True:
        try:
            return await transact(database, body, deadline=deadline)
        except DuplicateKeyError as taken:
            tries += 1
            if time.monotonic() >= deadline:
                raise StorageUnavailable from taken
            await asyncio.sleep(jitter(tries))


async def _commit(database: Database, session: Session, deadline: float) -> None:
    """Commit for certain, or say at the deadline that the outcome is unknown.

    The commit itself goes on behind that answer: a transaction that is left open keeps its locks
    for up to a minute.
    """
    committing = database.calls.leave(_committed(database, session))
    done, _ = await asyncio.wait({committing}, timeout=max(0.0, deadline - time.monotonic()))
    if not done:
        raise StorageUnavailable(OUTCOME_UNKNOWN)
    if error := committing.exception():
        raise error


async def _committed(database: Database, session: Session) -> None:
    until = time.monotonic() + SETTLE_SECONDS
    tries = 0
    try:
        while True:
            try:
                with pymongo.timeout(COMMIT_SECONDS):
                    await session.commit_transaction()
                return
            except PyMongoError as error:
                if _is_between_roles(error):
                    await _drop_connections(database)
                elif not error.has_error_label(_UNKNOWN):
                    quiet = unquoted(error)
                    raise _translated(quiet) from quiet
                if time.monotonic() >= until:
                    raise StorageUnavailable(OUTCOME_UNKNOWN) from error
            tries += 1
            await asyncio.sleep(jitter(tries))
    finally:
        await session.end_session()


async def _abort(database: Database, session: Session, deadline: float) -> None:
    """End what is not committed, in a time of its own: past the deadline too, its locks must go."""
    aborting = database.calls.leave(_aborted(session))
    await asyncio.wait({aborting}, timeout=max(0.0, deadline - time.monotonic()))


async def _aborted(session: Session) -> None:
    with suppress(PyMongoError), pymongo.timeout(ABORT_SECONDS):
        await session.end_session()


async def _drop_connections(database: Database) -> None:
    """Have connections made anew; those in use are closed when they come back.

    PyMongo has no public name for that but closing the client, which is the host's. Where its own
    names change, such connections fail until they are closed for another reason.
    """
    with suppress(AttributeError, TypeError):
        client = vars(database.client).get("delegate", database.client)  # Motor's is PyMongo's.
        for server in tuple(client._topology._servers.values()):
            await maybe_await(server.pool.reset_without_pause())


def _is_between_roles(error: BaseException) -> bool:
    """Whether it is of a connection that was made while its member was neither primary nor
    secondary: PyMongo keeps it after that, and ever refuses sessions on it."""
    return isinstance(error, ConfigurationError) and "Sessions are not supported" in str(error)


def is_passing(error: BaseException) -> bool:
    """Whether a transaction that has failed so may be tried again."""
    labelled = isinstance(error, PyMongoError) and error.has_error_label(_TRANSIENT)
    return labelled or _is_between_roles(error)


def _translated(error: PyMongoError) -> Exception:
    """Conflict for what may be tried again; of the rest nothing was written."""
    return Conflict() if is_passing(error) else translated(error, "read")
