"""The host's database with our read and write concerns; driver errors are translated only here."""

import asyncio
import math
import re
import time
from collections.abc import Mapping, Sequence
from datetime import UTC
from functools import partial
from typing import Any, Literal, TypeVar

import pymongo
from bson.codec_options import CodecOptions, DatetimeConversion
from pymongo import UpdateOne
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
from chat_aio.options import Options
from chat_aio.schema.models import NO_OPTIONAL_FIELDS, OptionalFields
from chat_aio.store.backoff import jitter
from chat_aio.store.calls import Call, Calls, LateCall, deadline_within
from chat_aio.store.drivers import maybe_await
from chat_aio.store.privileges import missing_right
from chat_aio.store.time_slices import Turns

T = TypeVar("T")

COLLECTIONS = (
    "conversations",
    "counters",
    "messages",
    "message_versions",
    "invites",
    "join_requests",
    "conversation_bans",
    "deleted_conversations",
    "departures",
    "blocks",
    "mutes",
    "thread_states",
    "reports",
    "held_messages",
    "bans",
    "audit",
    "legal_holds",
    "settings",
    "presence",
    "processes",
    "signals",
    "daily_stats",
    "notification_messages",
    "notifications",
    "notification_settings",
    "notification_shown",
    "notification_devices",
    "webhook_deliveries",
    "drafts",
    "attachments",
    "attachment_bytes.files",
    "attachment_bytes.chunks",
)

_CLAMP = DatetimeConversion.DATETIME_CLAMP
"""Another program may write a date past the year 9999 for "never", which Python cannot decode."""

_OUT_OF_REACH = (
    ConnectionFailure,
    ExecutionTimeout,
    NetworkTimeout,
    WTimeoutError,
)
_NEVER_SENT = (ServerSelectionTimeoutError, WaitQueueTimeoutError)
_LABELS = ("TransientTransactionError", "UnknownTransactionCommitResult", "RetryableWriteError")
# The codes that the drivers' specification lists for a server that is not primary, or no longer.
_NOT_PRIMARY = frozenset({91, 189, 10107, 11600, 11602, 13435, 13436})
_UNAUTHORIZED = 13
_TYPE_MISMATCH = 14
_PATH_NOT_VIABLE = 28
_LOCK_TIMEOUT, _WRITE_CONFLICT, _OUT_OF_DISK_SPACE = 24, 112, 14031
_UNWRITTEN = frozenset({_LOCK_TIMEOUT, _WRITE_CONFLICT, _OUT_OF_DISK_SPACE})
"""Codes of passing failures after which nothing was written."""


TRY_SECONDS = 0.1
"""A write is not tried again if less time than this is left for it."""

WRITTEN_AT_ONCE = 1_000

Write = tuple[Mapping[str, Any], Mapping[str, Any]]
"""(query, update) of one document, which is created if it does not exist."""


def is_out_of_reach(error: PyMongoError) -> bool:
    """Whether MongoDB was not reached in time, has no primary, or cannot write now."""
    if _codes_of(error) & (_NOT_PRIMARY | _UNWRITTEN):
        return True
    return isinstance(error, _OUT_OF_REACH) or error.timeout


def is_conflict(error: PyMongoError) -> bool:
    """Whether a write conflicted with another write of the same document; nothing was written."""
    return _WRITE_CONFLICT in _codes_of(error)


def is_not_addable(error: PyMongoError) -> bool:
    """Whether a field that a write adds to is not a number, or its parent is not a document;
    nothing was written."""
    return not _codes_of(error).isdisjoint((_TYPE_MISMATCH, _PATH_NOT_VIABLE))


def is_unauthorized(error: BaseException) -> bool:
    """Whether the user of MongoDB has no right to the operation."""
    return isinstance(error, OperationFailure) and error.code == _UNAUTHORIZED


def _codes_of(error: PyMongoError) -> set[int | None]:
    """The codes of an error; for a bulk write those of its parts."""
    if isinstance(error, BulkWriteError):
        return {
            write_error.get("code") for write_error in (error.details or {}).get("writeErrors", ())
        }
    return {error.code} if isinstance(error, OperationFailure) else set()


def translated(error: PyMongoError, doing: Literal["read", "write"]) -> Exception:
    """StorageUnavailable if the database is out of reach; any other error as it is."""
    if not is_out_of_reach(error):
        return error
    # A write that was never sent, or was refused, has certainly not happened; others may have.
    unwritten = isinstance(error, _NEVER_SENT) or _codes_of(error) & _UNWRITTEN
    if doing == "read" or unwritten:
        return StorageUnavailable()
    return StorageUnavailable(OUTCOME_UNKNOWN)


