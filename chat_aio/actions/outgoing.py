"""The data that an action hands to the sequencer: a message that is about to be sent."""

from dataclasses import dataclass, field

from chat_aio.hooks import BeforeMessageSend
from chat_aio.store.messages import Place, RequestKey
from chat_aio.store.snapshots import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message that was checked on `snapshot`.

    `content` is passed to the host's hook and the plugins, and later contains the result. `key`
    recognises a repeated request. `terms` are the search terms of the body, if they are known. A
    message that was held has its `message_id`, and slow mode does not apply to it. Nobody
    is notified of a `silent` one.
    """

    content: BeforeMessageSend
    snapshot: Snapshot
    place: Place = field(default_factory=Place)
    key: RequestKey | None = None
    terms: list[str] | None = None
    message_id: str | None = None
    # A moderator decides when a held message is released, so its sender need not wait again.
    in_slow_mode: bool = True
    silent: bool = False
