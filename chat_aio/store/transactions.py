"""Transactions with our own retry: small jitter within a deadline, and commits with a known
outcome."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import pymongo
from pymongo.errors import ConfigurationError, DuplicateKeyError, PyMongoError, WriteError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference
from pymongo.write_concern import WriteConcern

from chat_aio.errors import OUTCOME_UNKNOWN, StorageUnavailable
from chat_aio.store.backoff import jitter
from chat_aio.store.calls import LateCall, deadline_within
from chat_aio.store.database import Database, translated, unquoted
from chat_aio.store.drivers import maybe_await, pymongo_client
from chat_aio.store.orphans import end_orphans

T = TypeVar("T")
Session = Any
Body = Callable[[Session], Awaitable[T]]

ABORT_SECONDS = 2.0
COMMIT_SECONDS = 5.0
SETTLE_SECONDS = 30.0  # Commits are repeated longer than callers wait, past an election.

_TRANSIENT = "TransientTransactionError"
_UNKNOWN = "UnknownTransactionCommitResult"
_SNAPSHOT = ReadConcern("snapshot")
_MAJORITY = WriteConcern("majority")


class Conflict(Exception):
    """Another transaction was faster, or the primary changed; nothing was written."""


class Unchanged(Exception):
    """Raised by a body without anything to write: the transaction is aborted, `value` returned."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


async def attempt(database: Database, body: Body[T], *, deadline: float) -> tuple[T, bool]:
    """Run `body` in one transaction, once; `deadline` is in monotonic seconds. Returns its result,
    and whether it was committed: False if `body` has raised Unchanged.

    Raises Conflict if it may be tried again, StorageUnavailable if the outcome of the commit is
    unknown at the deadline, and the errors of `body`. If the caller is cancelled, the transaction
    continues to its end.
    """
    try:
        return await database.calls.run(
            lambda: _attempt(database, body, deadline), seconds=deadline - time.monotonic()
        )
    except LateCall:
        raise StorageUnavailable(OUTCOME_UNKNOWN) from None


async def _attempt(database: Database, body: Body[T], deadline: float) -> tuple[T, bool]:
    session = await maybe_await(database.client.start_session(causal_consistency=False))
    try:
        await maybe_await(session.start_transaction(_SNAPSHOT, _MAJORITY, ReadPreference.PRIMARY))
        result = await body(session)
    except BaseException as error:
        if _is_between_roles(error):
            await _drop_connections(database)

        # With a separate timeout: its locks must be released even past the deadline.
        async def abort() -> None:
            with suppress(PyMongoError), pymongo.timeout(ABORT_SECONDS):
                await session.end_session()

        aborting = database.calls.leave(abort())
        await asyncio.wait({aborting}, timeout=max(0.0, deadline - time.monotonic()))
        if isinstance(error, Unchanged):
            return error.value, False
        if isinstance(error, PyMongoError):
            quiet = unquoted(error)
            raise _translated(quiet) from quiet
        raise
    # The commit continues past the deadline, after which its outcome is unknown to the caller: an
    # open transaction would keep its locks for up to a minute.
    committing = database.calls.leave(_committed(database, session))
    done, _ = await asyncio.wait({committing}, timeout=max(0.0, deadline - time.monotonic()))
    if not done:
        raise StorageUnavailable(OUTCOME_UNKNOWN)
    if failure := committing.exception():
        raise failure
    return result, True


async def write_in(session: Session, database: Database, command: Mapping[str, Any]) -> None:
    """Run a write command in a transaction. Raises WriteError if a document cannot be written.

    The driver's own methods handle each document in Python, for as long as everything else takes.
    """
    reply = await maybe_await(database.handle.command(command, session=session))
    for failure in reply.get("writeErrors", ()):
        raise WriteError(failure.get("errmsg", ""), failure.get("code"), failure)


async def transact(database: Database, body: Body[T], *, deadline: float | None = None) -> T:
    """Run `body` in a transaction until it commits; it may run several times.

    Raises StorageUnavailable past the deadline, by default the database's timeout, and the errors
    of `body`.
    """
    deadline = deadline or deadline_within(database.timeout)
    began, tries = time.monotonic(), 0
    while True:
        try:
            result, committed = await attempt(database, body, deadline=deadline)
            # Nothing was committed at majority, but the answer shows data that the transaction
            # read, and that must survive a failover.
            if not committed:
                await database.wait_for_majority()
            return result
        except Conflict as conflict:
            tries += 1
            if time.monotonic() >= deadline:
                raise StorageUnavailable from conflict
            await end_orphans(database, since=began)
            await asyncio.sleep(jitter(tries))


async def transact_unique(database: Database, body: Body[T], *, deadline: float | None = None) -> T:
    """As `transact`, and again if another transaction has taken a unique key: then `body` sees that
    transaction's data."""
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


async def _drop_connections(database: Database) -> None:
    """Drop the idle connections; those in use are closed when they are returned to the pool.

    PyMongo's only public way is closing the client, which belongs to the host. If the private names
    change, such connections fail until they are closed for another reason.
    """
    with suppress(AttributeError, TypeError):
        for server in tuple(pymongo_client(database.client)._topology._servers.values()):
            await maybe_await(server.pool.reset_without_pause())


def _is_between_roles(error: BaseException) -> bool:
    """Whether the connection was made while its member was neither primary nor secondary: PyMongo
    keeps such a connection and refuses sessions on it for ever."""
    return isinstance(error, ConfigurationError) and "Sessions are not supported" in str(error)


def is_passing(error: BaseException) -> bool:
    """Whether a transaction that failed with this error may be tried again."""
    labelled = isinstance(error, PyMongoError) and error.has_error_label(_TRANSIENT)
    return labelled or _is_between_roles(error)


def _translated(error: PyMongoError) -> Exception:
    """Conflict if it may be tried again; nothing was written in any case, so as after a read."""
    return Conflict() if is_passing(error) else translated(error, "read")
