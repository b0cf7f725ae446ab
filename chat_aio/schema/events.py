"""The events that a stream delivers: the shape of each event's data, by its `type`."""

from typing import Literal, get_args

from chat_aio.schema.inbox import UnreadNumbers
from chat_aio.schema.models import (
    Conversation,
    ConversationBan,
    ConversationView,
    JoinRequest,
    Message,
    Report,
)
from chat_aio.schema.wire import Timestamp, Wire

MessageEventType = Literal["message.created", "message.updated", "message.deleted"]
ReactionEventType = Literal["reaction.added", "reaction.removed"]
ConversationEventType = Literal["participant.added", "participant.removed", "conversation.updated"]

StoredEventType = Literal[
    MessageEventType,
    ReactionEventType,
    ConversationEventType,
    "conversation.created",
    "conversation.deleted",
]
"""The events about stored changes, the same for all users: those that webhooks post."""

STORED_EVENTS: tuple[StoredEventType, ...] = get_args(StoredEventType)


class StreamEvent(Wire):
    """An event, and its position in the stream that it was read from."""

    @property
    def position(self) -> str | None:
        """From where to resume after this event. Store it once the event is processed. None if the
        event was not read from a stream, or there is no position yet."""
        # By `vars`, because the models are frozen, and `set_position` writes there.
        position: str | None = vars(self).get("stream_position")
        return position

    def set_position(self, position: str | None) -> None:
        # Not a field: it is no part of the JSON, nor of what makes two events equal.
        vars(self)["stream_position"] = position


class MessageEvent(StreamEvent):
    """A message was sent, edited or deleted. The only events with an id: they are replayed."""

    type: MessageEventType
    conversation_id: str
    message: Message


class ReactionEvent(StreamEvent):
    """Somebody reacted, or took a reaction back; `message` has the complete set of reactions."""

    type: ReactionEventType
    conversation_id: str
    actor_id: str
    emoji: str
    message: Message


class ConversationChange(StreamEvent):
    """A conversation after a change, who changed it, and the users whom the change concerns."""

    conversation_id: str
    actor_id: str
    affected_user_ids: tuple[str, ...]
    conversation: Conversation


class ConversationEvent(ConversationChange):
    """The participants of a conversation have changed, or its name or settings."""

    type: ConversationEventType


class NewConversationEvent(ConversationChange):
    """A direct conversation was opened."""

    type: Literal["conversation.created"]


class ConversationDeletedEvent(StreamEvent):
    """A conversation was deleted for everybody; nothing more of it follows."""

    type: Literal["conversation.deleted"]
    conversation_id: str
    actor_id: str


class JoinRequestEvent(StreamEvent):
    """A user requested to join a group, or an admin decided the request."""

    type: Literal["join_request.created", "join_request.resolved"]
    conversation_id: str
    join_request: JoinRequest


class ConversationBanEvent(StreamEvent):
    """An admin banned a user from a group, or lifted the ban; for its admins."""

    type: Literal["conversation_ban.created", "conversation_ban.removed"]
    conversation_id: str
    conversation_ban: ConversationBan


class ReportEvent(StreamEvent):
    """Somebody reported something, or a moderator moved a report; for moderators."""

    type: Literal["report.created", "report.updated"]
    report: Report


class ReadEvent(StreamEvent):
    """The user has read up to a message, in this tab or another one."""

    type: Literal["read.updated"]
    conversation_id: str
    message_id: str | None
    unread_count: int


class ViewEvent(StreamEvent):
    """The user has changed their view of a conversation, in this tab or another one."""

    type: Literal["view.updated"]
    conversation_id: str
    view: ConversationView
    unread_count: int


class UnreadEvent(StreamEvent):
    """The user's number of unread messages has changed, as `GET /unread` has it."""

    type: Literal["unread.updated"]
    all: UnreadNumbers
    unmuted: UnreadNumbers


class ResetEvent(StreamEvent):
    """The missed events cannot be replayed completely: refetch what you show."""

    type: Literal["stream.reset"] = "stream.reset"
    reason: str


class ChangedConversations(Wire):
    """The ids of changed conversations, by the kind of change: `name` is also the visibility, the
    join policy and the room controls, `own_marks` are the user's own read states. The user is no
    longer in those that are `removed`."""

    members: tuple[str, ...] = ()
    name: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    reactions: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()
    own_marks: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class ChangedEvent(StreamEvent):
    """The conversations that have changed since the position of a client that has resumed, in ways
    that no replayed event shows: refetch these. With `all`, any may have changed, and none is
    named."""

    type: Literal["stream.changed"] = "stream.changed"
    all: bool
    conversations: ChangedConversations = ChangedConversations()


class OpenedEvent(StreamEvent):
    """The first event, with the user whose stream it is: a browser's cookies may have changed since
    its page was opened. Sent with `heartbeat=event` only."""

    type: Literal["stream.opened"] = "stream.opened"
    user_id: str


class PingEvent(StreamEvent):
    """The connection lives; the next one follows after `intervalMs`. Only for those who ask for it
    with `heartbeat=event`, as browsers have to, which do not see comments."""

    type: Literal["stream.ping"] = "stream.ping"
    interval_ms: int


class EphemeralEvent(StreamEvent):
    """An event of a plugin: never stored, never replayed, not delivered to its sender."""

    ephemeral: Literal[True]
    sender_id: str
    at: Timestamp


class IsTyping(Wire):
    is_typing: bool


class TypingEvent(EphemeralEvent):
    """Somebody started or stopped typing. Clear the indicator after five seconds without another
    event."""

    type: Literal["typing.started", "typing.stopped"]
    conversation_id: str
    payload: IsTyping


class Attending(Wire):
    """`last_seen_at` is the current time of a user who is online, null of one never seen."""

    online: bool
    last_seen_at: Timestamp | None


class PresenceEvent(EphemeralEvent):
    """A user who shares a conversation with the reader came online or went offline."""

    type: Literal["presence.online", "presence.offline"]
    payload: Attending


class Delivered(Wire):
    message_id: str
    seq: int


class DeliveredEvent(EphemeralEvent):
    """The event's sender has received a message of the reader on one of their streams."""

    type: Literal["receipt.delivered"]
    conversation_id: str
    payload: Delivered


class Read(Wire):
    message_id: str


class ReadReceiptEvent(EphemeralEvent):
    """The event's sender has read up to a message."""

    type: Literal["receipt.read"]
    conversation_id: str
    payload: Read


EVENTS: tuple[type[Wire], ...] = (
    MessageEvent,
    ReactionEvent,
    ConversationEvent,
    ResetEvent,
    OpenedEvent,
    PingEvent,
)
"""Events that every chat delivers."""

EXTRA_EVENTS: tuple[type[Wire], ...] = (
    ReadEvent,
    JoinRequestEvent,
    NewConversationEvent,
    ConversationDeletedEvent,
    ChangedEvent,
)
"""Events that a chat delivers with `Options(extra_events=True)`."""

INBOX_EVENTS: tuple[type[Wire], ...] = (ViewEvent, UnreadEvent)
"""Events that a chat delivers with `Options(extra_events=True, inbox=True)`."""

ROOM_EVENTS: tuple[type[Wire], ...] = (ConversationBanEvent,)
"""Events that a chat delivers with `Options(room_controls=True)`."""

MODERATION_TOOLS_EVENTS: tuple[type[Wire], ...] = (ReportEvent,)
"""Events that a chat delivers with `Options(moderation_tools=True)`."""
