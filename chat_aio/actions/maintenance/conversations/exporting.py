"""Writing conversations as lines, with everything that their participants see, and without derived
data (docs/guides/importing.md)."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson

from chat_aio.errors import ConversationNotFound
from chat_aio.schema.lines import VERSION
from chat_aio.schema.wire import timestamp
from chat_aio.store import shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import (
    ROOM_CONTROLS,
    ConversationDocument,
    CounterDocument,
    MessageDocument,
)
from chat_aio.store.maintenance import conversations as stored
from chat_aio.store.maintenance.progress import Counts, Progress, silent
from chat_aio.store.metadata import unescaped

Write = Callable[[bytes], object]


class CannotExport(Exception):
    """A conversation that cannot be exported; the message contains the reason."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A conversation and its head, read together: its messages up to the head's seq follow."""

    conversation: ConversationDocument
    head: CounterDocument


async def export_conversations(
    database: Database,
    conversation_ids: Sequence[str],
    write: Write,
    *,
    progress: Progress = silent,
) -> Counts:
    """Write these conversations. Raises ConversationNotFound before anything is written, and
    CannotExport."""
    ids = [*dict.fromkeys(conversation_ids)]
    there = await stored.find_digests(database, ids)
    # Before the first line, so that a wrong id does not leave half a file.
    if missing := [conversation_id for conversation_id in ids if conversation_id not in there]:
        raise ConversationNotFound(f"There is no conversation {missing[0]}")
    write(_json({"kind": "header", "version": VERSION}))
    count = 0
    with progress("Exporting", len(ids)) as advance:
        # One conversation at a time: in memory there is never more than a page of messages.
        for conversation_id in ids:
            loaded = await _load(database, conversation_id)
            write(conversation_line(loaded.conversation, loaded.head))
            async for page in _message_lines(database, loaded.head):
                write(b"".join(page))
                count += len(page)
            advance(1)
    return Counts(count, len(ids))


async def digest_of(database: Database, conversation_id: str) -> str:
    """The digest of a stored conversation's lines. Raises ConversationNotFound and CannotExport."""
    loaded = await _load(database, conversation_id)
    messages = sha256()
    async for page in _message_lines(database, loaded.head):
        messages.update(b"".join(page))
    return digest(conversation_line(loaded.conversation, loaded.head), messages.digest())


def digest(line: bytes, messages: bytes) -> str:
    """The digest of a conversation: of its line, and of the digest of its messages' lines."""
    return sha256(line + messages).hexdigest()


async def _load(database: Database, conversation_id: str) -> Outgoing:
    found = await stored.find_with_head(database, conversation_id)
    if found is None:
        raise ConversationNotFound(f"There is no conversation {conversation_id}")
    return Outgoing(*found)


async def _message_lines(database: Database, head: CounterDocument) -> AsyncIterator[list[bytes]]:
    """The lines of the messages that a head counts, page by page. Messages sent later are left out,
    so that none is exported incompletely."""
    seq = head["floorSeq"]
    async for page in stored.pages_of_messages(database, head["_id"], after=seq, upto=head["seq"]):
        # An export without them would import as if they had never been.
        if len(shapes.readable("messages", page)) < len(page):
            raise CannotExport(
                f"conversation {head['_id']} has messages that cannot be read behind seq {seq}: "
                "chat-aio check names them"
            )
        for message in page:
            seq += 1
            if message["seq"] != seq:
                raise CannotExport(_lacking(head["_id"], seq))
        yield [*map(message_line, page)]
    if seq != head["seq"]:
        raise CannotExport(_lacking(head["_id"], seq + 1))


def _lacking(conversation_id: str, seq: int) -> str:
    return (
        f"conversation {conversation_id} has no message with seq {seq}: if retention has just "
        "removed it, export again; else it is lost, and chat-aio check reports more"
    )


def conversation_line(conversation: ConversationDocument, head: CounterDocument) -> bytes:
    # In the order of joining, which every change of members keeps.
    people = sorted(
        conversation["participants"],
        key=lambda participant: (participant["joinedAt"], participant["userId"]),
    )
    line: dict[str, Any] = {
        "kind": "conversation",
        "id": conversation["_id"],
        "type": conversation["type"],
        "name": conversation["name"],
        "createdAt": timestamp(conversation["createdAt"]),
        "metadata": unescaped(conversation["metadata"]),
        "visibility": conversation["visibility"],
        "joinPolicy": conversation["joinPolicy"],
        "activityAt": timestamp(head["activityAt"]),
        "floorSeq": head["floorSeq"],
        "participants": [
            {
                "userId": person["userId"],
                "role": person["role"],
                "joinedAt": timestamp(person["joinedAt"]),
                "lastReadSeq": person["lastReadSeq"],
                "lastReadMessageId": person["lastReadMessageId"],
                **{name: person[name] for name in ("hiddenUpToSeq", "view") if name in person},
            }
            for person in people
        ],
    }
    for name in ("key", "metadataVersion", *ROOM_CONTROLS, "namedBy", "topicBy", "pins"):
        if name in conversation:
            line[name] = conversation[name]  # type: ignore[literal-required]
    return _json(line)


def message_line(message: MessageDocument) -> bytes:
    line: dict[str, Any] = {
        "kind": "message",
        "conversationId": message["conversationId"],
        "id": message["_id"],
        "seq": message["seq"],
        "senderId": message["senderId"],
        "role": message["role"],
        "body": message["body"],
        "createdAt": timestamp(message["createdAt"]),
    }
    for name in ("editedAt", "deletedAt", "changedAt"):
        if at := message.get(name):
            line[name] = timestamp(at)
    for name in ("replyToMessageId", "threadRootMessageId", "forwardedFrom", "clientMessageId"):
        if message.get(name) is not None:
            line[name] = message[name]  # type: ignore[literal-required]
    if message["threadRootMessageId"] and len(message["timelines"]) > 1:
        line["alsoSendToMain"] = True
    for name in ("mentions", "reactions"):
        if message[name]:  # type: ignore[literal-required]
            line[name] = [
                {**part, "createdAt": timestamp(part["createdAt"])}
                for part in message[name]  # type: ignore[literal-required]
            ]
    if message["metadata"]:
        line["metadata"] = unescaped(message["metadata"])
    if "metadataVersion" in message:
        line["metadataVersion"] = message["metadataVersion"]
    if "attachments" in message:
        line["attachments"] = message["attachments"]
    if "requestHash" in message:
        line["requestHash"] = message["requestHash"].hex()
    return _json(line)


def _json(line: Mapping[str, Any]) -> bytes:
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
