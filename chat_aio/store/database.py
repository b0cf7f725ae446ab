"""The host's database with our concerns on it; the one place where driver errors become ours."""

import asyncio
import inspect
import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC
from typing import Any, Literal

import pymongo
from bson.codec_options import CodecOptions, DatetimeConversion
from pymongo.errors import (
    BulkWriteError,
    ConfigurationError,
    ConnectionFailure,
    ExecutionTimeout,
    NetworkTimeout,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WaitQueueTimeoutError,
    WTimeoutError,
)
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference
from pymongo.write_concern import WriteConcern

from chat_aio.errors import OUTCOME_UNKNOWN, SetupError, StorageUnavailable

COLLECTIONS = (
    "conversations",
    "counters",
    "messages",
    "invites",
    "join_requests",
    "blocks",
    "mutes",
    "reports",
    "bans",
    "audit",
    "settings",
    "presence",
    "processes",
    "signals",
)

CLOSE_SECONDS = 2.0

_CLAMP = DatetimeConversion.DATETIME_CLAMP
"""What another program writes for "never" may be beyond Python's calendar."""

_OUT_OF_REACH = (
    ConnectionFailure,
    ExecutionTimeout,
    NetworkTimeout,
    WTimeoutError,
)
_NEVER_SENT = (ServerSelectionTimeoutError, WaitQueueTimeoutError)
_LABELS = ("TransientTransactionError", "UnknownTransactionCommitResult", "RetryableWriteError")
_NOT_PRIMARY = frozenset({91, 189, 10107, 11600, 11602, 13435, 13436})


async def settled(value: Any) -> Any:
    """`value`, awaited if it needs to be: where PyMongo's async API and Motor differ."""
    return await value if inspect.isawaitable(value) else value


def is_out_of_reach(error: PyMongoError) -> bool:
    """Whether MongoDB was not reached in time, or is between two primaries."""
    if isinstance(error, OperationFailure) and error.code in _NOT_PRIMARY:
        return True
    return isinstance(error, _OUT_OF_REACH) or error.timeout


def translated(error: PyMongoError, doing: Literal["read", "write"]) -> Exception:
    """StorageUnavailable for a database out of reach; any other error as it is."""
    if not is_out_of_reach(error):
        return error
    if doing == "read" or isinstance(error, _NEVER_SENT):
        return StorageUnavailable()
    return StorageUnavailable(OUTCOME_UNKNOWN)


def unquoted(error: PyMongoError) -> PyMongoError:
    """The same error without the texts that come from MongoDB, which quote documents and commands:
    errors end up in logs."""
    if not isinstance(error, OperationFailure):
        return error
    details = error.details or {}
    kept: dict[str, Any] = {
        "errorLabels": [each for each in _LABELS if error.has_error_label(each)]
    }
    if "keyPattern" in details:
        kept["keyPattern"] = details["keyPattern"]
    same: PyMongoError
    if isinstance(error, BulkWriteError):
        for name in ("writeErrors", "writeConcernErrors"):
            kept[name] = [{"code": each.get("code")} for each in details.get(name, ())]
        same = BulkWriteError(kept)
    else:
        said = details.get("codeName", "refused by MongoDB")
        same = type(error)(f"{said}, code {error.code}", error.code, kept)
    return same.with_traceback(error.__traceback__)


class Database:
    """The collections of one chat: majority reads and writes on the primary, aware UTC times.

    `handle` is a PyMongo AsyncDatabase or a Motor database; `timeout` is in seconds per call.
    """

    def __init__(self, handle: Any, *, prefix: str = "", timeout: float = 10.0) -> None:
        self.timeout = timeout
        self.prefix = prefix
        self.unfinished: set[asyncio.Task[None]] = set()
        self.looked_for_orphans = -math.inf
        self.handle = handle.with_options(
            codec_options=CodecOptions(tz_aware=True, tzinfo=UTC, datetime_conversion=_CLAMP),
            read_preference=ReadPreference.PRIMARY,
            read_concern=ReadConcern("majority"),
            write_concern=WriteConcern("majority"),
        )
        self.client = self.handle.client
        self.conversations = self.collection("conversations")
        plain = self.handle.with_options(codec_options=CodecOptions(datetime_conversion=_CLAMP))
        self.plain_conversations = plain[prefix + "conversations"]
        self.counters = self.collection("counters")
        self.messages = self.collection("messages")
        self.invites = self.collection("invites")
        self.join_requests = self.collection("join_requests")
        self.blocks = self.collection("blocks")
        self.mutes = self.collection("mutes")
        self.reports = self.collection("reports")
        self.bans = self.collection("bans")
        self.audit = self.collection("audit")
        self.settings = self.collection("settings")
        self.signals = self.collection("signals")

    def collection(self, name: str) -> Any:
        return self.handle[self.prefix + name]

    async def close(self) -> None:
        """Give commits that are still without an answer a little time to get one."""
        if self.unfinished:
            _, late = await asyncio.wait(self.unfinished, timeout=CLOSE_SECONDS)
            for commit in late:
                commit.cancel()

    async def settle(self) -> None:
        """Wait until a majority has everything that could be read here until now: a write that
        finds nothing to do is acknowledged only then."""
        await self.write(
            lambda: self.counters.update_one({"_id": "", "seq": -1}, {"$set": {"seq": -1}})
        )

    def reading(self, *, seconds: float | None = None) -> AbstractContextManager[None]:
        """Around calls that write nothing: bounded in time, errors translated."""
        return self._calling("read", seconds)

    def writing(self) -> AbstractContextManager[None]:
        """Around a single-document write: bounded in time, errors translated."""
        return self._calling("write")

    @contextmanager
    def _calling(
        self, doing: Literal["read", "write"], seconds: float | None = None
    ) -> Iterator[None]:
        try:
            with pymongo.timeout(self.timeout if seconds is None else seconds):
                yield
        except PyMongoError as error:
            quiet = unquoted(error)
            raise translated(quiet, doing) from quiet

    async def require_replica_set(self) -> None:
        """Raise SetupError, saying what to do, unless this is a reachable replica set."""
        try:
            with pymongo.timeout(self.timeout):
                hello = await self.handle.command("hello")
        except (PyMongoError, ConfigurationError) as error:
            reason = "not reached" if is_out_of_reach(error) else "not usable"
            raise SetupError(
                f"MongoDB was {reason}: {_first_line(error)}. Is it running, and is the URL right?"
            ) from error
        if "setName" not in hello and hello.get("msg") != "isdbgrid":
            raise SetupError(
                "MongoDB is running, but not as a replica set, which transactions and change "
                "streams need. One node is enough: start mongod with --replSet rs0 and run "
                "rs.initiate() in mongosh once."
            )


def _first_line(error: Exception) -> str:
    return str(error).split(", Timeout:")[0].splitlines()[0][:200] if str(error) else repr(error)
