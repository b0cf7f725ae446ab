"""Importing conversations from a file. The whole file is read and compared with the database before
anything is written; a conversation appears when it is complete."""

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from chat_aio.actions.context import Context
from chat_aio.actions.maintenance.conversations.exporting import CannotExport, digest_of
from chat_aio.actions.maintenance.conversations.file_reader import (
    AT_A_TIME,
    MOST_WEIGHT,
    Batch,
    Names,
    Reader,
    WrongFile,
    wrong,
)
from chat_aio.actions.maintenance.conversations.incoming import ACTOR
from chat_aio.capabilities import Capability
from chat_aio.errors import ConversationNotFound
from chat_aio.schema.wire import timestamp
from chat_aio.store import deleted_conversations
from chat_aio.store.database import Database
from chat_aio.store.documents import ConversationDocument, CounterDocument, MessageDocument
from chat_aio.store.maintenance import conversations as stored
from chat_aio.store.maintenance.progress import Counts, Progress, silent

AT_ONCE = 4
CONVERSATIONS_AT_A_TIME = 100
COMPARED_AT_A_TIME = 100

CHANGED = "the file has changed while it was read"


@dataclass(frozen=True, slots=True)
class Planned:
    """A conversation of the file: its name in errors, its first line, its digest, its number of
    messages, its key, and whether it exists already."""

    conversation_id: str
    named: str
    number: int
    digest: str
    messages: int
    key: str | None = None
    is_new: bool = True


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """The contents of a file, compared with the database."""

    path: Path
    names: Names
    conversations: tuple[Planned, ...]

    def counts(self, *, new: bool) -> Counts:
        found = [conversation for conversation in self.conversations if conversation.is_new is new]
        return Counts(sum(planned.messages for planned in found), len(found))


async def plan_import(context: Context, path: Path, *, progress: Progress = silent) -> ImportPlan:
    """Read a file and compare it with the database. Raises WrongFile for the first wrong line, and
    for an existing conversation with other content, or a deleted one."""
    names = Names(context.settings)
    planned = await _read(path, names, progress)
    if names.came_late:  # Digests of forwards used ids of the file that have others here.
        planned = await _read(path, names, progress)
    compared = await _compared(context.database, planned)
    return ImportPlan(path, names, tuple(compared))


async def _read(path: Path, names: Names, progress: Progress) -> list[Planned]:
    """The conversations of a file. Raises WrongFile."""
    planned: dict[str, Planned] = {}
    keys: set[str] = set()
    reader = Reader(path, names, searchable=lambda _: False)
    with progress("Reading", reader.size) as advance:
        async for batch in reader.batches(advance):
            if batch.finished is None:
                continue
            incoming = batch.incoming
            named = f"conversation {incoming.conversation_id}"
            if incoming.line.type == "direct":
                # Its id is one of this database, which the file does not have: the users name it.
                users = " and ".join(person.user_id for person in incoming.line.participants)
                named = f"the direct conversation of {users} ({incoming.conversation_id})"
            found = Planned(
                incoming.conversation_id,
                named,
                incoming.number,
                batch.finished.digest,
                incoming.count,
                incoming.line.key,
            )
            if found.conversation_id in planned:
                raise wrong(found.number, f"{found.named} comes twice")
            if found.key in keys:
                raise wrong(found.number, _key_is_taken(found))
            if found.key is not None:
                keys.add(found.key)
            planned[found.conversation_id] = found
    return [*planned.values()]


async def carry_out(context: Context, plan: ImportPlan, *, progress: Progress = silent) -> None:
    """Write what is new. If this is interrupted, completed conversations are kept, and another run
    continues. Raises WrongFile for changes since the plan."""
    new = {
        conversation.conversation_id for conversation in plan.conversations if conversation.is_new
    }
    writer = _Writer(context.database, context.clock(), context.new_id(), plan.conversations)
    searchable = Capability.SEARCH in context.capabilities
    reader = Reader(
        plan.path,
        plan.names,
        searchable=lambda conversation_id: searchable and conversation_id in new,
    )
    try:
        with progress("Importing", reader.size if new else 0) as advance:
            if new:
                async for batch in reader.batches(advance):
                    await writer.write(batch)
                await writer.finish()
    finally:
        await writer.close()


def _key_is_taken(planned: Planned) -> str:
    return f"{planned.named} cannot be imported: another conversation has its key"


async def _compared(database: Database, planned: Sequence[Planned]) -> list[Planned]:
    """The conversations of a file, compared with the database. Raises WrongFile for an existing one
    with other content."""
    compared: list[Planned] = []
    for start in range(0, len(planned), COMPARED_AT_A_TIME):
        some = planned[start : start + COMPARED_AT_A_TIME]
        ids = [conversation.conversation_id for conversation in some]
        digests = await stored.find_digests(database, ids)
        keys = [conversation.key for conversation in some if conversation.key is not None]
        holders = await stored.find_holders(database, keys) if keys else {}
        deleted = await deleted_conversations.find_many(database, ids)
        for conversation_id, conversation in zip(ids, some, strict=True):
            if conversation_id in deleted:
                at = timestamp(deleted[conversation_id]["deletedAt"])
                raise wrong(
                    conversation.number,
                    f"{conversation.named} was deleted on {at}, and its id is never used again; "
                    "give the conversation of the file another id",
                )
            is_new = conversation_id not in digests
            # The digest of the import decides, since users may have written since; without one,
            # the present content does.
            present = digests.get(conversation_id)
            if not is_new and present is None:
                with suppress(CannotExport, ConversationNotFound):
                    present = await digest_of(database, conversation_id)
            if not is_new and present != conversation.digest:
                raise wrong(
                    conversation.number,
                    f"{conversation.named} is there already, with other content; "
                    "nothing is overwritten",
                )
            if holders.get(conversation.key, conversation_id) != conversation_id:
                raise wrong(conversation.number, _key_is_taken(conversation))
            compared.append(replace(conversation, is_new=is_new))
    return compared


