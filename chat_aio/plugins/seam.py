"""What a plugin may call: the public seam between the chat and its plugins."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import datetime
from typing import Any, TypeVar

from chat_aio.actions.access import load_writable, require_unblocked
from chat_aio.actions.visibility import noticeable
from chat_aio.context import Context
from chat_aio.models import timestamp
from chat_aio.store import conversations
from chat_aio.store.signals import Note
from chat_aio.store.transactions import Session, transact_unique

__all__ = ["Note", "Seam", "Session"]

T = TypeVar("T")


class Seam:
    """One chat, as its plugins see it."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def now(self) -> datetime:
        return self._context.clock()

    def new_id(self) -> str:
        return self._context.new_id()

    def tell(self, *events: Note) -> None:
        """Send ephemeral events on their way to the streams of all processes.

        It never waits; they are never stored, and may be lost.
        """
        self._context.signals.tell(*events)

    async def tell_within(self, session: Session, event: Note) -> None:
        """Send an event in a transaction, so that it is told if, and when, that is committed."""
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
    ) -> Note:
        """An event in the contract's shape: for the other participants of its conversation, or of
        several, or for some users among them; never for the sender.

        With `Options(separate_blocked=True)` nobody hears of it whom the sender has blocked, or who
        has blocked them. An event that `needs_exchange`, as presence does, is told with
        `Options(presence_needs_exchange=True)` only to those who have written in one of its
        conversations in which the sender has.
        """
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
        return Note(
            name=name,
            data=data,
            conversation_ids=tuple(to_conversations),
            user_ids=tuple(to_users),
            but=sender_id,
            needs_exchange=needs_exchange,
        )

    async def require_writable(self, user_id: str, conversation_id: str) -> None:
        """Raise ConversationNotFound, ForbiddenWrite, DirectInteractionBlocked as a send would."""
        snapshot = await load_writable(self._context, user_id, conversation_id)
        await require_unblocked(self._context, snapshot)

    async def conversation_ids_of(self, user_id: str) -> list[str]:
        """The conversations that a user is in."""
        return await conversations.ids_of_user(self._context.database, user_id)

    async def who_share(self, user_id: str, others: Collection[str]) -> set[str]:
        """Those of `others` who are in a conversation with a user."""
        return await conversations.who_share(self._context.database, user_id, others)

    async def whom_to_notice(self, user_id: str, others: Collection[str]) -> set[str]:
        """Those of `others` who share a conversation with a user, and whose presence they may see:
        `Options.separate_blocked` and `Options.presence_needs_exchange` leave some out."""
        return await noticeable(self._context, user_id, await self.who_share(user_id, others))

    async def read(self, call: Callable[[], Awaitable[T]]) -> T:
        """What `call` reads: `await seam.read(lambda: collection.find_one({"_id": name}))`.

        Bounded in time, and never cancelled: a caller that is cancelled stops waiting, the call
        ends by itself. Raises StorageUnavailable where the database is out of reach.
        """
        return await self._context.database.read(call)

    async def write(self, call: Callable[[], Awaitable[T]]) -> T:
        """A write of one document, as `read`; tried again where it conflicts with another."""
        return await self._context.database.write(call)

    def collection(self, name: str) -> Any:
        """A collection of the chat's database, for what a plugin keeps; durable on a majority. Ask
        for it each time: the client behind it may have been replaced."""
        return self._context.database.collection(name)

    async def transact(self, body: Callable[[Session], Awaitable[T]]) -> T:
        """Run `body` in a transaction, again where it conflicts. Raises StorageUnavailable."""
        return await transact_unique(self._context.database, body)
