"""Idempotency keys: a request that is repeated with its key stores no second message.

A key is unique within its conversation and sender. Sends and forwards share this scope, and held
messages have the same (specification 4.9).
"""

from dataclasses import dataclass
from hashlib import sha256

import orjson

from chat_aio.actions.context import Context
from chat_aio.actions.reading import load_parents_of_own
from chat_aio.actions.screening import screens
from chat_aio.errors import MessageConflict, MessageHeld
from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import Observer
from chat_aio.schema import inputs
from chat_aio.schema.models import Message, OptionalFields
from chat_aio.store import held_messages, messages
from chat_aio.store.documents import MessageDocument
from chat_aio.store.mapping import Parents, message_from, message_json
from chat_aio.store.messages import RequestKey
from chat_aio.store.shapes import readable


@dataclass(frozen=True, slots=True)
class Sent:
    """A message, and whether an earlier request with the same idempotency key has stored it.

    Callers in process get an object; HTTP gets JSON, for which no object is made (decision 0053).
    """

    document: MessageDocument
    parents: Parents
    optional: OptionalFields
    repeated: bool

    @property
    def message(self) -> Message:
        return message_from(self.document, self.parents, self.optional)

    def json(self) -> bytes:
        """The JSON of `message`."""
        return message_json(self.document, self.parents, self.optional)


def request_key(
    given: inputs.NewMessage | inputs.Forwarding, name: str, *, copied: str | None = None
) -> RequestKey:
    """The idempotency key of this name, with the hash of its request. The hash covers all fields
    except the key, before the host's hook; `copied` is the forwarded message."""
    request = given.model_dump(exclude={"client_message_id"}, exclude_none=True)
    if copied is not None:
        request["forwarded"] = copied
    # Sorted: a client may write the keys of its metadata in another order when it tries again.
    digest = sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).digest()
    return RequestKey(name, digest)


async def find_repeated(
    context: Context, user_id: str, conversation_id: str, key: RequestKey
) -> Sent | None:
    """The message that an earlier request with the same idempotency key has stored. Raises
    MessageConflict if that was a different request, and MessageHeld if the earlier one is held,
    whatever the plugins' verdict would be now."""
    scope = conversation_id, user_id, key.client_message_id
    if stored := await messages.find_repeated(context.database, scope):
        return await repeated(context, stored, key.request_hash)
    # Without a plugin that holds messages no request makes this second query.
    if screens(context) and (held := await held_messages.find_repeated(context.database, scope)):
        if held.get("requestHash") != key.request_hash or not readable("held_messages", [held]):
            raise MessageConflict
        raise MessageHeld(held["reason"])
    return None


async def repeated(context: Context, stored: MessageDocument, hashed: bytes) -> Sent:
    """The message that another request with the same idempotency key has stored, as it is now.
    Raises MessageConflict unless that request had this hash."""
    # The repetition of a message that another program has corrupted cannot be compared, nor shown.
    if stored.get("requestHash") != hashed or not readable("messages", [stored]):
        raise MessageConflict
    notify(context.observers, Observer.message_sent, "repeated")
    parents = await load_parents_of_own(context, stored["senderId"], stored)
    return Sent(stored, parents, context.database.optional_fields, repeated=True)
