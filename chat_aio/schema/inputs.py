"""The shape of every request, and the error text for each way it can be wrong."""

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import ErrorDetails

from chat_aio.errors import InvalidInput
from chat_aio.schema.fields import (
    AttachmentIds,
    BanReason,
    Body,
    ClientId,
    Emoji,
    Followed,
    GroupKey,
    Id,
    Ids,
    LookedUp,
    Mentions,
    Metadata,
    ModeratorNote,
    Moment,
    Name,
    Note,
    PageSize,
    Query,
    QueryText,
    Reason,
    Roles,
    Seconds,
    SeqPlace,
    Uses,
    Version,
    WantedMetadata,
    WithConversations,
    WithMessages,
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
from chat_aio.schema.pagination import limit_from_query, number_from_query
from chat_aio.schema.room_controls import RoomControls

METADATA_PREFIX = "metadata."
"""The prefix of the names of query parameters for fields of metadata."""


class Input(BaseModel):
    """A request. Unknown fields are ignored; null for an optional field means absent."""

    model_config = ConfigDict(
        # Strict: `"1"` is no number, and 1 no flag. By name: callers in process use Python's names.
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        strict=True,
    )

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """The known fields of a JSON body as keyword arguments of the action; None where absent."""
        # Only known fields: an action has no parameter for the others, which are ignored.
        return {name: body.get(alias) for name, alias in _aliases(cls)}


@cache
def _aliases(shape: type[Input]) -> tuple[tuple[str, str], ...]:
    """The names of the fields of a shape, in Python and in JSON."""
    return tuple((name, field.alias or name) for name, field in shape.model_fields.items())


class Page(Input):
    """The part of a list that a query string requests."""

    limit: PageSize | None = None
    cursor: StrictStr | None = None

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any input; a query string has `limit` as text, which is parsed here."""
        given = super().arguments(body)
        return {**given, "limit": limit_from_query(given["limit"])}


class ConversationFilter(Page):
    """A choice of the user's conversations, and the included parts."""

    include: WithConversations | None = None
    query: Query | None = Field(default=None, alias="q")
    unread: bool = False
    ids: LookedUp | None = None
    metadata: SkipJsonSchema[WantedMetadata | None] = None

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any page; a query string has `include` and `ids` as words between commas, and the
        flag as text. Raises InvalidInput for any text but `true` and `false`."""
        # The fields of metadata are parameters of the query string: `metadata.orderId=7`.
        wanted = {
            name.removeprefix(METADATA_PREFIX): QueryText(body.get(name))
            for name in body
            if name.startswith(METADATA_PREFIX)
        }
        return {
            **super().arguments(body),
            "include": _words(body.get("include")),
            "unread": _flag("unread", body),
            "ids": _words(body.get("ids")),
            "metadata": wanted or None,
        }


class ChannelFilter(Page):
    """A choice of the public groups."""

    query: Query | None = Field(default=None, alias="q")


class MetadataLookup(Input):
    metadata: WantedMetadata


class FullConversationFilter(ConversationFilter):
    """The choices that options add: `key` needs `conversation_keys`; `archived` and `favourite`
    need `inbox`."""

    key: GroupKey | None = None
    archived: bool | None = None
    favourite: bool | None = None

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any choice; the flags are text in a query string."""
        flags = {name: _flag(name, body) for name in ("archived", "favourite") if name in body}
        return {**super().arguments(body), **flags}


def _words(text: object) -> list[str] | None:
    """The words of a query string, which has them between commas."""
    return text.split(",") if isinstance(text, str) else None


def _flag(name: str, query: Mapping[str, object], *, default: str = "false") -> bool:
    """The flag in a query string, which has it as text. Raises InvalidInput."""
    match query.get(name, default):
        case "true" | "false" as flag:
            return flag == "true"
    raise InvalidInput(f"{name} must be true or false")


class MessageList(Page):
    """A page of messages, and the included parts."""

    include: WithMessages | None = None

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any page; a query string has `include` as words between commas."""
        return {**super().arguments(body), "include": _words(body.get("include"))}


class Timeline(MessageList):
    """The place around which, or the message after which, a page of a main list or a thread is
    read."""

    around: Id | None = None
    around_seq: SeqPlace | None = None
    after: Id | None = None

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any list of messages; a query string has the number as text."""
        given = super().arguments(body)
        return {**given, "around_seq": number_from_query("aroundSeq", given["around_seq"])}


class UserLookup(Input):
    """Which users: some, or those found by a name."""

    ids: LookedUp | None = None
    query: Query | None = Field(default=None, alias="q")
    limit: PageSize | None = None

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any input; a query string has `ids` between commas, and `limit` as text."""
        given = super().arguments(body)
        limit = limit_from_query(given["limit"])
        return {**given, "ids": _words(body.get("ids")), "limit": limit}


class Following(Input):
    """The conversations that a stream follows; without any it is the user's own stream."""

    conversation_ids: Followed | None = None

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any input; a query string has the ids between commas."""
        return {"conversation_ids": _words(body.get("conversationIds"))}


class DirectConversation(Input):
    other_user_id: Id
    metadata: Metadata | None = None


class GroupConversation(Input):
    name: Name | None = None
    user_ids: Ids | None = None
    metadata: Metadata | None = None
    visibility: Visibility | None = None
    join_policy: JoinPolicy | None = None


class KeyedGroup(GroupConversation):
    """A group that is found if the host's key has one already, and created otherwise."""

    key: GroupKey | None = None


class GroupOf(Input):
    """A group of exactly these participants: its creator is one only if named."""

    participants: Roles
    name: Name | None = None
    metadata: Metadata | None = None
    visibility: Visibility | None = None
    join_policy: JoinPolicy | None = None


class KeyedGroupOf(GroupOf):
    """The same for a group that is found if its key has one already."""

    key: GroupKey


class KeyLookup(Input):
    key: GroupKey


# An enum and not `object()`: type checkers distinguish its member from other values.
class Keep(Enum):
    """The default of a field for which None has a meaning, such as clearing it."""

    KEEP = "keep"


KEEP: Final = Keep.KEEP


Refused = SkipJsonSchema[Any]
"""A field that is refused, and not described, without the option for it."""


class EditableMetadata(Input):
    """What the option `editable_metadata` adds to changes: new metadata in place of the old ones,
    and the version that these must have."""

    metadata: Metadata | None = None
    metadata_version: Version | None = None


class MetadataChange(Input):
    metadata: Metadata
    metadata_version: Version | None = None


class ConversationChange(Input):
    name: Name | None = None
    visibility: Visibility | None = None
    join_policy: JoinPolicy | None = None
    metadata: Refused = None

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any input, but `name: null` clears the name and none keeps it."""
        return {**super().arguments(body), "name": body.get("name", KEEP)}


class RoomChange(RoomControls, ConversationChange):
    """Without a field, a request changes nothing: at least one is required."""


class ConversationChangeWithMetadata(EditableMetadata, ConversationChange):
    pass


class RoomChangeWithMetadata(EditableMetadata, RoomChange):
    pass


class ConversationDeletion(Input):
    reason: BanReason | None = None


class NewConversationBan(Input):
    target_user_id: Id = Field(alias="userId")
    reason: BanReason | None = None


class Participants(Input):
    user_ids: Ids


class ParticipantSet(Input):
    """All participants of a group after the change, with their roles."""

    participants: Roles


class ParticipantRemove(Input):
    target_user_id: Id = Field(alias="userId")


class ParticipantChange(Input):
    target_user_id: Id = Field(alias="userId")
    role: ParticipantRole


class NewInvite(Input):
    expires_in_seconds: Seconds | None = None
    max_uses: Uses | None = None
    requires_approval: bool | None = None
    metadata: Metadata | None = None


class JoinRequestCreate(Input):
    """A note to the admins of the group that the user wants to join; blank means none."""

    message: Note | None = None


class JoinRequestDecisionRequest(Input):
    target_user_id: Id = Field(alias="userId")
    decision: Literal["approve", "deny"]


class RequestList(Page):
    status: JoinRequestStatus | None = None


class ViewChange(Input):
    """A change of the caller's view of a conversation; at least one field is required."""

    archived: bool | None = None
    favourite: bool | None = None
    hidden: bool | None = None
    clear: bool | None = None


class BlockRequest(Input):
    target_user_id: Id


class MutedConversation(Input):
    conversation_id: Id


class HeldMessageChoice(Input):
    held_id: Id


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
        """As for any input, but `moderatorNote: null` clears the note and none keeps it."""
        return {**super().arguments(body), "moderator_note": body.get("moderatorNote", KEEP)}


class BanList(Page):
    active_only: bool = True

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any page; a query string has the flag as text. Raises InvalidInput for any text
        but `true` and `false`."""
        active_only = _flag("activeOnly", body, default="true")
        return {**super().arguments(body), "active_only": active_only}


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
    attachment_ids: AttachmentIds | None = None
    metadata: Metadata | None = None
    client_message_id: ClientId | None = None


class NewSilentMessage(NewMessage):
    """A message that may be silent: nobody is notified of it."""

    silent: bool | None = None


class Forwarding(Input):
    to_conversation_id: Id = Field(alias="conversationId")
    role: Role | None = None
    mentions: Mentions | None = None
    metadata: Metadata | None = None
    client_message_id: ClientId | None = None


class Edit(Input):
    body: Body
    mentions: Mentions | None = None
    metadata: Refused = None


class MessageChange(EditableMetadata):
    """An edit, a change of the metadata, or both."""

    body: Body | None = None
    mentions: Mentions | None = None


class Replaced(Input):
    """The parts of a message that a host's hook replaces."""

    body: Body | None = None
    metadata: Metadata | None = None


class Reaction(Input):
    emoji: Emoji


class FilteredSearch(MessageList):
    """A search by words, by filters, or by both (`search_filters`)."""

    query: Query | None = Field(default=None, alias="q")
    conversation_id: Id | None = None
    prefix: bool = False
    sender_id: Id | None = None
    since: Moment | None = None
    until: Moment | None = None
    has_attachments: bool = False
    mentions: Id | None = None

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any page of messages; a query string has the flags as text. Raises InvalidInput
        for any text but `true` and `false`."""
        flags = {"prefix": _flag("prefix", body), "has_attachments": _flag("hasAttachments", body)}
        return {**super().arguments(body), **flags}


class Search(FilteredSearch):
    """A search by words. The filters are refused, and not described, without their option."""

    query: Query = Field(alias="q")
    sender_id: SkipJsonSchema[Id | None] = None
    since: SkipJsonSchema[Moment | None] = None
    until: SkipJsonSchema[Moment | None] = None
    has_attachments: SkipJsonSchema[bool] = False
    mentions: SkipJsonSchema[Id | None] = None


class MessageChoice(Input):
    """One message, to mark it as read or unread, or to pin it."""

    message_id: Id


I = TypeVar("I", bound=Input)  # noqa: E741


MISSING = "is missing"

SENTENCES = {
    "missing": MISSING,
    "string_type": "must be a string",
    "string_unicode": "must be valid Unicode",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "dict_type": "must be a JSON object",
    "list_type": "must be a list",
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "value_error": "{error}",
}
"""What an error of pydantic means to a caller, by its type; it follows the name of the field."""


def read(shape: type[I], *, metadata_within: int | None = None, **values: object) -> I:
    """Check `values`; `metadata_within` is the limit of metadata in bytes of JSON.

    Raises InvalidInput, which names the first field that is wrong and how, and GroupLimitExceeded
    for too many users of a group.
    """
    try:
        return shape.model_validate(values, context=metadata_within)
    except ValidationError as error:
        # `from None`: pydantic's error quotes the input, which must not get into logs.
        raise InvalidInput(_sentence(shape, error.errors(include_url=False)[0])) from None


def _sentence(shape: type[Input], error: ErrorDetails) -> str:
    """The wrong field, by its name in JSON, and the reason: `userIds.1 must be a string`."""
    # One error is enough, and the first: clients show it next to the field.
    name, *within = error["loc"]
    field = shape.model_fields.get(str(name))
    place = ".".join([(field and field.alias) or str(name), *map(str, within)])
    # An optional field accepts None, so None in a field by itself is a required one left out.
    absent = error["input"] is None and not within
    kind = "missing" if absent else error["type"]
    if kind not in SENTENCES:  # A shape of a host's plugin.
        return f"{place}: {error['msg']}"
    return f"{place} {SENTENCES[kind].format(**error.get('ctx', {}))}"
