"""What a plugin may call: the public API between the chat and its plugins."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import datetime
from typing import Any, Protocol, TypeVar

from chat_aio.store.signals import EphemeralEvent
from chat_aio.store.transactions import Session

__all__ = ["EphemeralEvent", "PluginAPI", "Session"]

T = TypeVar("T")


class PluginAPI(Protocol):
    """One chat, as its plugins see it."""

    def now(self) -> datetime: ...

    def new_id(self) -> str: ...

    def publish(self, *events: EphemeralEvent) -> None:
        """Send ephemeral events on their way to the streams of all processes.

        It never waits; they are never stored, and may be lost.
        """

    async def publish_within(self, session: Session, event: EphemeralEvent) -> None:
        """Send an event in a transaction, so that it is told if, and when, that is committed."""

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
        """An event in the contract's shape: for the other participants of its conversation, or of
        several, or for some users among them; never for the sender.

        With `Options(separate_blocked=True)` nobody hears of it whom the sender has blocked, or who
        has blocked them. An event that `needs_exchange`, as presence does, is told with
        `Options(presence_needs_exchange=True)` only to those who have written in one of its
        conversations in which the sender has.
        """

    async def require_writable(self, user_id: str, conversation_id: str) -> None:
        """Raise ConversationNotFound, ForbiddenWrite, DirectInteractionBlocked as a send would."""

    async def conversation_ids_of(self, user_id: str) -> list[str]:
        """The conversations that a user is in."""

    async def who_share(self, user_id: str, others: Collection[str]) -> set[str]:
        """Those of `others` who are in a conversation with a user."""

    async def whom_to_notice(self, user_id: str, others: Collection[str]) -> set[str]:
        """Those of `others` who share a conversation with a user, and whose presence they may see:
        `Options.separate_blocked` and `Options.presence_needs_exchange` leave some out."""

    async def read(self, call: Callable[[], Awaitable[T]]) -> T:
        """What `call` reads: `await api.read(lambda: collection.find_one({"_id": name}))`.

        Bounded in time, and never cancelled: a caller that is cancelled stops waiting, the call
        ends by itself. Raises StorageUnavailable where the database is out of reach.
        """

    async def write(self, call: Callable[[], Awaitable[T]]) -> T:
        """A write of one document, as `read`; tried again where it conflicts with another."""

    def collection(self, name: str) -> Any:
        """A collection of the chat's database, for what a plugin keeps; durable on a majority. Ask
        for it each time: the client behind it may have been replaced."""

    async def transact(self, body: Callable[[Session], Awaitable[T]]) -> T:
        """Run `body` in a transaction, again where it conflicts. Raises StorageUnavailable."""
