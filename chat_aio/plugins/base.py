"""The base class of plugins: their routes, and the notifications that they can override."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pydantic import BaseModel

from chat_aio.errors import ChatError
from chat_aio.plugins.api import BeforeMessageSend, PluginAPI
from chat_aio.plugins.verdicts import Verdict


class DeliveredMessage(NamedTuple):
    """A created message that was delivered to a stream."""

    message_id: str
    conversation_id: str
    seq: int
    sender_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRequest:
    """A request to a plugin's route: the acting user, the path's parameters, the query and the JSON
    body."""

    user_id: str
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRoute:
    """A route below the mount. `handler` returns a JSON object or raises a ChatError. The OpenAPI
    description is made of its docstring, of `takes` (the query of a GET, otherwise the body), of
    `gives`, and of `errors`, the ones that `handler` raises."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    handler: Callable[[PluginRequest], Awaitable[Mapping[str, object]]]
    takes: type[BaseModel] | None = None
    gives: type[BaseModel] | None = None
    errors: tuple[type[ChatError], ...] = ()

    @property
    def name(self) -> str:
        """The name under which rate limits count its requests: the last word of the path."""
        return self.path.rpartition("/")[2]


class Plugin:
    """A base class with no-op methods: override those you need. One instance serves one chat.

    The notifications about streams and messages must return at once, because every delivery waits
    for them. `api` can be used from `open` on.
    """

    routes: tuple[PluginRoute, ...] = ()
    events: tuple[type[BaseModel], ...] = ()
    """The models of the events that it publishes, for the API's description."""

    api: PluginAPI

    async def open(self) -> None:
        """The chat opens; it already follows the database."""

    async def close(self) -> None:
        """The chat closes; its streams have ended."""

    def stream_opened(self, user_id: str) -> None:
        """A stream of this user opens on this process."""

    async def stream_opening(self, user_id: str) -> None:
        """Called after `stream_opened`, and awaited before the client gets an answer: do here what
        must be done by then. The stream waits for one second at most, and opens even if this fails.
        """

    def stream_closed(self, user_id: str) -> None:
        """A stream has ended, after it was opened."""

    def message_delivered(self, user_id: str, message: DeliveredMessage) -> None:
        """Somebody else's message was delivered to a stream of this user, live or in a replay."""

    def message_read(self, user_id: str, conversation_id: str, message_id: str) -> None:
        """A user has marked a message read."""

    async def message_sending(self, message: BeforeMessageSend) -> Verdict | None:
        """Asked before a message is sent, edited or forwarded, after the host's
        `before_message_send`; the message is as it would be stored. None lets it pass.

        The strictest verdict of all plugins counts. As with that hook, a plugin that raises, or
        takes longer than `hook_timeout_seconds`, makes the request fail with 500; it is not
        cancelled.
        """
        return None

    def overrides(self, name: str) -> bool:
        """Whether this plugin overrides a notification."""
        return getattr(type(self), name) is not getattr(Plugin, name)
