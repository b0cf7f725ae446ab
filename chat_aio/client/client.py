"""ChatClient: one user's access to a service, with the method names of the server API."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from aiohttp import ClientSession

from chat_aio.client.attachments import AttachmentRoutes
from chat_aio.client.connection import Connection, HeadersSource
from chat_aio.client.conversations import ConversationRoutes, Conversations
from chat_aio.client.drafts import DraftRoutes
from chat_aio.client.inbox import Inbox
from chat_aio.client.joining import GroupAccess
from chat_aio.client.messages import Messages
from chat_aio.client.moderation import Moderation
from chat_aio.client.moderation_tools import ModerationTools
from chat_aio.client.notifications import NotificationRoutes
from chat_aio.client.plugin_routes import Company
from chat_aio.client.rooms import Rooms
from chat_aio.client.stream import ATTEMPTS, EventStream


class ChatClient(Conversations, Messages, GroupAccess, Company):
    """A client of the service at `base_url`, such as `https://example.org/api/chat`. Use it as
    `async with ChatClient(...) as client`.

    The caller is authenticated by `headers`, a mapping or a function that returns one (it may be
    async, and is called before each request), or by the cookies of an aiohttp `session`, which its
    owner must close.

    Results are objects of `chat_aio.schema.models`. A refusal raises the ChatError class of its
    code; without an answer, an error of aiohttp or a TimeoutError is raised. Reads, sends and
    forwards are repeated for `retry_seconds` after a cut connection, 429, 502, 503 and 504; other
    writes are not. A stream is opened again for as long as it takes, but if it is answered 500
    `stream_attempts` times in a row, it raises InternalError.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: HeadersSource | None = None,
        session: ClientSession | None = None,
        retry_seconds: float = 30.0,
        stream_attempts: int = ATTEMPTS,
    ) -> None:
        super().__init__(Connection(base_url, headers, session, retry_seconds))
        self.moderation = Moderation(self._connection)
        self.conversations = ConversationRoutes(self._connection)
        self.rooms = Rooms(self._connection)
        self.inbox = Inbox(self._connection)
        self.moderation_tools = ModerationTools(self._connection)
        self.drafts = DraftRoutes(self._connection)
        self.notifications = NotificationRoutes(self._connection)
        self.attachments = AttachmentRoutes(self._connection)
        self._stream_attempts = stream_attempts
        self._streams: list[EventStream] = []

    def stream(
        self,
        last_event_id: str | None = None,
        *,
        conversation_ids: Sequence[str] | None = None,
        heartbeat_seconds: float = 15.0,
    ) -> EventStream:
        """The live events, from now on or from a stored position. The stream ends with the client.

        With `conversation_ids` (option `supervisors`) it follows these conversations, also those
        that the user is not in: it has no positions, and after a reconnect begins with a
        ResetEvent.

        If nothing arrives for three times `heartbeat_seconds`, the connection counts as lost.
        """
        # Closed ones are forgotten: a client that lives long may open many.
        self._streams = [opened for opened in self._streams if not opened.closed]
        attempts = self._stream_attempts
        stream = EventStream(
            self._connection, last_event_id, heartbeat_seconds, attempts, conversation_ids
        )
        self._streams.append(stream)
        return stream

    async def __aenter__(self) -> Self:
        self._connection.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for opened in self._streams:
            opened.close()
        await self._connection.close()