@dataclass(frozen=True, slots=True)
class _Ready:
    """A conversation of which all lines have been read."""

    planned: Planned
    conversation: ConversationDocument
    head: CounterDocument
    has_threads: bool


class _Writer:
    """Writes messages as they arrive, and conversations, several together, once all of their
    messages are stored. Some writes run while the next lines are read."""

    def __init__(
        self, database: Database, at: datetime, change_id: str, planned: Sequence[Planned]
    ) -> None:
        self._database, self._at, self._change_id = database, at, change_id
        self._planned = {conversation.conversation_id: conversation for conversation in planned}
        self._under_way: deque[asyncio.Task[None]] = deque()
        self._inserts: list[asyncio.Task[None]] = []
        self._messages: list[MessageDocument] = []
        self._weight = 0
        self._ready: list[_Ready] = []

    async def write(self, batch: Batch) -> None:
        """Write a batch, now or with the next ones. Raises the errors of earlier writes."""
        planned = self._planned.get(batch.incoming.conversation_id)
        if planned is None:
            raise WrongFile(CHANGED)
        # It is there already, so its lines are only read past.
        if not planned.is_new:
            return
        for message in batch.messages:
            message["importedAt"] = self._at
        self._messages += batch.messages
        self._weight += batch.weight
        if batch.finished is not None:
            if batch.finished.digest != planned.digest:
                raise WrongFile(CHANGED)
            # The stamp by which running processes notice it; no event is delivered.
            stamp = {
                "importedAt": self._at,
                "importDigest": batch.finished.digest,
                "change": {
                    "id": self._change_id,
                    "at": self._at,
                    "kind": "conversation.created",
                    "actorId": ACTOR,
                    "addedUserIds": [],
                },
            }
            conversation = cast(ConversationDocument, {**batch.finished.conversation, **stamp})
            has_threads = batch.incoming.has_threads
            self._ready.append(_Ready(planned, conversation, batch.finished.head, has_threads))
        if (
            len(self._messages) >= AT_A_TIME
            or self._weight >= MOST_WEIGHT
            or len(self._ready) >= CONVERSATIONS_AT_A_TIME
        ):
            # Earlier by weight: a message may have a megabyte.
            await self._flush()

    async def finish(self) -> None:
        """Write the rest, and wait for all writes."""
        await self._flush()
        while self._under_way:
            await self._under_way[0]
            self._under_way.popleft()

    async def close(self) -> None:
        """Wait for running writes to end, also after a failure."""
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _flush(self) -> None:
        messages, ready = self._messages, self._ready

        async def insert() -> None:
            other = await stored.insert(self._database, messages)
            if other is not None:
                planned = self._planned[other["conversationId"]]
                raise wrong(
                    planned.number,
                    f"{planned.named} cannot be imported: message {other['_id']} (seq "
                    f"{other['seq']}) is there already with other content, or another message has "
                    "its seq or its clientMessageId",
                )

        self._messages, self._weight, self._ready = [], 0, []
        if messages:
            self._inserts.append(await self._begin(insert()))
        if ready:
            await self._begin(self._create(ready, self._inserts))
            # The last one may have the first messages of an unfinished conversation.
            self._inserts = self._inserts[-1:]

    async def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        # The oldest first: a task waits only for older ones.
        task = asyncio.create_task(work)
        self._under_way.append(task)
        while len(self._under_way) > AT_ONCE:
            await self._under_way[0]
            self._under_way.popleft()
        return task

    async def _create(self, ready: Sequence[_Ready], inserts: Sequence[asyncio.Task[None]]) -> None:
        # A conversation appears only when all of its messages are stored.
        await asyncio.gather(*inserts)
        for finished in ready:
            if finished.has_threads:
                await stored.summarise_threads(self._database, finished.planned.conversation_id)
        rows = [(finished.conversation, finished.head) for finished in ready]
        if await stored.create(self._database, rows):
            return
        # Alone, so that one that cannot be created does not hold up the others.
        for finished in ready:
            if await stored.create(self._database, [(finished.conversation, finished.head)]):
                continue
            # Another run of the same file may have been faster.
            planned = finished.planned
            (compared,) = await _compared(self._database, [planned])
            if compared.is_new:
                raise wrong(
                    planned.number,
                    f"{planned.named} cannot be imported: there is a head of it, or messages that "
                    "the file does not have, left by an import of another file",
                )
