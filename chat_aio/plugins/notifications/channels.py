"""Where notifications go: a function of the host's, webhooks, Web Push."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256

from chat_aio.actions.plugin_api import Conversation, PluginAPI
from chat_aio.schema.inbox import UnreadTotals
from chat_aio.schema.models import BareMessage, User
from chat_aio.schema.wire import timestamp
from chat_aio.tasks import answered

EXCERPT = 140


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """The notification of one user: an unseen message, in its current state.

    `count` is the number of messages of the conversation that it represents, this one the newest.
    `id` is the same at each try, so receivers can recognise a repetition. `unread` is the user's
    number of unread messages at this try, with the option `inbox`. `sender` is the host's name and
    image of the message's sender, if it has `profiles`.
    """

    user_id: str
    message: BareMessage
    conversation: Conversation
    mentioned: bool
    count: int = 1
    tries: int = 0
    unread: UnreadTotals | None = None
    sender: User | None = None

    @property
    def id(self) -> str:
        return sha256(f"{self.message.id}\0{self.user_id}".encode()).hexdigest()[:32]

    @property
    def excerpt(self) -> str:
        """The first 140 code points of the message."""
        body = self.message.body
        return body if len(body) <= EXCERPT else body[:EXCERPT] + "…"

    def brief(self) -> dict[str, object]:
        """The notification as JSON, without more of the message than an excerpt."""
        return {
            "id": self.id,
            "userId": self.user_id,
            "conversationId": self.conversation.id,
            "conversationType": self.conversation.type,
            "conversationName": self.conversation.name,
            "messageId": self.message.id,
            "seq": self.message.seq,
            "senderId": self.message.sender_id,
            "createdAt": timestamp(self.message.created_at),
            "excerpt": self.excerpt,
            "mentioned": self.mentioned,
            "count": self.count,
            **self._sender(),
            **self._numbers(),
        }

    def _sender(self) -> dict[str, object]:
        if self.sender is None:
            return {}
        return {"senderName": self.sender.name, "senderAvatarUrl": self.sender.avatar_url}

    def _numbers(self) -> dict[str, object]:
        """The unread messages, and as `badge` what the icon of an app shows."""
        if self.unread is None:
            return {}
        return {"unread": self.unread, "badge": self.unread.unmuted.messages}


Deliver = Callable[[Notification], Awaitable[None]]


class Channel(ABC):
    """One way out. `send` adds to `done` what need not be repeated, and raises if anything else is
    left."""

    name = "channel"

    async def open(self, api: PluginAPI) -> None:
        """The chat opens."""
        return

    async def close(self) -> None:
        """The chat closes."""
        return

    @abstractmethod
    async def send(self, notification: Notification, done: set[str]) -> None: ...


class Function(Channel):
    """An async function of the host's, which has `seconds` for each call and is never cancelled."""

    name = "deliver"

    def __init__(self, deliver: Deliver, *, seconds: float) -> None:
        self._deliver = deliver
        self._seconds = seconds

    async def send(self, notification: Notification, done: set[str]) -> None:
        # A retry of another channel must not deliver here a second time.
        if self.name not in done:
            # Not cancelled: it may be in a call of the host's driver.
            await answered(self._deliver(notification), self._seconds)
            done.add(self.name)
