"""Importing conversations from a file. The whole file is read and compared with the database before
anything is written; a conversation appears when it is complete."""

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence
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
    Finished,
    Names,
    Reader,
    WrongFile,
    wrong,
)
from chat_aio.actions.maintenance.conversations.incoming import ACTOR, Incoming
from chat_aio.capabilities import Capability
from chat_aio.errors import ConversationNotFound
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
    """A conversation of the file: what errors call it, where it begins, its digest, how many
    messages it has, and whether it is here already."""

    conversation_id: str
    named: str
    number: int
    digest: str
    messages: int
    is_new: bool = True


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What a file would import."""

    path: Path
    names: Names
    conversations: tuple[Planned, ...]

    def counts(self, *, new: bool) -> Counts:
        found = [conversation for conversation in self.conversations if conversation.is_new is new]
        return Counts(sum(planned.messages for planned in found), len(found))


async def plan_import(context: Context, path: Path, *, progress: Progress = silent) -> ImportPlan:
    """Read a file and compare it with what is there. Raises WrongFile for the first line that is
    wrong, and for a conversation that is there with other content."""
    names = Names(context.settings)
    planned = await _read(path, names, progress)
    if names.came_late:  # Digests of forwards have ids of the file that have others here.
        planned = await _read(path, names, progress)
    compared = await _compared(context.database, planned)
    return ImportPlan(path, names, tuple(compared))


async def _read(path: Path, names: Names, progress: Progress) -> list[Planned]:
    """The conversations of a file. Raises WrongFile."""
    planned: dict[str, Planned] = {}
    reader = Reader(path, names, searchable=lambda _: False)
    with progress("Reading", reader.size) as advance:
        async for batch in reader.batches(advance):
            if batch.finished is None:
                continue
            found = _planned(batch.incoming, batch.finished)
            if found.conversation_id in planned:
                raise wrong(found.number, f"{found.named} comes twice")
            planned[found.conversation_id] = found
    return [*planned.values()]


async def carry_out(context: Context, plan: ImportPlan, *, progress: Progress = silent) -> None:
    """Write what is new. If this is interrupted, the conversations that are complete stay, and
    another run continues. Raises WrongFile for what has changed since the plan."""
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


def _planned(incoming: Incoming, finished: Finished) -> Planned:
    named = f"conversation {incoming.conversation_id}"
    if incoming.line.type == "direct":
        users = " and ".join(participant.user_id for participant in incoming.line.participants)
        named = f"the direct conversation of {users} ({incoming.conversation_id})"
    return Planned(
        incoming.conversation_id, named, incoming.number, finished.digest, incoming.count
    )


async def _compared(database: Database, planned: Sequence[Planned]) -> list[Planned]:
    """The conversations of a file, compared with what is there. Raises WrongFile for one that is
    there with other content."""
    compared: list[Planned] = []
    for start in range(0, len(planned), COMPARED_AT_A_TIME):
        some = planned[start : start + COMPARED_AT_A_TIME]
        ids = [conversation.conversation_id for conversation in some]
        digests = await stored.find_digests(database, ids)
        for conversation_id, conversation in zip(ids, some, strict=True):
            is_new = conversation_id not in digests
            if not is_new and not await _is_same(database, conversation, digests[conversation_id]):
                raise wrong(
                    conversation.number,
                    f"{conversation.named} is there already, with other content; "
                    "nothing is overwritten",
                )
            compared.append(replace(conversation, is_new=is_new))
    return compared


async def _is_same(database: Database, planned: Planned, digest: str | None) -> bool:
    """Whether a stored conversation is that of the file: as it was imported, since people may have
    written since; or as it is, if it was not imported."""
    if digest is not None:
        return digest == planned.digest
    try:
        return await digest_of(database, planned.conversation_id) == planned.digest
    except (CannotExport, ConversationNotFound):
        return False


@dataclass(frozen=True, slots=True)
class _Ready:
    """A conversation of which all lines were read."""

    planned: Planned
    conversation: ConversationDocument
    head: CounterDocument
    has_threads: bool


class _Writer:
    """Writes messages as they come, and conversations, several together, when all of their messages
    are there. Some writes are under way while the next lines are read."""

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
        """Write a batch, now or with the next ones. Raises what earlier ones have raised."""
        planned = self._planned.get(batch.incoming.conversation_id)
        if planned is None:
            raise WrongFile(CHANGED)
        if not planned.is_new:
            return
        for message in batch.messages:
            message["importedAt"] = self._at
        self._messages += batch.messages
        self._weight += batch.weight
        if batch.finished is not None:
            self._ready.append(self._stamped(planned, batch.finished, batch.incoming.has_threads))
        if (
            len(self._messages) >= AT_A_TIME
            or self._weight >= MOST_WEIGHT
            or len(self._ready) >= CONVERSATIONS_AT_A_TIME
        ):
            await self._flush()

    async def finish(self) -> None:
        """Write what is left, and wait for all of it."""
        await self._flush()
        while self._under_way:
            await self._under_way[0]
            self._under_way.popleft()

    async def close(self) -> None:
        """Wait for the end of what is under way, also after a failure."""
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _flush(self) -> None:
        messages, ready = self._messages, self._ready
        self._messages, self._weight, self._ready = [], 0, []
        if messages:
            self._inserts.append(await self._begin(self._insert(messages)))
        if ready:
            await self._begin(self._create(ready, self._inserts))
            # The last one may have the first messages of a conversation that goes on.
            self._inserts = self._inserts[-1:]

    async def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        # The oldest first: what a later one waits for is never behind it.
        task = asyncio.create_task(work)
        self._under_way.append(task)
        while len(self._under_way) > AT_ONCE:
            await self._under_way[0]
            self._under_way.popleft()
        return task

    async def _insert(self, messages: Sequence[MessageDocument]) -> None:
        other = await stored.insert(self._database, messages)
        if other is not None:
            planned = self._planned[other["conversationId"]]
            raise wrong(
                planned.number,
                f"{planned.named} cannot be imported: message {other['_id']} (seq "
                f"{other['seq']}) is there already with other content, or another message has its "
                "seq or its clientMessageId",
            )

    async def _create(self, ready: Sequence[_Ready], inserts: Sequence[asyncio.Task[None]]) -> None:
        await asyncio.gather(*inserts)
        for finished in ready:
            if finished.has_threads:
                await stored.summarise_threads(self._database, finished.planned.conversation_id)
        if await stored.create(
            self._database, [(finished.conversation, finished.head) for finished in ready]
        ):
            return
        for finished in ready:
            await self._create_alone(finished)

    async def _create_alone(self, ready: _Ready) -> None:
        if await stored.create(self._database, [(ready.conversation, ready.head)]):
            return
        # Another run of the same file may have been faster.
        planned = ready.planned
        (compared,) = await _compared(self._database, [planned])
        if compared.is_new:
            raise wrong(
                planned.number,
                f"{planned.named} cannot be imported: there is a head of it, or messages that the "
                "file does not have, left by an import of another file",
            )

    def _stamped(self, planned: Planned, finished: Finished, has_threads: bool) -> _Ready:
        """The conversation with the stamp by which running processes learn of it; nobody gets an
        event."""
        if finished.digest != planned.digest:
            raise WrongFile(CHANGED)
        stamp = {
            "importedAt": self._at,
            "importDigest": finished.digest,
            "change": {
                "id": self._change_id,
                "at": self._at,
                "kind": "conversation.created",
                "actorId": ACTOR,
                "addedUserIds": [],
            },
        }
        conversation = cast(ConversationDocument, {**finished.conversation, **stamp})
        return _Ready(planned, conversation, finished.head, has_threads)
