"""Messages: building, finding and listing them. The sequencer numbers and inserts them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

from chat_aio.schema.models import Attachment, ForwardedFrom, Message
from chat_aio.store import shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import MessageDocument, ParentDocument
from chat_aio.store.mapping import (
    EXCERPT_LENGTH,
    Parents,
    attached_from,
    message_from,
    reference_of,
)
from chat_aio.store.metadata import escaped
from chat_aio.store.rows import MOST_BYTES, Rows, read_rows
from chat_aio.store.tokenizer import search_fields

NUMBER_INDEX = "conversation_seq"

READ = {"terms": 0, "search": 0}
"""Leaves out the search fields, which are as large as the message and needed by searches only."""

WITH_TERMS = {"search": 0}


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a message in its conversation: by default in the main list, not as a reply. A
    message of a thread is in the main list as well if it is `also_send_to_main`."""

    reply_to_message_id: str | None = None
    thread_root_message_id: str | None = None
    also_send_to_main: bool = False

    def timelines(self, conversation_id: str) -> list[str]:
        if self.thread_root_message_id is None:
            return [conversation_id]
        if self.also_send_to_main:
            return [conversation_id, self.thread_root_message_id]
        return [self.thread_root_message_id]


@dataclass(frozen=True, slots=True)
class RequestKey:
    """The idempotency key of a request, and a hash of the request."""

    client_message_id: str
    request_hash: bytes


MAIN_LIST = Place()

UNDATED = datetime.min
"""The time of a message until the sequencer dates it, with its batch."""


def new_message(
    message_id: str,
    conversation_id: str,
    sender_id: str,
    body: str,
    *,
    at: datetime = UNDATED,
    role: Literal["user", "assistant", "system"] = "user",
    place: Place = MAIN_LIST,
    mentioned: Iterable[str] = (),
    forwarded_from: ForwardedFrom | None = None,
    attachments: Sequence[Attachment] = (),
    metadata: Mapping[str, Any] | None = None,
    key: RequestKey | None = None,
    searchable: bool = True,
    terms: list[str] | None = None,
    silent: bool = False,
) -> MessageDocument:
    """A message without the `seq` that the sequencer gives it, and without its time, unless it is
    an old message, which has its own.

    A searchable message has search fields; `terms` are the body's, if they are known.
    """
    message: MessageDocument = {
        "_id": message_id,
        "conversationId": conversation_id,
        "seq": 0,
        "senderId": sender_id,
        "body": body,
        "role": role,
        "createdAt": at,
        "editedAt": None,
        "deletedAt": None,
        "replyToMessageId": place.reply_to_message_id,
        "threadRootMessageId": place.thread_root_message_id,
        "timelines": place.timelines(conversation_id),
        "reactions": [],
        "mentions": [{"userId": name, "createdAt": at} for name in sorted(set(mentioned))],
        "forwardedFrom": reference_of(forwarded_from) if forwarded_from else None,
        "metadata": escaped(metadata or {}),
    }
    if attachments:
        message["attachments"] = attached_from(attachments)
    if silent:
        message["silent"] = True
    if key is not None:
        message["clientMessageId"] = key.client_message_id
        message["requestHash"] = key.request_hash
    if searchable:
        found = search_fields(conversation_id, body, terms=terms)
        message["terms"], message["search"] = found["terms"], found["search"]
    return message


async def find(
    database: Database, message_id: str, fields: Mapping[str, int] = READ
) -> MessageDocument | None:
    found = await database.read(lambda: database.messages.find_one({"_id": message_id}, fields))
    return shapes.one_readable("messages", cast(MessageDocument | None, found))


async def find_many(database: Database, ids: Sequence[str]) -> list[MessageDocument]:
    """The well-formed messages among `ids`, read at majority."""
    found = await database.read(
        lambda: database.messages.find({"_id": {"$in": list(ids)}}, READ).to_list(None)
    )
    return shapes.readable("messages", cast(list[MessageDocument], found))


async def ids_within(database: Database, conversation_id: str, ids: Sequence[str]) -> set[str]:
    """The messages of the conversation among `ids`, read at majority."""
    chosen = {"_id": {"$in": list(ids)}, "conversationId": conversation_id}
    found = await database.read(lambda: database.messages.find(chosen, {"_id": 1}).to_list(None))
    return {message["_id"] for message in found}


async def there_are(database: Database, ids: Sequence[str]) -> bool:
    """Whether all these messages exist, read at majority."""
    return bool(
        await database.read(lambda: database.messages.count_documents({"_id": {"$in": ids}}))
        == len(ids)
    )


async def find_whole_parents(
    database: Database, replies: Iterable[MessageDocument]
) -> dict[str, MessageDocument]:
    """The parents of `replies` with all fields, for a host whose hook is called for each
    message."""
    ids = _parents_of(replies)
    return {message["_id"]: message for message in await find_many(database, ids)} if ids else {}


