"""The road of a new message, for a send and a forward: repeats, mentions, the host, the write."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any, Literal

import orjson

from chat_aio.actions.context import Context
from chat_aio.actions.guards import within
from chat_aio.actions.host_hooks import ask_host, tell_host
from chat_aio.actions.mentions import holding, load_checked, load_mentionable
from chat_aio.actions.reading import load_parents, load_parents_of_own
from chat_aio.capabilities import Capability
from chat_aio.errors import InternalError, MessageConflict, StorageUnavailable
from chat_aio.hooks import BeforeMessageSend
from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import Observer
from chat_aio.schema.inputs import Forwarding, NewMessage
from chat_aio.schema.models import Message
from chat_aio.store import messages
from chat_aio.store.documents import ForwardedFromDocument, MessageDocument
from chat_aio.store.drafts import Appended, EpochMoved
from chat_aio.store.mapping import forwarded_from_of, message_from
from chat_aio.store.metadata import escaped
from chat_aio.store.shapes import readable
from chat_aio.store.snapshots import Snapshot


@dataclass(frozen=True, slots=True)
class Sent:
    """A message, and whether an earlier request with the same key had stored it already."""

    message: Message
    repeated: bool


async def find_repeated(
    context: Context, user_id: str, conversation_id: str, given: NewMessage | Forwarding, **of: str
) -> Sent | None:
    """What an earlier request with the same idempotency key has stored; MessageConflict if that
    was another request (docs/behaviour.md 4.9)."""
    if given.client_message_id is None:
        return None
    key = conversation_id, user_id, given.client_message_id
    stored = await messages.find_repeated(context.database, key)
    return await _repeated(context, stored, request_hash(given, **of)) if stored else None


def request_hash(given: NewMessage | Forwarding, **of: str) -> bytes:
    """What a request is recognised by: everything in it but its key, before any hook."""
    request = given.model_dump(exclude={"client_message_id"}, exclude_none=True)
    return sha256(orjson.dumps({**request, **of}, option=orjson.OPT_SORT_KEYS)).digest()


async def post(
    context: Context,
    user_id: str,
    snapshot: Snapshot,
    asked: BeforeMessageSend,
    *,
    key: str | None,
    hashed: bytes,
    ready: Callable[[], Awaitable[None]] | None = None,
    copied: MessageDocument | None = None,
    **placed: Any,
) -> Sent:
    """Check the mentions, ask the host, store the message, tell the host.

    `snapshot` is one on which `user_id` may write; `placed` are the message's fields beyond what
    the host is asked about. `ready` looks again, behind the host's answer, at what it is made of.
    The terms of `copied` are kept while the host leaves its body as it is.
    """
    snapshot = await load_mentionable(context, user_id, snapshot, asked.mentions)
    asked = await ask_host(context, asked)
    if ready is not None:
        await ready()
    if copied is not None and copied["body"] == asked.body:
        placed["terms"] = copied.get("terms")
    message = await _made(context, snapshot, asked, **placed)
    if key is not None:
        message["clientMessageId"], message["requestHash"] = key, hashed
    parents = await load_parents(context, user_id, [message])
    appended = await _append(context, user_id, message, asked.mentions, epoch=snapshot.epoch)
    if appended.repeated:
        return await _repeated(context, appended.message, hashed)
    notify(context.observers, Observer.message_sent, "stored")
    sent = message_from(appended.message, parents)
    await tell_host(context, user_id, "created", sent, snapshot.conversation)
    return Sent(sent, repeated=False)


async def _made(
    context: Context, snapshot: Snapshot, asked: BeforeMessageSend, **placed: Any
) -> MessageDocument:
    make = partial(_new_message, context, snapshot, asked, **placed)
    return await context.database.turns.on_text(asked.body, make)


def _new_message(
    context: Context, snapshot: Snapshot, asked: BeforeMessageSend, **placed: Any
) -> MessageDocument:
    return messages.new_message(
        context.new_id(),
        snapshot.conversation.id,
        asked.user_id,
        asked.body,
        at=context.clock(),
        role=asked.role,
        metadata=escaped(asked.metadata),
        mentioned=asked.mentions,
        searchable=Capability.SEARCH in context.capabilities,
        **placed,
    )


def question(
    kind: Literal["send", "forward"],
    user_id: str,
    snapshot: Snapshot,
    body: str,
    given: NewMessage | Forwarding,
    *,
    forwarded_from: ForwardedFromDocument | None = None,
) -> BeforeMessageSend:
    """What the host is asked about a new message."""
    return BeforeMessageSend(
        user_id=user_id,
        kind=kind,
        conversation=snapshot.conversation,
        body=body,
        role=given.role or "user",
        metadata=given.metadata or {},
        mentions=tuple(given.mentions or ()),
        forwarded_from=forwarded_from_of(forwarded_from),
    )


async def _repeated(context: Context, stored: MessageDocument, hashed: bytes) -> Sent:
    if stored.get("requestHash") != hashed or not readable("messages", [stored]):
        raise MessageConflict
    notify(context.observers, Observer.message_sent, "repeated")
    parents = await load_parents_of_own(context, stored["senderId"], stored)
    return Sent(message_from(stored, parents), repeated=True)


async def _append(
    context: Context,
    user_id: str,
    message: MessageDocument,
    mentioned: tuple[str, ...],
    *,
    epoch: int,
) -> Appended:
    """Hand a checked message to the sequencer; where membership moved meanwhile, check it again.

    The host's hook is not run again. StorageUnavailable where each check is outdated at once.
    """
    holds = holding(context, user_id, mentioned)
    for _ in within(context):
        try:
            return await context.sequencer.append(message, epoch=epoch, holds=holds)
        except EpochMoved as moved:
            snapshot = await load_checked(
                context, user_id, message["conversationId"], mentioned, epoch=moved.epoch
            )
            epoch = snapshot.epoch
        except (InternalError, StorageUnavailable):
            notify(context.observers, Observer.message_sent, "failed")
            raise
    raise StorageUnavailable
