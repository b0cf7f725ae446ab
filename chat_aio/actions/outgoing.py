"""What travels from an action to the sequencer: a message that is about to be sent."""

from dataclasses import dataclass, field
from hashlib import sha256

import orjson

from chat_aio.hooks import BeforeMessageSend
from chat_aio.schema import inputs
from chat_aio.store.messages import Place, RequestKey
from chat_aio.store.snapshots import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message that was checked on `snapshot`.

    `content` is what the host and the plugins are asked about, and later what they have agreed to.
    `key` recognises a repeated request. `terms` are the search terms of the body, if they are
    known. A message that was held has its `message_id`, and slow mode does not apply to it.
    """

    content: BeforeMessageSend
    snapshot: Snapshot
    place: Place = field(default_factory=Place)
    key: RequestKey | None = None
    terms: list[str] | None = None
    message_id: str | None = None
    in_slow_mode: bool = True


def request_key(
    given: inputs.NewMessage | inputs.Forwarding, *, copied: str | None = None
) -> RequestKey | None:
    """The idempotency key of a request, None without one. The hash covers all fields of the request
    but the key, before the host's hook; `copied` is the message that is forwarded."""
    if given.client_message_id is None:
        return None
    request = given.model_dump(exclude={"client_message_id"}, exclude_none=True)
    if copied is not None:
        request["forwarded"] = copied
    digest = sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).digest()
    return RequestKey(given.client_message_id, digest)
