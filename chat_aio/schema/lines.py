"""The lines of a file of conversations, as `chat-aio conversations` writes and reads it
(docs/guides/importing.md). What follows from other lines need not be in the file."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError
from pydantic.alias_generators import to_camel

from chat_aio.schema.fields import (
    MAX_ATTACHMENTS,
    MAX_MENTIONS,
    MAX_PARTICIPANTS,
    MAX_PINS,
    ClientId,
    Emoji,
    GroupKey,
    Id,
    Metadata,
    Moment,
    Name,
    is_text,
)
from chat_aio.schema.inputs import SENTENCES
from chat_aio.schema.models import (
    ConversationType,
    JoinPolicy,
    ParticipantRole,
    Role,
    Visibility,
)
from chat_aio.schema.room_controls import RoomControls

VERSION = 1
MAX_FILE_NAME = 255

Whole = Annotated[StrictInt, Field(ge=0, lt=2**53)]
Counted = Annotated[StrictInt, Field(ge=1, lt=2**53)]


class WrongLine(ValueError):
    """A line that cannot be read; the message has the reason."""


class Line(BaseModel):
    """A line, or a part of one. Other fields than these are refused: they would be lost."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        strict=True,
        extra="forbid",
        hide_input_in_errors=True,
    )


class HeaderLine(Line):
    """The first line of a file."""

    kind: Literal["header"]
    version: StrictInt


class ViewPart(Line):
    archived: StrictBool | None = None
    favourite: StrictBool | None = None
    # -1 in a file of ours: no longer hidden.
    unlisted_up_to_seq: StrictInt | None = None

    @property
    def stored(self) -> Any:
        return self.model_dump(by_alias=True, exclude_none=True)


class ParticipantPart(Line):
    user_id: Id
    role: ParticipantRole | None = None
    joined_at: Moment | None = None
    last_read_seq: Whole | None = None
    last_read_message_id: Id | None = None
    hidden_up_to_seq: Whole | None = None
    view: ViewPart | None = None


class ConversationLine(RoomControls, Line):
    """A conversation; the lines of its messages follow."""

    kind: Literal["conversation"]
    type: ConversationType
    created_at: Moment
    participants: Annotated[list[ParticipantPart], Field(max_length=MAX_PARTICIPANTS)]
    id: Id | None = None
    name: Name | None = None
    metadata: Metadata | None = None
    metadata_version: Counted | None = None
    key: GroupKey | None = None
    visibility: Visibility | None = None
    join_policy: JoinPolicy | None = None
    named_by: Id | None = None
    topic_by: Id | None = None
    pins: Annotated[list[Id], Field(max_length=MAX_PINS)] | None = None
    activity_at: Moment | None = None
    floor_seq: Whole = 0


class MentionPart(Line):
    user_id: Id
    created_at: Moment | None = None


class ReactionPart(Line):
    emoji: Emoji
    user_id: Id
    created_at: Moment | None = None


class ForwardPart(Line):
    message_id: Id
    conversation_id: Id
    sender_id: Id


class AttachmentPart(Line):
    """A file of a message; its bytes are elsewhere."""

    id: Id
    name: Annotated[StrictStr, Field(max_length=MAX_FILE_NAME)]
    content_type: Annotated[StrictStr, Field(max_length=MAX_FILE_NAME)]
    size: Whole
    width: Whole | None = None
    height: Whole | None = None
    has_thumbnail: bool = False


class MessageLine(Line):
    """A message of the conversation above it, in the order of their times."""

    kind: Literal["message"]
    sender_id: Id
    body: StrictStr
    created_at: Moment
    conversation_id: Id | None = None
    id: Id | None = None
    seq: Whole | None = None
    role: Role = "user"
    edited_at: Moment | None = None
    deleted_at: Moment | None = None
    changed_at: Moment | None = None
    reply_to_message_id: Id | None = None
    thread_root_message_id: Id | None = None
    also_send_to_main: bool = False
    mentions: Annotated[list[MentionPart], Field(max_length=MAX_MENTIONS)] = []
    reactions: list[ReactionPart] = []
    forwarded_from: ForwardPart | None = None
    metadata: Metadata | None = None
    metadata_version: Counted | None = None
    attachments: Annotated[list[AttachmentPart], Field(max_length=MAX_ATTACHMENTS)] = []
    client_message_id: ClientId | None = None
    request_hash: Annotated[StrictStr, Field(pattern=r"^[0-9a-f]{64}$")] | None = None


L = TypeVar("L", bound=Line)

_FURTHER = {
    "extra_forbidden": "is not a field of such a line",
    "less_than": "is too large",
    "less_than_equal": "must be at most {le}",
    "too_long": "must have at most {max_length} entries",
    "string_pattern_mismatch": "must be 64 hexadecimal digits",
    "model_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
}


def parsed(text: bytes) -> dict[str, Any]:
    """The JSON object of a line. Raises WrongLine."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise WrongLine(f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise WrongLine("must be a JSON object")
    return found


def line_from(shape: type[L], given: Mapping[str, Any]) -> L:
    """A line of this shape; null means absent. Raises WrongLine, which names the first field that
    is wrong and how."""
    # As over HTTP, so that a line may be the JSON of an answer.
    present = {name: value for name, value in given.items() if value is not None}
    try:
        line = shape.model_validate(present)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        sentence = {**SENTENCES, **_FURTHER}.get(first["type"], "is not as it must be")
        raise WrongLine(f"{place} {sentence.format(**first.get('ctx', {}))}") from None
    # Not `Body`, which refuses the blank body of a tombstone.
    if isinstance(line, MessageLine) and not is_text(line.body):
        raise WrongLine("body must be valid Unicode")
    return line
