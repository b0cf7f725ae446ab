"""Drafts: the requests, answers and events of the plugin."""

from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr, WithJsonSchema

from chat_aio.schema.events import EphemeralEvent
from chat_aio.schema.fields import ClientId, Id, Mentions, Metadata, checked_text
from chat_aio.schema.inputs import Input
from chat_aio.schema.models import Message
from chat_aio.schema.wire import Timestamp, Wire

MAX_PART_LENGTH = 4_096

Reason = Literal["cancelled", "abandoned"]


Part = Annotated[
    StrictStr,
    # A blank part is valid, unlike a blank body: words may be separated by it.
    checked_text(
        lambda value: len(value) <= MAX_PART_LENGTH,
        f"must be at most {MAX_PART_LENGTH} characters",
    ),
    WithJsonSchema({"type": "string", "maxLength": MAX_PART_LENGTH}),
]


class NewDraft(Input):
    reply_to_message_id: Id | None = None
    thread_root_message_id: Id | None = None
    asked_by_user_id: Id | None = None
    client_message_id: ClientId | None = None


class NewPart(Input):
    draft_id: Id
    index: Annotated[StrictInt, Field(ge=0)]
    text: Part


class DraftChoice(Input):
    draft_id: Id


class DraftEnd(Input):
    draft_id: Id
    mentions: Mentions | None = None
    metadata: Metadata | None = None


class Draft(Wire):
    """A message that is being written. `text` has the first `parts` parts; `client_message_id` will
    be that of the message."""

    id: str
    conversation_id: str
    sender_id: str
    asked_by_user_id: str | None
    reply_to_message_id: str | None
    thread_root_message_id: str | None
    client_message_id: str
    text: str
    parts: int
    is_stopped: bool
    started_at: Timestamp


class DraftAnswer(Wire):
    draft: Draft


class DraftList(Wire):
    """The drafts of a conversation, the oldest first."""

    drafts: tuple[Draft, ...]


class Appended(Wire):
    """Whether somebody has stopped the draft; the part is not added then."""

    is_stopped: bool


class SentDraft(Wire):
    message: Message


class Drafted(Wire):
    """The parts `first` to `last` of a draft; where earlier ones are missing, fetch the drafts of
    the conversation."""

    draft_id: str
    first: int
    last: int
    text: str
    reply_to_message_id: str | None
    thread_root_message_id: str | None
    client_message_id: str
    asked_by_user_id: str | None


class DraftEvent(EphemeralEvent):
    """More of a message that the event's sender is writing."""

    type: Literal["draft.updated"]
    conversation_id: str
    payload: Drafted


class Undrafted(Wire):
    draft_id: str
    reason: Reason


class DraftEndedEvent(EphemeralEvent):
    """There will be no message of this draft. (Of others, `message.created` is the end.)"""

    type: Literal["draft.ended"]
    conversation_id: str
    payload: Undrafted
