"""The plugin API: the methods that a plugin, built-in or a host's, may call."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

from chat_aio.actions.api import HeldMessagesAPI, ServerAPI
from chat_aio.actions.attachments import may_read_attachment
from chat_aio.actions.audience import Audience, get_recipients
from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_readable, load_writable, require_user
from chat_aio.actions.people import users_shown
from chat_aio.actions.presence import noticeable
from chat_aio.actions.unread import count_unread
from chat_aio.actions.write_rule import require_open
from chat_aio.errors import SetupError
from chat_aio.hooks import BeforeMessageSend
from chat_aio.observability.dispatch import notify
from chat_aio.schema.inbox import UnreadTotals
from chat_aio.schema.models import Attachment, Conversation, User
from chat_aio.schema.wire import timestamp
from chat_aio.store import attachments, conversations, created_messages, following, stored_events
from chat_aio.store.attachments import ATTACHMENT_GRACE_PERIOD
from chat_aio.store.change_stream import HistoryLost as PositionLost
from chat_aio.store.created_messages import CREATED_MESSAGES, CreatedMessage, CreatedMessages
from chat_aio.store.database import Write
from chat_aio.store.following import Followed, Position
from chat_aio.store.leases import Lease, LeaseLost
from chat_aio.store.maintenance.legal_holds import kept_users
from chat_aio.store.signals import EphemeralEvent
from chat_aio.store.stored_events import StoredEvent, StoredEvents, event_of_created
from chat_aio.store.time_slices import SHORT_TEXT
from chat_aio.store.transactions import Session, transact_unique

__all__ = [
    "ATTACHMENT_GRACE_PERIOD",
    "Attachment",
    "Audience",
    "BeforeMessageSend",
    "Conversation",
    "CreatedMessage",
    "CreatedMessages",
    "EphemeralEvent",
    "Followed",
    "Lease",
    "LeaseLost",
    "PluginAPI",
    "Position",
    "PositionLost",
    "Session",
    "StoredEvent",
    "StoredEvents",
    "Write",
    "event_of_created",
]

T = TypeVar("T")
L = TypeVar("L", bound=Lease)
P = ParamSpec("P")


class PluginAPI:
    """One chat, as its plugins see it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.server = ServerAPI(context)
        """The server API, as `chat.api`: a plugin sends messages and manages groups with it."""
        self.held_messages = HeldMessagesAPI(context)
        """Moderators' actions on held messages."""

    @property
    def hook_timeout_seconds(self) -> float:
        """How long a send waits for `check_message`: the option of this name."""
        return self._context.options.hook_timeout_seconds

    @property
    def max_message_length(self) -> int:
        """The maximum length of a message in code points: the option of this name."""
        return self._context.options.max_message_length

    def now(self) -> datetime:
        """The time by the clock of MongoDB's primary."""
        return self._context.clock()

    def new_id(self) -> str:
        """A new unique id."""
        return self._context.new_id()

    def publish(self, *events: EphemeralEvent) -> None:
        """Send ephemeral events to the streams of all processes.

        Returns at once. The events are not stored, and may be lost.
        """
        self._context.signals.publish(*events)

    async def publish_in_transaction(self, session: Session, event: EphemeralEvent) -> None:
        """Send an event within a transaction: it is delivered once the transaction is committed."""
        await self._context.signals.write([event], session=session)

    async def notify_processes(self, name: str, data: Mapping[str, Any]) -> None:
        """Call `process_notified` of the plugins of all processes, also of this one, such as to
        forget cached values. Raises StorageUnavailable.
        """
        await self._context.signals.notify_plugins(name, data)

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
        """An event in the contract's shape, for the other participants of one or several
        conversations, or for some users among them; never for the sender.

        With `Options(hide_blocked_users=True)` users whom the sender has blocked, or who have
        blocked the sender, do not receive it. With
        `Options(presence_requires_mutual_messages=True)` an event that `needs_exchange`, such as
        presence, reaches only users who have written in one of its conversations in which the
        sender has written too.
        """
        here = {} if conversation_id is None else {"conversationId": conversation_id}
        data = {
            "ephemeral": True,
            **here,
            "senderId": sender_id,
            "payload": payload,
            "at": timestamp(self.now()),
        }
        # Named in the event's data as well, so it is among those that receive it.
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
        """Raise InvalidInput for an invalid user id, and UserBanned, as every method does."""
        await require_user(self._context, user_id)

    async def require_writable(self, user_id: str, conversation_id: str) -> None:
        """Raise ConversationNotFound, ForbiddenWrite, DirectInteractionBlocked, ConversationFrozen
        as a send would."""
        snapshot = await load_writable(self._context, user_id, conversation_id)
        await require_open(self._context, user_id, snapshot)

    async def load_readable(self, user_id: str, conversation_id: str) -> Conversation:
        """A conversation that a user may read. Raises ConversationNotFound and ForbiddenRead."""
        return (await load_readable(self._context, user_id, conversation_id)).conversation

    async def may_read_attachment(self, user_id: str, attachment_id: str) -> bool:
        """Whether a user may currently read a message that is not deleted and carries this
        attachment. Moderators with the moderation tools may; their access is recorded in the audit
        log."""
        return await may_read_attachment(self._context, user_id, attachment_id)

    async def carried_attachments(self, attachment_ids: Sequence[str]) -> set[str]:
        """The attachments, among these, that any message carries, or a held one, or an earlier
        version of a message that is kept for moderators."""
        return await attachments.carried(self._context.database, attachment_ids)

    async def users_under_legal_hold(self) -> set[str]:
        """The users whose data is kept entirely by a legal hold."""
        return set(await kept_users(self._context.database))

    async def follow_created(self, after: Position | None = None) -> CreatedMessages:
        """Follow the messages that are created after a position, or from now on. Imported and
        silent messages are left out.

        Raises PositionLost if the database no longer has the messages after the position: continue
        with `created_since`. Raises StorageUnavailable.
        """
        database, clock = self._context.database, self._context.clock
        return await following.follow(database, CREATED_MESSAGES, clock=clock, after=after)

    def created_since(
        self, at: datetime, *, silent: bool = False
    ) -> AsyncIterator[Sequence[CreatedMessage]]:
        """The stored messages that were created since a minute before a time, also silent ones if
        wanted. The heads of all conversations are read. Raises StorageUnavailable."""
        return created_messages.created_since(self._context.database, at, silent=silent)

    async def follow_events(self, after: Position | None = None) -> StoredEvents:
        """Follow the events about stored changes after a position, or from now on: of messages,
        reactions, participants and conversations. Imports are left out.

        Raises PositionLost if the database no longer has the changes after the position: of these
        only the messages can be read, with `created_since`. Raises StorageUnavailable.
        """
        database, clock = self._context.database, self._context.clock
        return await following.follow(database, stored_events.SOURCE, clock=clock, after=after)

    async def event_data(self, events: Sequence[StoredEvent]) -> dict[str, bytes]:
        """The JSON of events, by event id, as streams deliver them, with the current state of their
        messages and conversations; without events of removed ones."""
        return await stored_events.data_of(self._context.database, events)

    async def get_recipients(self, message_ids: Collection[str]) -> dict[str, Audience]:
        """The current audience of messages, by message id, without deleted messages.

        They are the participants who have not read it, were there when it was sent, may read it,
        are not banned and have not muted the conversation. The sender is never among them, nor is
        anybody in a direct conversation with a block. With `Options(hide_blocked_users=True)` a
        block between the sender and a participant counts in groups as well.
        """
        return await get_recipients(self._context, message_ids)

    async def count_unread(self, user_id: str) -> UnreadTotals | None:
        """A user's unread messages, as `GET /unread` counts them; None without the option
        `inbox`."""
        return await count_unread(self._context, user_id) if self._context.options.inbox else None

    async def find_users(self, user_ids: Collection[str]) -> dict[str, User]:
        """The host's names and images of users, by id; none if it has no `profiles`, or if that
        hook fails."""
        return await users_shown(self._context, user_ids)

    def notify_observers(
        self, event: Callable[Concatenate[Any, P], None], *said: P.args, **named: P.kwargs
    ) -> None:
        """Call a method of the chat's observers, such as `Observer.notification_ended`."""
        notify(self._context.observers, event, *said, **named)

    async def conversation_ids_of(self, user_id: str) -> list[str]:
        """The conversations of which a user is a participant."""
        return await conversations.ids_of_user(self._context.database, user_id)

    async def users_sharing_conversation(self, user_id: str, others: Collection[str]) -> set[str]:
        """The users among `others` who share a conversation with a user."""
        return await conversations.users_sharing_conversation(
            self._context.database, user_id, others
        )

    async def users_visible_to(self, user_id: str, others: Collection[str]) -> set[str]:
        """The users among `others` whose presence a user may see: they share a conversation, and
        neither `Options.hide_blocked_users` nor `Options.presence_requires_mutual_messages` keeps
        them apart."""
        return await noticeable(
            self._context, user_id, await self.users_sharing_conversation(user_id, others)
        )

    def lease(self, kind: type[L], name: str, *, seconds: float) -> L:
        """A lease, which one process at a time can take; `kind` is `Lease` or a class of yours.
        Raises SetupError if another plugin of this chat uses the same name: one of the two would
        wait for ever."""
        context = self._context
        if context.lease_owners.setdefault(name, self) is not self:
            raise SetupError(f"two plugins use the lease {name!r}: give one of them another name")
        return kind(context.database, name, holder=context.new_id(), seconds=seconds)

    async def read(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run a read: `await api.read(lambda: collection.find_one({"_id": name}))`.

        The call is limited in time and never cancelled: if the caller is cancelled, the call
        continues until it ends. Raises StorageUnavailable if the database is out of reach.
        """
        return await self._context.database.read(call)

    async def write(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run a write of one document, as `read` does; it is retried after a conflict."""
        return await self._context.database.write(call)

    async def aggregate(self, collection: str, stages: Sequence[Mapping[str, Any]]) -> list[Any]:
        """All results of an aggregation of a collection of the chat's database, as `read` runs
        it."""
        return await self._context.database.aggregate(self.collection(collection), stages)

    async def write_many(self, collection: str, writes: Sequence[Write]) -> None:
        """Run many writes in a collection of the chat's database. A write is a pair (query, update)
        for one document, which is created if it does not exist. Writes may be repeated, and run in
        any order; there is no limit on their number."""
        await self._context.database.write_many(self.collection(collection), writes)

    def collection(self, name: str) -> Any:
        """A collection of the chat's database for the plugin's own documents, with majority writes.
        Call this for every use: the client behind the collection may be replaced."""
        return self._context.database.collection(name)

    async def transact(self, body: Callable[[Session], Awaitable[T]]) -> T:
        """Run `body` in a transaction, and again after a conflict. Raises StorageUnavailable."""
        return await transact_unique(self._context.database, body)

    async def run_cpu_bound(self, text: str, work: Callable[[], T]) -> T:
        """Run work whose duration grows with the length of a text. For a long text it waits for its
        turn, and other requests get the same time afterwards (decision 0020)."""
        turns = self._context.database.turns
        # Also for ASCII: unlike our terms, a plugin's work may grow faster than the text.
        return work() if len(text) <= SHORT_TEXT else await turns.alone(work)