async def read_many(database: Database, ids: Sequence[str]) -> Rows[MessageDocument]:
    """The messages among `ids`, and their size. Their times are naive UTC."""
    chosen = {"_id": {"$in": list(ids)}}
    plain = database.plain_messages
    return await read_rows(database, plain, lambda: plain.find_raw_batches(chosen, READ))


async def find_parents(database: Database, replies: Iterable[MessageDocument]) -> Parents:
    """The parents of `replies`, with the fields that a preview shows; one query, or none."""
    ids = _parents_of(replies)
    if not ids:
        return {}
    # `$substrCP` fails the whole query for a body that is not a string, which another program may
    # have written.
    is_text = {"$eq": [{"$type": "$body"}, "string"]}
    shown = {
        "seq": 1,
        "senderId": 1,
        "deletedAt": 1,
        # One character more than a preview has: it shows that the body is longer.
        "body": {"$cond": [is_text, {"$substrCP": ["$body", 0, EXCERPT_LENGTH + 1]}, ""]},
    }
    found = await database.read(
        lambda: database.messages.find({"_id": {"$in": ids}}, shown).to_list(None)
    )
    return {
        message["_id"]: cast(ParentDocument, message)
        for message in shapes.readable("messages", found, shape=ParentDocument)
    }


def _parents_of(replies: Iterable[MessageDocument]) -> list[str]:
    """The ids of the parents, without other values that another program may have written."""
    named = (reply.get("replyToMessageId") for reply in replies)
    return list({message_id for message_id in named if isinstance(message_id, str)})


async def with_previews(
    database: Database, documents: Sequence[MessageDocument]
) -> tuple[Message, ...]:
    """Convert messages, replies with their parent as it is now; malformed ones are left out."""
    found = shapes.readable("messages", documents)
    parents = await find_parents(database, found)
    return tuple(message_from(message, parents, database.optional_fields) for message in found)


Key = tuple[str, str, str]
"""The scope in which an idempotency key is unique: (conversation, sender, key)."""


def with_key(key: Key) -> dict[str, object]:
    """The query for the message with an idempotency key."""
    # Without the type MongoDB does not use the partial index, and scans the conversation.
    conversation_id, sender_id, name = key
    return {
        "conversationId": conversation_id,
        "senderId": sender_id,
        "clientMessageId": {"$eq": name, "$type": "string"},
    }


async def find_repeated(database: Database, key: Key) -> MessageDocument | None:
    """The message that was sent with this idempotency key, None if the key is new."""
    found = await database.read(lambda: database.messages.find_one(with_key(key), READ))
    return cast(MessageDocument | None, found)


async def is_any_in_thread(
    database: Database, conversation_id: str, root_id: str, *, above: int
) -> bool:
    """Whether a thread has replies above seq `above`, also if its root was removed."""
    chosen = {
        "timelines": root_id,
        "conversationId": conversation_id,
        "threadRootMessageId": root_id,
        "seq": {"$gt": above},
    }
    found = await database.read(lambda: database.messages.find_one(chosen, {"_id": 1}))
    return found is not None


async def list_newest(
    database: Database, timeline: str, before: int | None, *, limit: int, above: int = 0
) -> Rows[MessageDocument]:
    """Messages of a main list or thread below seq `before` and above seq `above`, by descending
    seq; fewer than `limit` if they are large. Their times are naive UTC."""
    span: dict[str, object] = {"$type": shapes.WHOLE}
    if before is not None:
        span["$lt"] = before
    if above:
        span["$gt"] = above
    chosen = {"timelines": timeline, "seq": span}

    plain = database.plain_messages

    def cursor() -> Any:
        # In one batch: by default MongoDB puts 101 rows into the first one.
        found = plain.find_raw_batches(chosen, READ, batch_size=limit)
        return found.sort("seq", -1).limit(limit)

    return await read_rows(database, plain, cursor, most=MOST_BYTES)


async def list_oldest(
    database: Database, timeline: str, after: int, *, limit: int
) -> Rows[MessageDocument]:
    """As `list_newest`, messages above seq `after` by ascending seq.

    There are at most 512 KiB of them, whose JSON cannot be larger than an answer may be: a
    truncated page loses its oldest messages, which are the nearest here.
    """
    chosen = {"timelines": timeline, "seq": {"$type": shapes.WHOLE, "$gt": after}}
    plain = database.plain_messages

    def cursor() -> Any:
        found = plain.find_raw_batches(chosen, READ, batch_size=limit)
        return found.sort("seq", 1).limit(limit)

    return await read_rows(database, plain, cursor, most=MOST_BYTES // 8)


async def list_after(
    database: Database, conversation_id: str, *, after: int, limit: int
) -> list[MessageDocument]:
    """The messages of a conversation above seq `after`, with thread replies, by ascending seq."""
    found = await database.read(
        lambda: (
            database.messages.find(
                {
                    "conversationId": conversation_id,
                    "seq": {"$type": shapes.WHOLE, "$gt": after},
                },
                READ,
            )
            .sort("seq", 1)
            .limit(limit)
            .to_list(None)
        )
    )
    return cast(list[MessageDocument], found)