def unquoted(error: PyMongoError) -> PyMongoError:
    """The same error without MongoDB's texts: they quote documents, and errors end up in logs."""
    if not isinstance(error, OperationFailure):
        return error
    details = error.details or {}
    kept: dict[str, Any] = {
        "errorLabels": [label for label in _LABELS if error.has_error_label(label)]
    }
    if "keyPattern" in details:
        kept["keyPattern"] = details["keyPattern"]
    same: PyMongoError
    if isinstance(error, BulkWriteError):
        for name in ("writeErrors", "writeConcernErrors"):
            kept[name] = [{"code": detail.get("code")} for detail in details.get(name, ())]
        same = BulkWriteError(kept)
    else:
        said = details.get("codeName", "refused by MongoDB")
        if right := missing_right(error):
            kept["missing"] = right
            said = f"{said}: lacks {right}"
        same = type(error)(f"{said}, code {error.code}", error.code, kept)
    return same.with_traceback(error.__traceback__)


class Database:
    """The collections of one chat: majority reads and writes on the primary, aware UTC times.

    `handle` is a PyMongo AsyncDatabase or a Motor database; `timeout` is in seconds per call;
    `flags` are the names of the options that are on, some of which need a separate index;
    `optional_fields` are the fields that options add to the shapes of conversations and messages,
    `metadata_indexes` the fields of metadata by which conversations are found.
    `unread_marks` is whether users may mark messages as unread, and `dates_changes` whether changes
    and departures are dated, for clients that were away (decision 0083). `missing_search_indexes`
    are the indexes that the last search did not find (`search.py`).
    """

    def __init__(
        self,
        handle: Any,
        *,
        prefix: str = "",
        timeout: float = 10.0,
        flags: frozenset[str] = frozenset(),
        optional_fields: OptionalFields = NO_OPTIONAL_FIELDS,
        metadata_indexes: Sequence[str] = (),
    ) -> None:
        self.timeout = timeout
        self.prefix = prefix
        self.flags = flags
        self.optional_fields = optional_fields
        self.metadata_indexes = metadata_indexes
        self.calls = Calls(timeout=timeout)
        self.turns = Turns()
        self.looked_for_orphans = -math.inf
        self.refuses_orphans = False
        self.unread_marks = False
        self.dates_changes = "extra_events" in flags
        self.missing_search_indexes = set[str]()
        self._bind(handle)

    def _bind(self, handle: Any) -> None:
        """Set the collections, with our read and write concerns."""
        self.handle = handle.with_options(
            codec_options=CodecOptions(tz_aware=True, tzinfo=UTC, datetime_conversion=_CLAMP),
            read_preference=ReadPreference.PRIMARY,
            # Majority: an answer or an event must not show what a failover could undo.
            read_concern=ReadConcern("majority"),
            write_concern=WriteConcern("majority"),
        )
        self.client = self.handle.client
        self.conversations = self.collection("conversations")
        # With naive times: aware times take longer to decode than the rest of a long list.
        plain = self.handle.with_options(codec_options=CodecOptions(datetime_conversion=_CLAMP))
        self.plain_conversations = plain[self.prefix + "conversations"]
        self.plain_messages = plain[self.prefix + "messages"]
        self.counters = self.collection("counters")
        self.messages = self.collection("messages")
        self.message_versions = self.collection("message_versions")
        self.invites = self.collection("invites")
        self.join_requests = self.collection("join_requests")
        self.conversation_bans = self.collection("conversation_bans")
        self.deleted_conversations = self.collection("deleted_conversations")
        self.departures = self.collection("departures")
        self.blocks = self.collection("blocks")
        self.mutes = self.collection("mutes")
        self.thread_states = self.collection("thread_states")
        self.reports = self.collection("reports")
        self.held_messages = self.collection("held_messages")
        self.bans = self.collection("bans")
        self.audit = self.collection("audit")
        self.legal_holds = self.collection("legal_holds")
        self.settings = self.collection("settings")
        self.signals = self.collection("signals")
        self.daily_stats = self.collection("daily_stats")

    def collection(self, name: str) -> Any:
        return self.handle[self.prefix + name]

    def rebind(self, handle: Any) -> None:
        """Replace a client that is stuck; calls that wait for it are abandoned."""
        self.calls.forget()
        self._bind(handle)

    async def close(self, *, seconds: float) -> None:
        """Wait a little for commits and calls in progress. Later ones continue: cancelling them
        could break a client that the host keeps using."""
        await self.calls.wait_for_all(seconds=seconds)

    async def wait_for_majority(self) -> None:
        """Wait until a majority has everything that this process has read so far."""
        # MongoDB acknowledges a no-op write at majority only when all earlier writes are there.
        # No conversation has an empty id, so this matches nothing.
        nothing = {"_id": "", "seq": -1}
        await self.write(lambda: self.counters.update_one(nothing, {"$set": {"seq": -1}}))

    async def read(self, call: Call[T], *, seconds: float | None = None) -> T:
        """Run a read: `await database.read(lambda: database.bans.find_one({"_id": id}))`.

        It is bounded in time and never cancelled (`store/calls.py`). Raises StorageUnavailable, and
        other driver errors without the texts that quote documents.
        """
        try:
            return await self.calls.run(call, seconds=self.timeout if seconds is None else seconds)
        except LateCall:
            raise StorageUnavailable from None
        except PyMongoError as error:
            quiet = unquoted(error)
            raise translated(quiet, "read") from quiet

    async def write(self, call: Call[T]) -> T:
        """Run a write that may be repeated, such as a write of one document; as `read`. On a
        conflict with a transaction it is tried again until its timeout."""
        until = deadline_within(self.timeout)
        tries = 0
        while True:
            try:
                return await self.calls.run(call, seconds=until - time.monotonic())
            except LateCall:
                raise StorageUnavailable(OUTCOME_UNKNOWN) from None
            except PyMongoError as error:
                tries += 1
                pause = jitter(tries)
                # A try that the timeout interrupts has an unknown outcome; after a conflict it is
                # known that nothing was written.
                if not is_conflict(error) or time.monotonic() + pause + TRY_SECONDS > until:
                    quiet = unquoted(error)
                    raise translated(quiet, "write") from quiet
            await asyncio.sleep(pause)

    async def write_many(self, collection: Any, writes: Sequence[Write]) -> None:
        """Run writes, which may be repeated and run in any order. Raises StorageUnavailable."""
        for start in range(0, len(writes), WRITTEN_AT_ONCE):
            some = writes[start : start + WRITTEN_AT_ONCE]
            updates = [UpdateOne(query, update, upsert=True) for query, update in some]
            # Unordered: one that fails must not keep out those after it.
            await self.write(partial(collection.bulk_write, updates, ordered=False))

    async def aggregate(
        self,
        collection: Any,
        stages: Sequence[Mapping[str, Any]],
        *,
        seconds: float | None = None,
        **options: Any,
    ) -> list[Any]:
        """Run an aggregation and return all results; as `read`."""

        async def gather() -> list[Any]:
            cursor = await maybe_await(collection.aggregate(stages, **options))
            found: list[Any] = await cursor.to_list(None)
            return found

        return await self.read(gather, seconds=seconds)

    async def hello(self, *, seconds: float) -> Mapping[str, Any]:
        """The primary's answer to `hello`. Raises StorageUnavailable."""
        found: Mapping[str, Any] = await self.read(
            lambda: self.handle.command("hello"), seconds=seconds
        )
        return found

    async def answers(self, *, seconds: float) -> bool:
        """Whether the primary of a replica set answers within `seconds`."""
        try:
            return _is_replicated(await self.hello(seconds=seconds))
        except (StorageUnavailable, PyMongoError):
            return False

    async def require_replica_set(self) -> None:
        """Raise SetupError, with the remedy, unless this is a reachable replica set."""

        async def say_hello() -> Mapping[str, Any]:
            # The driver, which only looks at its timeout every half second, names the host.
            with pymongo.timeout(max(self.timeout - 0.5, self.timeout / 2)):
                answer: Mapping[str, Any] = await self.handle.command("hello")
            return answer

        try:
            # Not `read`, which removes MongoDB's texts: operators need them.
            hello = await self.calls.run(say_hello, seconds=self.timeout)
        except (LateCall, StorageUnavailable) as error:
            raise SetupError("MongoDB was not reached: it does not answer.") from error
        except (PyMongoError, ConfigurationError) as error:
            reason = "not reached" if is_out_of_reach(error) else "not usable"
            # PyMongo appends the whole answer, or its timeout and a description of the whole
            # topology: only the first line is of use.
            said = str(error).split(", Timeout:")[0].split(", full error:")[0]
            said = re.sub(r" \(configured timeouts: [^)]*\)", "", said)
            said = said.splitlines()[0][:200] if said else repr(error)
            raise SetupError(
                f"MongoDB was {reason}: {said}. Is it running, and is the URL right?"
            ) from error
        if not _is_replicated(hello):
            raise SetupError(
                "MongoDB is running, but not as a replica set, which transactions and change "
                "streams need. One node is enough: start mongod with --replSet rs0 and run "
                "rs.initiate() in mongosh once."
            )


def _is_replicated(hello: Mapping[str, Any]) -> bool:
    # `isdbgrid` is the answer of mongos; its shards are replica sets.
    return "setName" in hello or hello.get("msg") == "isdbgrid"


def database_over(handle: Any, options: Options) -> Database:
    """The database of a chat with these options."""
    return Database(
        handle,
        prefix=options.collection_prefix,
        timeout=options.storage_timeout_seconds,
        flags=options.flags,
        optional_fields=options.optional_fields,
        metadata_indexes=options.metadata_indexes,
    )
