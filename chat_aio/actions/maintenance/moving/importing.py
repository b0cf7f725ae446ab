"""Importing conversations from a file. The whole file is read and compared with the database before
anything is written; a conversation appears when it is complete."""

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, cast

from chat_aio.actions.context import Context
from chat_aio.actions.maintenance.moving.exporting import CannotExport, digest_of
from chat_aio.actions.maintenance.moving.incoming import ACTOR, Incoming
from chat_aio.actions.maintenance.moving.reading import (
    Batch,
    Finished,
    Names,
    Reader,
    WrongFile,
    wrong,
)
from chat_aio.actions.maintenance.operators import Counts, Progress, silent
from chat_aio.capabilities import Capability
from chat_aio.errors import ConversationNotFound
from chat_aio.store import schema_version
from chat_aio.store.database import Database
from chat_aio.store.documents import ConversationDocument
from chat_aio.store.maintenance import moving

AT_ONCE = 4

CHANGED = "the file has changed while it was read"


@dataclass(frozen=True, slots=True)
class Planned:
    """A conversation of the file: its digest, how many messages it has, and whether it is here."""

    conversation_id: str
    digest: str
    messages: int
    state: Literal["new", "unchanged"]


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What a file would import."""

    path: Path
    names: Names
    conversations: tuple[Planned, ...]

    def counts(self, state: Literal["new", "unchanged"]) -> Counts:
        found = [each for each in self.conversations if each.state == state]
        return Counts(sum(each.messages for each in found), len(found))


async def plan_import(context: Context, path: Path, *, progress: Progress = silent) -> ImportPlan:
    """Read a file and compare it with what is there. Raises WrongFile for the first line that is
    wrong, and for a conversation that is there with other content."""
    await schema_version.look(context.database)
    names = Names(context.settings)
    planned: dict[str, Planned] = {}
    reader = Reader(path, names, searchable=lambda _: False, older_tokens=False)
    with progress("Reading", reader.size) as advance:
        async for batch in reader.batches(advance):
            if batch.finished is None:
                continue
            found = await _planned(context.database, batch.incoming, batch.finished)
            if found.conversation_id in planned:
                raise wrong(batch.incoming.number, f"{_named(batch.incoming)} comes twice")
            planned[found.conversation_id] = found
    return ImportPlan(path, names, tuple(planned.values()))


async def carry_out(context: Context, plan: ImportPlan, *, progress: Progress = silent) -> None:
    """Write what is new. If this is interrupted, the conversations that are complete stay, and
    another run continues. Raises WrongFile for what has changed since the plan."""
    new = {each.conversation_id for each in plan.conversations if each.state == "new"}
    writer = _Writer(context.database, context.clock(), context.new_id(), plan.conversations)
    searchable = Capability.SEARCH in context.capabilities
    reader = Reader(
        plan.path,
        plan.names,
        searchable=lambda conversation_id: searchable and conversation_id in new,
        older_tokens=context.database.older_tokens,
    )
    try:
        with progress("Importing", reader.size if new else 0) as advance:
            if new:
                async for batch in reader.batches(advance):
                    await writer.write(batch)
                await writer.wait_for_all()
    finally:
        await writer.close()


async def _planned(database: Database, incoming: Incoming, finished: Finished) -> Planned:
    state = await _state_of(database, incoming, finished)
    return Planned(incoming.conversation_id, finished.digest, incoming.count, state)


async def _state_of(
    database: Database, incoming: Incoming, finished: Finished
) -> Literal["new", "unchanged"]:
    """Whether a conversation is new. Raises WrongFile if it is there with other content."""
    conversation_id = incoming.conversation_id
    stored = await moving.find_conversation(database, conversation_id)
    if stored is None:
        if await moving.has_full_head(database, conversation_id):
            raise wrong(
                incoming.number,
                f"conversation {conversation_id} has a head without a conversation: "
                "chat-aio check says more",
            )
        return "new"
    # People have written since, perhaps: what counts is what was imported.
    if "importDigest" in stored:
        same = stored["importDigest"] == finished.digest
    else:
        try:
            same = await digest_of(database, conversation_id) == finished.digest
        except (CannotExport, ConversationNotFound):
            same = False
    if not same:
        raise wrong(
            incoming.number,
            f"{_named(incoming)} is there already, with other content; nothing is overwritten",
        )
    return "unchanged"


def _named(incoming: Incoming) -> str:
    if incoming.line.type == "direct":
        users = " and ".join(each.user_id for each in incoming.line.participants)
        return f"the direct conversation of {users} ({incoming.conversation_id})"
    return f"conversation {incoming.conversation_id}"


class _Writer:
    """Writes batches: messages as they come, and a conversation when all of its own are there. Some
    writes are under way while the next lines are read."""

    def __init__(
        self, database: Database, at: datetime, change_id: str, planned: Sequence[Planned]
    ) -> None:
        self._database, self._at, self._change_id = database, at, change_id
        self._planned = {each.conversation_id: each for each in planned}
        self._under_way: deque[asyncio.Task[None]] = deque()
        self._inserts: list[asyncio.Task[None]] = []

    async def write(self, batch: Batch) -> None:
        """Write a batch in the background. Raises what earlier ones have raised."""
        planned = self._planned.get(batch.incoming.conversation_id)
        if planned is None:
            raise WrongFile(CHANGED)
        if planned.state == "unchanged":
            return
        if batch.messages:
            self._inserts.append(await self._begin(self._insert(batch)))
        if batch.finished is not None:
            if batch.finished.digest != planned.digest:
                raise WrongFile(CHANGED)
            await self._begin(self._finish(batch.incoming, batch.finished, self._inserts))
            self._inserts = []

    async def wait_for_all(self) -> None:
        while self._under_way:
            await self._under_way[0]
            self._under_way.popleft()

    async def close(self) -> None:
        """Wait for the end of what is under way, also after a failure."""
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        # The oldest first: what a later one waits for is never behind it.
        task = asyncio.create_task(work)
        self._under_way.append(task)
        while len(self._under_way) > AT_ONCE:
            await self._under_way[0]
            self._under_way.popleft()
        return task

    async def _insert(self, batch: Batch) -> None:
        for message in batch.messages:
            message["importedAt"] = self._at
        other = await moving.insert(self._database, batch.messages)
        if other is not None:
            incoming = batch.incoming
            raise wrong(
                incoming.number,
                f"{_named(incoming)} cannot be imported: message {other['_id']} (seq "
                f"{other['seq']}) is there already with other content, or another message has its "
                "seq or its clientMessageId",
            )

    async def _finish(
        self, incoming: Incoming, finished: Finished, inserts: Sequence[asyncio.Task[None]]
    ) -> None:
        await asyncio.gather(*inserts)
        if incoming.has_threads:
            await moving.summarise_threads(self._database, incoming.conversation_id)
        if await moving.create(self._database, self._stamped(finished), finished.head):
            return
        # Another run of the same file may have been faster.
        if await _state_of(self._database, incoming, finished) == "new":
            raise wrong(
                incoming.number,
                f"{_named(incoming)} cannot be imported: there are messages of it that the file "
                "does not have, left by an import of another file",
            )

    def _stamped(self, finished: Finished) -> ConversationDocument:
        """The conversation with the stamp by which running processes learn of it; nobody gets an
        event."""
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
        return cast(ConversationDocument, {**finished.conversation, **stamp})
