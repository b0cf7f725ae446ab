"""The shapes of the moderation tools: requests and responses."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, StrictStr

from chat_aio.errors import InvalidInput
from chat_aio.schema.fields import BanReason, Id, ModeratorNote, Moment, Query
from chat_aio.schema.inputs import KEEP, Input, Page
from chat_aio.schema.models import (
    Attachment,
    Ban,
    ConversationType,
    Message,
    ParticipantRole,
    Report,
    ReportStatus,
    TargetType,
)
from chat_aio.schema.wire import Timestamp, Wire, is_none

MOST_AROUND = 50
AROUND = 5

_NUMBER = re.compile(r"[0-9]{1,3}")


class MessageFinding(Page):
    """Which messages: of a user, of a conversation, of a span of time, with all words of a text."""

    sender_id: Id | None = Field(default=None, alias="userId")
    conversation_id: Id | None = None
    since: Moment | None = None
    until: Moment | None = None
    contains: Query | None = None


class MessageContextQuery(Input):
    """How many messages before and after one of them."""

    before: int = Field(default=AROUND, ge=0, le=MOST_AROUND)
    after: int = Field(default=AROUND, ge=0, le=MOST_AROUND)

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any input; a query string has the numbers as text. Raises InvalidInput."""
        return {name: _number(name, body.get(name)) for name in cls.model_fields}


def _number(name: str, text: object) -> int:
    if text is None:
        return AROUND
    # A pattern, as `int` also takes signs, spaces, underscores and digits of other scripts.
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise InvalidInput(f"{name} must be a whole number from 0 to {MOST_AROUND}")
    return int(text)


class MessageRemoveRequest(Input):
    reason: BanReason | None = None


class ManyRemovals(Input):
    """Which messages of a user to count, or to remove if `dry_run` is false."""

    sender_id: Id = Field(alias="userId")
    conversation_id: Id | None = None
    since: Moment | None = None
    until: Moment | None = None
    contains: Query | None = None
    dry_run: bool | None = None
    cursor: StrictStr | None = None


class SharedWithQuery(Input):
    shared_with: Id | None = None


class ReportFinding(Page):
    status: ReportStatus | None = None
    target_type: TargetType | None = None
    target_id: Id | None = None
    reporter_id: Id | None = Field(default=None, alias="reporterUserId")
    moderator_id: Id | None = Field(default=None, alias="moderatorUserId")


class GroupList(Page):
    status: ReportStatus | None = None
    target_type: TargetType | None = None


class GroupDecision(Input):
    """The unresolved reports on a target, up to a time, get a status together."""

    target_type: TargetType
    target_id: Id
    status: Literal["triaged", "resolved", "dismissed"]
    until: Moment | None = None
    moderator_note: ModeratorNote | None = None

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """As for any input, but `moderatorNote: null` clears the notes and none keeps them."""
        # Null has a meaning here, so a missing note needs another value than None.
        return {**super().arguments(body), "moderator_note": body.get("moderatorNote", KEEP)}


class MessageInContext(Wire):
    """A message, and the messages around it in its conversation, itself included, oldest first;
    replies in threads are among them."""

    message: Message
    messages: tuple[Message, ...]


class MessageVersion(Wire):
    """What a message was until it was edited, deleted by its sender, or removed."""

    id: str
    message_id: str
    conversation_id: str
    sender_id: str
    body: str
    mentions: tuple[str, ...]
    metadata: dict[str, Any]
    attachments: tuple[Attachment, ...] | None = Field(default=None, exclude_if=is_none)
    written_at: Timestamp
    replaced_at: Timestamp
    replaced_by_user_id: str
    how: Literal["edited", "deleted", "removed"]


class Removed(Wire):
    """How many messages a portion has removed, or counted in a dry run. What is sent after `until`
    is not meant. With a `next_cursor` there is more to do."""

    messages: int
    dry_run: bool
    until: Timestamp
    next_cursor: str | None


class SharedConversation(Wire):
    """A conversation of a user, as their standing names it."""

    conversation_id: str
    type: ConversationType
    name: str | None
    participant_count: int
    role: ParticipantRole


class Standing(Wire):
    """What moderators know of a user: bans and reports newest first, the latest of them only.

    Reports received are those on the user and on their messages. `conversations` are those
    shared with another user if one is named.
    """

    user_id: str
    active_ban: Ban | None
    bans: tuple[Ban, ...]
    reports_made: int
    reports_received: int
    unresolved_reports_received: int
    latest_reports_received: tuple[Report, ...]
    conversation_count: int
    conversations: tuple[SharedConversation, ...]


class ReportGroup(Wire):
    """The reports with one status, or all unresolved ones, on one target."""

    target_type: TargetType
    target_id: str
    count: int
    first_at: Timestamp
    last_at: Timestamp
    latest: Report


class ReportGroupPage(Wire):
    report_groups: tuple[ReportGroup, ...]
    next_cursor: str | None


class ReportsResolved(Wire):
    """How many reports have got the status, and whether more of them wait."""

    reports: int
    more: bool
