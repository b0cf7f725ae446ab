"""The plugin API (`chat_aio.plugins.PluginAPI`) of one chat."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

from chat_aio.actions.api import ServerAPI
from chat_aio.actions.attachments import may_read_attachment
from chat_aio.actions.audience import audiences_of
from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_readable, load_writable, require_user
from chat_aio.actions.held_messages import (
    discard_held_message,
    list_held_messages,
    release_held_message,
)
from chat_aio.actions.presence import noticeable
from chat_aio.actions.writing import require_open
from chat_aio.observability.dispatch import notify
from chat_aio.plugins.api import Audience, PluginAPI
from chat_aio.schema.models import Conversation, HeldMessagePage, Message
from chat_aio.schema.wire import timestamp
from chat_aio.store import attachments, conversations, created_messages
from chat_aio.store.created_messages import CreatedMessage, CreatedMessages, Position
from chat_aio.store.maintenance.legal_holds import kept_users
from chat_aio.store.many_writes import Write, write_many
from chat_aio.store.signals import EphemeralEvent
from chat_aio.store.transactions import Session, transact_unique
from chat_aio.store.turns import SHORT_TEXT

T = TypeVar("T")
P = ParamSpec("P")


class Services(PluginAPI):
    """Implements the plugin API with the actions and the store of one chat."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._server_api = ServerAPI(context)

    @property
    def hook_timeout_seconds(self) -> float:
        return self._context.options.hook_timeout_seconds

    @property
    def max_message_length(self) -> int:
        return self._context.options.max_message_length

    def now(self) -> datetime:
        return self._context.clock()

    def new_id(self) -> str:
        return self._context.new_id()

    def publish(self, *events: EphemeralEvent) -> None:
        self._context.signals.publish(*events)

    async def publish_within(self, session: Session, event: EphemeralEvent) -> None:
        await self._context.signals.write([event], session=session)

    def ephemeral(
        self,
        name: str,
        sender_id: str,
        payload: Mapping[str, object],
        *,
        conversation_id: str | None = None,
        to_conversations: Collection[str] = (),
        to_users: Collection[str] = (),
        needs_exchange: bool = False,
    ) -> EphemeralEvent:
        here = {} if conversation_id is None else {"conversationId": conversation_id}
        data = {
            "ephemeral": True,
            **here,
            "senderId": sender_id,
            "payload": payload,
            "at": timestamp(self.now()),
        }
        if conversation_id is not None:
            to_conversations = [*to_conversations, conversation_id]
        return EphemeralEvent(
            name=name,
            data=data,
            conversation_ids=tuple(to_conversations),
            user_ids=tuple(to_users),
            but=sender_id,
            needs_exchange=needs_exchange,
        )

    async def require_user(self, user_id: str) -> None:
        await require_user(self._context, user_id)

    async def require_writable(self, user_id: str, conversation_id: str) -> None:
        snapshot = await load_writable(self._context, user_id, conversation_id)
        await require_open(self._context, user_id, snapshot)

    async def load_readable(self, user_id: str, conversation_id: str) -> Conversation:
        return (await load_readable(self._context, user_id, conversation_id)).conversation

    async def may_read_attachment(self, user_id: str, attachment_id: str) -> bool:
        return await may_read_attachment(self._context, user_id, attachment_id)

    async def carried_attachments(self, attachment_ids: Sequence[str]) -> set[str]:
        return await attachments.carried(self._context.database, attachment_ids)

    async def users_on_hold(self) -> set[str]:
        return set(await kept_users(self._context.database))

    async def follow_created(self, after: Position | None = None) -> CreatedMessages:
        database, clock = self._context.database, self._context.clock
        return await created_messages.follow(database, clock=clock, after=after)

    def created_since(self, at: datetime) -> AsyncIterator[Sequence[CreatedMessage]]:
        return created_messages.created_since(self._context.database, at)

    async def audiences_of(self, message_ids: Collection[str]) -> dict[str, Audience]:
        return await audiences_of(self._context, message_ids)

    def notify_observers(
        self, event: Callable[Concatenate[Any, P], None], *said: P.args, **named: P.kwargs
    ) -> None:
        notify(self._context.observers, event, *said, **named)

    async def conversation_ids_of(self, user_id: str) -> list[str]:
        return await conversations.ids_of_user(self._context.database, user_id)

    async def who_share(self, user_id: str, others: Collection[str]) -> set[str]:
        return await conversations.who_share(self._context.database, user_id, others)

    async def whom_to_notice(self, user_id: str, others: Collection[str]) -> set[str]:
        return await noticeable(self._context, user_id, await self.who_share(user_id, others))

    async def read(self, call: Callable[[], Awaitable[T]]) -> T:
        return await self._context.database.read(call)

    async def write(self, call: Callable[[], Awaitable[T]]) -> T:
        return await self._context.database.write(call)

    async def aggregate(self, collection: str, stages: Sequence[Mapping[str, Any]]) -> list[Any]:
        return await self._context.database.aggregate(self.collection(collection), stages)

    async def write_many(self, collection: str, writes: Sequence[Write]) -> None:
        await write_many(self._context.database, self.collection(collection), writes)

    def collection(self, name: str) -> Any:
        return self._context.database.collection(name)

    async def transact(self, body: Callable[[Session], Awaitable[T]]) -> T:
        return await transact_unique(self._context.database, body)

    async def on_text(self, text: str, work: Callable[[], T]) -> T:
        turns = self._context.database.turns
        return work() if len(text) <= SHORT_TEXT else await turns.alone(work)

    async def send_message(
        self, user_id: str, conversation_id: str, body: str, **given: Any
    ) -> Message:
        return await self._server_api.send_message(user_id, conversation_id, body, **given)

    async def list_held_messages(
        self, user_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> HeldMessagePage:
        return await list_held_messages(self._context, user_id, limit=limit, cursor=cursor)

    async def release_held_message(self, user_id: str, held_id: str) -> Message:
        return await release_held_message(self._context, user_id, held_id)

    async def discard_held_message(self, user_id: str, held_id: str) -> None:
        await discard_held_message(self._context, user_id, held_id)
