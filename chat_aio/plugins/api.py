"""The plugin API: what a plugin may call."""

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from chat_aio.hooks import BeforeMessageSend
from chat_aio.schema.models import Attachment, BareMessage, Conversation, HeldMessagePage, Message
from chat_aio.store.attachments import KEPT_FOR_A_SEND
from chat_aio.store.change_stream import HistoryLost as PositionLost
from chat_aio.store.created_messages import CreatedMessage, CreatedMessages, Position
from chat_aio.store.many_writes import Write
from chat_aio.store.signals import EphemeralEvent
from chat_aio.store.transactions import Session

__all__ = [
    "KEPT_FOR_A_SEND",
    "Attachment",
    "Audience",
    "BeforeMessageSend",
    "Conversation",
    "CreatedMessage",
    "CreatedMessages",
    "EphemeralEvent",
    "PluginAPI",
    "Position",
    "PositionLost",
    "Session",
    "Write",
]

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """A message, its conversation, and the users who have not read it and may be told of it."""

    message: BareMessage
    mentions: frozenset[str]
    conversation: Conversation
    user_ids: tuple[str, ...]


class PluginAPI(Protocol):
    """One chat, as its plugins see it."""

    @property
    def hook_timeout_seconds(self) -> float:
        """How long a send waits for `message_sending`: the option of this name."""

    @property
    def max_message_length(self) -> int:
        """How many code points a message may have: the option of this name."""

    def now(self) -> datetime: ...

    def new_id(self) -> str: ...

    def publish(self, *events: EphemeralEvent) -> None:
        """Send ephemeral events to the streams of all processes.

        Returns at once. The events are not stored, and may be lost.
        """

    async def publish_within(self, session: Session, event: EphemeralEvent) -> None:
        """Send an event within a transaction: it is delivered if and when that is committed."""

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
        """An event in the contract's shape, for the other participants of one conversation or of
        several, or for some users among them; never for the sender.

        With `Options(separate_blocked=True)` users whom the sender has blocked, or who have blocked
        the sender, do not receive it. With `Options(presence_needs_exchange=True)` an event that
        `needs_exchange`, such as presence, reaches only users who have written in one of its
        conversations in which the sender has written too.
        """

    async def require_user(self, user_id: str) -> None:
        """Raise InvalidInput for what can be no user, and UserBanned, as every method does."""

    async def require_writable(self, user_id: str, conversation_id: str) -> None:
        """Raise ConversationNotFound, ForbiddenWrite, DirectInteractionBlocked, ConversationFrozen
        as a send would."""

    async def load_readable(self, user_id: str, conversation_id: str) -> Conversation:
        """A conversation. Raises ConversationNotFound and ForbiddenRead as a read would."""

    async def may_read_attachment(self, user_id: str, attachment_id: str) -> bool:
        """Whether a user may read, as of now, a message that is not deleted and carries this
        attachment; moderators may, if they have a desk, which is noted in the audit trail."""

    async def carried_attachments(self, attachment_ids: Sequence[str]) -> set[str]:
        """Those of some attachments that any message carries, or a held one, or an earlier version
        of a message that is kept for moderators."""

    async def users_on_hold(self) -> set[str]:
        """The users of whom a legal hold keeps everything."""

    async def follow_created(self, after: Position | None = None) -> CreatedMessages:
        """Follow the messages that are created after a position, or from now on. Imported ones are
        left out.

        Raises PositionLost if the database no longer has what came after the position: go on with
        `created_since`. Raises StorageUnavailable.
        """

    def created_since(self, at: datetime) -> AsyncIterator[Sequence[CreatedMessage]]:
        """The stored messages that were created since a minute before a time. The heads of all
        conversations are read. Raises StorageUnavailable."""

    async def audiences_of(self, message_ids: Collection[str]) -> dict[str, Audience]:
        """Whom some messages still concern, by message id, as of now, without deleted messages.

        They are the participants who have not read it, who were there when it was sent, may read
        it, are not banned and have not muted the conversation; never its sender, nor anybody in a
        direct conversation with a block. With `Options(separate_blocked=True)` a block between the
        sender and a participant counts in groups as well.
        """

    def notify_observers(
        self, event: Callable[Concatenate[Any, P], None], *said: P.args, **named: P.kwargs
    ) -> None:
        """Call a method of the chat's observers, such as `Observer.notification_ended`."""

    async def conversation_ids_of(self, user_id: str) -> list[str]:
        """The conversations of which a user is a participant."""

    async def who_share(self, user_id: str, others: Collection[str]) -> set[str]:
        """Those of `others` who share a conversation with a user."""

    async def whom_to_notice(self, user_id: str, others: Collection[str]) -> set[str]:
        """Those of `others` whose presence a user may see: they share a conversation, and neither
        `Options.separate_blocked` nor `Options.presence_needs_exchange` keeps them apart."""

    async def read(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run a read: `await api.read(lambda: collection.find_one({"_id": name}))`.

        The call is limited in time and never cancelled: if the caller is cancelled, the call goes
        on and ends by itself. Raises StorageUnavailable if the database is out of reach.
        """

    async def write(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run a write of one document, as `read` does; it is retried after a conflict."""

    async def aggregate(self, collection: str, stages: Sequence[Mapping[str, Any]]) -> list[Any]:
        """All results of an aggregation of a collection of the chat's database, as `read` runs
        it."""

    async def write_many(self, collection: str, writes: Sequence[Write]) -> None:
        """Run many writes of a collection of the chat's database, each of one document: (query,
        update), which makes the document where there is none. They may be repeated, and be done in
        any order; there is no limit on their number."""

    def collection(self, name: str) -> Any:
        """A collection of the chat's database for the plugin's own documents, with majority writes.
        Call this for each use: the client behind the collection may be replaced."""

    async def transact(self, body: Callable[[Session], Awaitable[T]]) -> T:
        """Run `body` in a transaction, again after a conflict. Raises StorageUnavailable."""

    async def on_text(self, text: str, work: Callable[[], T]) -> T:
        """Run work that takes longer the longer a text is. On a long one it waits for its turn, and
        other requests get as much time afterwards (docs/decisions/0020)."""

    async def send_message(
        self, user_id: str, conversation_id: str, body: str, **given: Any
    ) -> Message:
        """Send a message as `chat.api.send_message` does, with the same parameters, checks and
        errors."""

    async def list_held_messages(
        self, user_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> HeldMessagePage:
        """The messages that a verdict has held, newest first. Raises InvalidInput, NotModerator and
        ModerationUnsupported."""

    async def release_held_message(self, user_id: str, held_id: str) -> Message:
        """Send a held message in the name of its sender, once, however often and by how many
        moderators this is called. `message_sending` is not asked again.

        Raises NotModerator, ModerationUnsupported and HeldMessageNotFound; if the sender may no
        longer write, what a send of theirs would raise.
        """

    async def discard_held_message(self, user_id: str, held_id: str) -> None:
        """Remove a held message.

        Raises NotModerator, ModerationUnsupported, HeldMessageNotFound and HeldMessageReleased.
        """
