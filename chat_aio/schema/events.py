"""What streams are told: the shape of each event's data, by its `type`."""

from typing import Literal

from chat_aio.schema.models import Conversation, JoinRequest, Message, Timestamp, Wire

MessageEventType = Literal["message.created", "message.updated", "message.deleted"]
ReactionEventType = Literal["reaction.added", "reaction.removed"]
ConversationEventType = Literal["participant.added", "participant.removed", "conversation.updated"]


class MessageEvent(Wire):
    """A message was sent, edited or deleted. The only events with an id: they are replayed."""

    type: MessageEventType
    conversation_id: str
    message: Message


class ReactionEvent(Wire):
    """Somebody reacted, or took a reaction back; `message` has all that there are."""

    type: ReactionEventType
    conversation_id: str
    actor_id: str
    emoji: str
    message: Message


class ConversationChange(Wire):
    """What has become of a conversation, who did it, and whom it concerns most."""

    conversation_id: str
    actor_id: str
    affected_user_ids: tuple[str, ...]
    conversation: Conversation


class ConversationEvent(ConversationChange):
    """Who is in a conversation has changed, or what everyone in it sees of it."""

    type: ConversationEventType


class NewConversationEvent(ConversationChange):
    """A direct conversation was opened."""

    type: Literal["conversation.created"]


class JoinRequestEvent(Wire):
    """Somebody asks to be let in, or an admin has decided."""

    type: Literal["join_request.created", "join_request.resolved"]
    conversation_id: str
    join_request: JoinRequest


class ReadEvent(Wire):
    """The user has read up to a message, in whichever tab."""

    type: Literal["read.updated"]
    conversation_id: str
    message_id: str | None
    unread_count: int


class ResetEvent(Wire):
    """What was missed cannot be told completely: fetch anew what is shown."""

    type: Literal["stream.reset"] = "stream.reset"
    reason: str


class EphemeralEvent(Wire):
    """An event of a plugin: never stored, never replayed, never told to whom it is about."""

    ephemeral: Literal[True]
    sender_id: str
    at: Timestamp


class IsTyping(Wire):
    is_typing: bool


class TypingEvent(EphemeralEvent):
    """Somebody has begun or stopped to type. Let it go after five seconds without another one."""

    type: Literal["typing.started", "typing.stopped"]
    conversation_id: str
    payload: IsTyping


class Attending(Wire):
    """`last_seen_at` is now for who is online, null for who was never seen."""

    online: bool
    last_seen_at: Timestamp | None


class PresenceEvent(EphemeralEvent):
    """Somebody with whom one shares a conversation has come or gone."""

    type: Literal["presence.online", "presence.offline"]
    payload: Attending


class Delivered(Wire):
    message_id: str
    seq: int


class DeliveredEvent(EphemeralEvent):
    """A stream of the sender's (of the event) was told of one's own message."""

    type: Literal["receipt.delivered"]
    conversation_id: str
    payload: Delivered


class Read(Wire):
    message_id: str


class ReadReceiptEvent(EphemeralEvent):
    """Somebody has read up to a message."""

    type: Literal["receipt.read"]
    conversation_id: str
    payload: Read


EVENTS: tuple[type[Wire], ...] = (
    MessageEvent,
    ReactionEvent,
    ConversationEvent,
    ResetEvent,
)
"""Told by every chat."""

EXTRA_EVENTS: tuple[type[Wire], ...] = (ReadEvent, JoinRequestEvent, NewConversationEvent)
"""Told with `Options(extra_events=True)`."""
