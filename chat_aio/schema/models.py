"""The shapes of the contract that go out."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from chat_aio.schema.wire import CONFIG, Timestamp, Wire, is_none

Role = Literal["user", "assistant", "system"]
ParticipantRole = Literal["admin", "member"]
ConversationType = Literal["direct", "group"]
Visibility = Literal["private", "public"]
History = Literal["all", "since_join"]
JoinPolicy = Literal["open", "approval"]
TargetType = Literal["user", "message", "conversation"]
ReportStatus = Literal["open", "triaged", "resolved", "dismissed"]
JoinRequestStatus = Literal["pending", "approved", "denied"]
ListPart = Literal["lastMessage", "unread", "users"]
PagePart = Literal["users"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionalFields:
    """Which of the fields that options add are in the shapes of conversations and messages."""

    room_controls: bool = False
    keys: bool = False
    metadata_versions: bool = False
    views: bool = False


NO_OPTIONAL_FIELDS = OptionalFields()


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant:
    """A plain dataclass and not a model: a page of conversations has thousands, which pydantic
    would check one by one (decision 0003)."""

    __pydantic_config__ = CONFIG

    conversation_id: str
    user_id: str
    role: ParticipantRole
    joined_at: Timestamp
    last_read_message_id: str | None


class User(Wire):
    """What the host shows of a user."""

    id: str
    name: str
    avatar_url: str | None
    is_bot: bool


class Conversation(Wire):
    """A conversation as all of its participants see it, also in events. The fields of options are
    None, and not in the JSON, without them: `key` without `conversation_keys` and if there is none,
    `metadata_version` without `editable_metadata`, the last five without `room_controls`,
    except a `history` that is `since_join`."""

    id: str
    type: ConversationType
    pair_key: str | None
    name: str | None
    created_at: Timestamp
    metadata: dict[str, Any]
    participants: tuple[Participant, ...]
    visibility: Visibility
    join_policy: JoinPolicy
    key: str | None = Field(default=None, exclude_if=is_none)
    metadata_version: int | None = Field(default=None, exclude_if=is_none)
    frozen: bool | None = Field(default=None, exclude_if=is_none)
    slow_mode_seconds: int | None = Field(default=None, exclude_if=is_none)
    topic: str | None = Field(default=None, exclude_if=is_none)
    history: History | None = Field(default=None, exclude_if=is_none)
    pinned_message_ids: tuple[str, ...] | None = Field(default=None, exclude_if=is_none)

    @cached_property
    def roles(self) -> dict[str, ParticipantRole]:
        """Each participant's role by user id."""
        # Cached with the snapshot: every check of a right looks a user up in it.
        return {participant.user_id: participant.role for participant in self.participants}


class ConversationView(Wire):
    """The caller's view of a conversation. One that is `hidden` is not listed until its next
    message; messages with a seq up to `cleared_up_to_seq` are not shown to the caller."""

    archived: bool = False
    favourite: bool = False
    hidden: bool = False
    cleared_up_to_seq: int = 0


class ConversationWithUnread(Conversation):
    """A conversation with the caller's unread count, which is 0 for callers who are not in it.
    `view` is None, and not in the JSON, without the option `inbox`."""

    unread_count: int
    view: ConversationView | None = Field(default=None, exclude_if=is_none)


# An excerpt, since a page of replies would otherwise repeat the same long body.
class ReplyPreview(Wire):
    id: str
    sender_id: str
    excerpt: str
    deleted: bool


class Reactions(Wire):
    """All reactions with one emoji, earliest first."""

    emoji: str
    count: int
    user_ids: tuple[str, ...]


class ForwardedFrom(Wire):
    message_id: str
    conversation_id: str
    sender_id: str


class ThreadSummary(Wire):
    reply_count: int
    last_reply_at: Timestamp


class Attachment(Wire):
    """A file of a message. Width and height are those of an image, as far as they are known."""

    id: str
    name: str
    content_type: str
    size: int
    width: int | None
    height: int | None
    has_thumbnail: bool


class Attached(Wire):
    """A file that was uploaded, for `attachmentIds` of a message."""

    attachment: Attachment


class BareMessage(Wire):
    """A message as it is stored, without previews, reactions and mentions: what permission hooks
    get. `attachments` is None, and not in the JSON, if there are none."""

    id: str
    conversation_id: str
    sender_id: str
    body: str
    role: Role
    seq: int
    created_at: Timestamp
    edited_at: Timestamp | None
    deleted_at: Timestamp | None
    reply_to_message_id: str | None
    thread_root_message_id: str | None
    also_send_to_main: bool
    client_message_id: str | None
    forwarded_from: ForwardedFrom | None
    metadata: dict[str, Any]
    attachments: tuple[Attachment, ...] | None = Field(default=None, exclude_if=is_none)


class Message(BareMessage):
    """A message with everything that readers see. `metadata_version` is None, and not in the JSON,
    without the option `editable_metadata`."""

    reply_to: ReplyPreview | None
    reactions: tuple[Reactions, ...]
    mentions: tuple[str, ...]
    thread_summary: ThreadSummary | None
    metadata_version: int | None = Field(default=None, exclude_if=is_none)


class Invite(Wire):
    """A link into a group. Anybody with the `code` may redeem it."""

    code: str
    conversation_id: str
    created_by: str
    created_at: Timestamp
    expires_at: Timestamp | None
    max_uses: int | None
    uses: int
    requires_approval: bool
    metadata: dict[str, Any]


