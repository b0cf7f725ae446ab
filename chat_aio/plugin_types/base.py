"""The base class of plugins: their routes, and the methods that they can override."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel

from chat_aio.errors import ChatError
from chat_aio.hooks import BeforeMessageSend
from chat_aio.plugin_types.files import File, Redirect, Upload
from chat_aio.plugin_types.verdicts import Verdict
from chat_aio.schema import inputs
from chat_aio.schema.models import Attachment

if TYPE_CHECKING:
    from chat_aio.actions.plugin_api import PluginAPI

I = TypeVar("I", bound=inputs.Input)  # noqa: E741


class DeliveredMessage(NamedTuple):
    """A created message that was delivered to a stream."""

    message_id: str
    conversation_id: str
    seq: int
    sender_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRequest:
    """A request to a plugin's route: the acting user, the path's parameters, the query, and the
    JSON body or the file that comes instead."""

    user_id: str
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, object]
    upload: Upload | None = None

    def read(self, shape: type[I]) -> I:
        """The JSON body as a shape of inputs. Raises InvalidInput, which names the wrong field."""
        # Through `arguments`, as routes of the chat itself: null means absent in both.
        return inputs.read(shape, **shape.arguments(self.body))


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRoute:
    """A route below the mount. `handler` returns a JSON object, or raises a ChatError. The OpenAPI
    description is made of its docstring, of `request_model` (the query of a GET, otherwise the
    body), of `response_model`, and of `errors`, the ones that `handler` raises.

    With `max_upload_bytes` the body is a file of at most that many bytes. With
    `response_model=File` the answer is a file. `rate_limit_name` is the name under which rate
    limits count its requests, by default the last word of the path; `quota` the quota that each of
    them uses, besides that of requests.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    handler: Callable[[PluginRequest], Awaitable[Mapping[str, object] | File | Redirect]]
    request_model: type[BaseModel] | None = None
    response_model: type[BaseModel] | type[File] | None = None
    errors: tuple[type[ChatError], ...] = ()
    status: int = 200
    max_upload_bytes: int | None = None
    rate_limit_name: str | None = None
    quota: Literal["messages"] | None = None

    @property
    def name(self) -> str:
        """The name under which rate limits count its requests."""
        return self.rate_limit_name or self.path.rpartition("/")[2]


class Plugin:
    """A base class with no-op methods: override those you need. One instance serves one chat.

    The notifications about streams and messages must return at once, because every delivery waits
    for them. `api` can be used from `open` on.
    """

    routes: tuple[PluginRoute, ...] = ()
    events: tuple[type[BaseModel], ...] = ()
    """The models of the events that it publishes, for the API's description."""

    api: "PluginAPI"

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

    def process_notified(self, name: str, data: Mapping[str, Any]) -> None:
        """A plugin of some process has called `api.notify_processes`."""

    async def check_message(self, message: BeforeMessageSend) -> Verdict | None:
        """Called before a message is sent, edited or forwarded, after the host's
        `before_message_send`; the message is as it would be stored. None lets it pass.

        The strictest verdict of all plugins counts. As with that hook, a plugin that raises, or
        takes longer than `hook_timeout_seconds`, makes the request fail with 500; it is not
        cancelled.
        """
        return None

    async def resolve_attachments(
        self, user_id: str, conversation_id: str, attachment_ids: Sequence[str]
    ) -> Sequence[Attachment]:
        """The attachments that a user's message to a conversation names. The plugin that overrides
        this has the attachments of the chat. Raises AttachmentNotFound."""
        return ()

    async def retain_attachments(self, attachment_ids: Sequence[str]) -> None:
        """A message is about to be stored that carries these: they must be there for the next
        minutes, whatever happens. Raises AttachmentNotFound, and the message is not stored."""

    def on_attachments_released(self, attachment_ids: Sequence[str]) -> None:
        """A message was deleted that carried these; others may still do."""

    def overrides(self, name: str) -> bool:
        """Whether this plugin overrides a notification."""
        # Of the class: the chat then skips plugins that override nothing, for each message.
        return getattr(type(self), name) is not getattr(Plugin, name)
