"""What a plugin is: routes of its own, and what it may hear of while the chat runs."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pydantic import BaseModel

from chat_aio.plugins.api import PluginAPI


class DeliveredMessage(NamedTuple):
    """A created message, as a stream was told of it."""

    message_id: str
    conversation_id: str
    seq: int
    sender_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRequest:
    """A request to a plugin's route: who acts, and what stands in path, query and JSON body."""

    user_id: str
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRoute:
    """A route below the mount. `handler` answers with a JSON object, or raises a ChatError; its
    docstring, `takes` (the query of a GET, the body of a POST) and `gives` describe it."""

    method: Literal["GET", "POST"]
    path: str
    handler: Callable[[PluginRequest], Awaitable[Mapping[str, object]]]
    takes: type[BaseModel] | None = None
    gives: type[BaseModel] | None = None

    @property
    def name(self) -> str:
        """What its requests are counted as: the last word of the path."""
        return self.path.rpartition("/")[2]


class Plugin:
    """Override what is needed. One instance serves one chat.

    What is told of streams and messages must return at once: it is on the way of everything that
    is delivered. `api` is there from `open` on.
    """

    routes: tuple[PluginRoute, ...] = ()
    events: tuple[type[BaseModel], ...] = ()
    """The shapes of what it tells, for the API's description."""

    api: PluginAPI

    async def open(self) -> None:
        """The chat has begun to follow the database."""

    async def close(self) -> None:
        """The chat is closing; its streams have ended."""

    def stream_opened(self, user_id: str) -> None:
        """A stream of this process is live."""

    async def stream_opening(self, user_id: str) -> None:
        """Behind `stream_opened`, and before the client has an answer: what must be true by then. A
        stream waits a second at most, and opens also where this fails."""

    def stream_closed(self, user_id: str) -> None:
        """A stream that was opened is over."""

    def message_delivered(self, user_id: str, message: DeliveredMessage) -> None:
        """A stream of this user's was told of somebody else's message, live or in a replay."""

    def message_read(self, user_id: str, conversation_id: str, message_id: str) -> None:
        """A user has marked a message read."""

    def overrides(self, name: str) -> bool:
        """Whether this plugin wants to hear of something."""
        return getattr(type(self), name) is not getattr(Plugin, name)