class InvitePreview(Wire):
    """The part of a group that anybody with the code may see."""

    conversation_id: str
    name: str | None
    participant_count: int
    requires_approval: bool
    invited_by: str
    already_participant: bool


class JoinRequest(Wire):
    id: str
    conversation_id: str
    user_id: str
    status: JoinRequestStatus
    message: str | None
    invite_code: str | None
    created_at: Timestamp
    resolved_at: Timestamp | None
    resolved_by: str | None
    metadata: dict[str, Any]


class JoinResult(Wire):
    """The outcome of joining: `joined` with the conversation, or `pending` with the request."""

    status: Literal["joined", "pending"]
    conversation: ConversationWithUnread | None
    join_request: JoinRequest | None


class JoinRequestDecisionResult(Wire):
    """A resolved request; with the conversation if it was approved."""

    join_request: JoinRequest
    conversation: ConversationWithUnread | None


class ChannelPreview(Wire):
    """What the directory shows of a public group to every user. `topic` is None, and not in the
    JSON, without `room_controls`."""

    conversation_id: str
    name: str | None
    participant_count: int
    join_policy: JoinPolicy
    created_at: Timestamp
    metadata: dict[str, Any]
    already_participant: bool
    request_pending: bool
    topic: str | None = Field(default=None, exclude_if=is_none)


class ConversationBan(Wire):
    """Keeps a user out of one conversation until it is lifted."""

    conversation_id: str
    user_id: str
    created_by_user_id: str
    reason: str | None
    created_at: Timestamp


class Block(Wire):
    blocker_user_id: str
    blocked_user_id: str
    created_at: Timestamp


class Mute(Wire):
    user_id: str
    conversation_id: str
    created_at: Timestamp


class Report(Wire):
    """`evidence` is a copy of the reported message or conversation, made with the report."""

    id: str
    reporter_user_id: str
    target_type: TargetType
    target_id: str
    reason: str
    status: ReportStatus
    moderator_note: str | None
    # Of three shapes, by target, and kept as it was: it must outlive changes of the models.
    evidence: dict[str, Any]
    created_at: Timestamp
    updated_at: Timestamp
    resolved_by: str | None


class Ban(Wire):
    """Permanent without `expires_at`. A ban is kept after it was revoked or has expired."""

    id: str
    user_id: str
    created_by_user_id: str
    reason: str | None
    created_at: Timestamp
    expires_at: Timestamp | None
    revoked_at: Timestamp | None
    revoked_by_user_id: str | None


class HeldMessage(Wire):
    """A message that waits for a moderator; `id` becomes the message's. None expires on hold."""

    id: str
    conversation_id: str
    sender_id: str
    body: str
    role: Role
    metadata: dict[str, Any]
    mentions: tuple[str, ...]
    attachments: tuple[Attachment, ...] | None = Field(default=None, exclude_if=is_none)
    reply_to_message_id: str | None
    thread_root_message_id: str | None
    reason: str
    created_at: Timestamp
    expires_at: Timestamp | None = None
    released_by: str | None


class BlockPage(Wire):
    blocks: tuple[Block, ...]
    next_cursor: str | None


class MutePage(Wire):
    mutes: tuple[Mute, ...]
    next_cursor: str | None


class ReportPage(Wire):
    reports: tuple[Report, ...]
    next_cursor: str | None


class BanPage(Wire):
    bans: tuple[Ban, ...]
    next_cursor: str | None


class HeldMessagePage(Wire):
    held_messages: tuple[HeldMessage, ...]
    next_cursor: str | None


class ConversationBanPage(Wire):
    conversation_bans: tuple[ConversationBan, ...]
    next_cursor: str | None


class JoinRequestPage(Wire):
    join_requests: tuple[JoinRequest, ...]
    next_cursor: str | None


class ChannelPage(Wire):
    channels: tuple[ChannelPreview, ...]
    next_cursor: str | None


class UnreadSummary(Wire):
    """The unread state of a conversation for the caller: the seq of its newest message (0 without
    one), that of the first unread one, and how many unread ones mention the caller; 100 of them
    means 100 or more."""

    seq: int
    first_unread_seq: int | None
    unread_mention_count: int


class ConversationPage(Wire):
    """`last_messages` (the newest of the main list), `unread_summaries` and `users` are there if
    they were requested with `include`, by id. A conversation without a message that the caller may
    read has no last one (specification 15.2)."""

    conversations: tuple[ConversationWithUnread, ...]
    next_cursor: str | None
    last_messages: dict[str, Message] | None = Field(default=None, exclude_if=is_none)
    unread_summaries: dict[str, UnreadSummary] | None = Field(default=None, exclude_if=is_none)
    users: dict[str, User] | None = Field(default=None, exclude_if=is_none)


class MessagePage(Wire):
    """`next_cursor` leads to older messages. `previous_cursor`, to newer ones, is in pages that
    begin at a message, if newer ones may follow (specification 15.1)."""

    messages: tuple[Message, ...]
    next_cursor: str | None
    previous_cursor: str | None = Field(default=None, exclude_if=is_none)
    users: dict[str, User] | None = Field(default=None, exclude_if=is_none)


class OkResponse(Wire):
    """The answer of a request that returns nothing."""

    ok: Literal[True]
