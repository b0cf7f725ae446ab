"""What comes in: the shape of every request; unknown fields are ignored."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError
from pydantic.alias_generators import to_camel

from chat_aio.errors import InvalidInput
from chat_aio.schema.fields import (
    BanReason,
    Body,
    ClientId,
    Emoji,
    Id,
    Ids,
    Mentions,
    Metadata,
    ModeratorNote,
    Moment,
    Name,
    Note,
    PageSize,
    Query,
    Reason,
    Seconds,
    Uses,
)
from chat_aio.schema.models import (
    JoinPolicy,
    JoinRequestStatus,
    ParticipantRole,
    ReportStatus,
    Role,
    TargetType,
    Visibility,
)
from chat_aio.schema.pagination import limit_from_query


class Input(BaseModel):
    """A request; unknown fields are ignored, null for an optional field equals absent."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, strict=True
    )

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """The known fields of a JSON body, by the names that actions use."""
        return {name: body.get(field.alias or name) for name, field in cls.model_fields.items()}


class Page(Input):
    """Which part of a list is asked for, in a query string."""

    limit: PageSize | None = None
    cursor: StrictStr | None = None

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any input; the number is written as text."""
        given = super().arguments(body)
        return {**given, "limit": limit_from_query(given["limit"])}


class DirectConversation(Input):
    other_user_id: Id
    metadata: Metadata | None = None


class GroupConversation(Input):
    name: Name | None = None
    user_ids: Ids | None = None
    metadata: Metadata | None = None
    visibility: Visibility | None = None
    join_policy: JoinPolicy | None = None


class Keep(Enum):
    """Stands for a field that was not given, where None means something."""

    KEEP = "keep"


KEEP: Final = Keep.KEEP


class ConversationChange(Input):
    name: Name | None = None
    visibility: Visibility | None = None
    join_policy: JoinPolicy | None = None

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any input, but a name of null is another thing than none."""
        return {**super().arguments(body), "name": body.get("name", KEEP)}


class Participants(Input):
    user_ids: Ids


class Leaver(Input):
    target_user_id: Id = Field(alias="userId")


class ParticipantChange(Input):
    target_user_id: Id = Field(alias="userId")
    role: ParticipantRole


class NewInvite(Input):
    expires_in_seconds: Seconds | None = None
    max_uses: Uses | None = None
    requires_approval: bool | None = None
    metadata: Metadata | None = None


class Asking(Input):
    """A note for the admins of a group that somebody asks to join; blank is none."""

    message: Note | None = None


class Decision(Input):
    target_user_id: Id = Field(alias="userId")
    decision: Literal["approve", "deny"]


class RequestList(Page):
    status: JoinRequestStatus | None = None


class Target(Input):
    target_user_id: Id


class MutedConversation(Input):
    conversation_id: Id


class NewReport(Input):
    target_type: TargetType
    target_id: Id
    reason: Reason


class ReportList(Page):
    status: ReportStatus | None = None
    target_type: TargetType | None = None


class ReportChange(Input):
    status: Literal["triaged", "resolved", "dismissed"]
    moderator_note: ModeratorNote | None = None

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any input, but a note of null is another thing than none."""
        return {**super().arguments(body), "moderator_note": body.get("moderatorNote", KEEP)}


class BanList(Page):
    active_only: bool = True

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any page; the flag is written as text. Raises InvalidInput for any other."""
        match body.get("activeOnly", "true"):
            case "true" | "false" as flag:
                return {**super().arguments(body), "active_only": flag == "true"}
        raise InvalidInput("activeOnly: true or false")


class NewBan(Input):
    target_user_id: Id
    reason: BanReason | None = None
    expires_at: Moment | None = None


class NewMessage(Input):
    body: Body
    role: Role | None = None
    reply_to_message_id: Id | None = None
    thread_root_message_id: Id | None = None
    also_send_to_main: bool | None = None
    mentions: Mentions | None = None
    metadata: Metadata | None = None
    client_message_id: ClientId | None = None


class Forwarding(Input):
    to_conversation_id: Id = Field(alias="conversationId")
    role: Role | None = None
    mentions: Mentions | None = None
    metadata: Metadata | None = None
    client_message_id: ClientId | None = None


class Edit(Input):
    body: Body
    mentions: Mentions | None = None


class Replaced(Input):
    """What a host's hook puts in place of parts of a message."""

    body: Body | None = None
    metadata: Metadata | None = None


class Reaction(Input):
    emoji: Emoji


class Search(Page):
    query: Query = Field(alias="q")
    conversation_id: Id | None = None


class Mark(Input):
    message_id: Id


I = TypeVar("I", bound=Input)  # noqa: E741


def read(shape: type[I], *, metadata_within: int | None = None, **values: object) -> I:
    """`values` as a checked input, metadata of so many bytes of JSON at most; InvalidInput names
    the first field that is wrong. Raises GroupLimitExceeded for too many users of a group."""
    try:
        return shape.model_validate(values, context=metadata_within)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(to_camel(str(each)) for each in first["loc"]) or "input"
        raise InvalidInput(f"{place}: {first['msg'].removeprefix('Value error, ')}") from None
