"""The hooks that a host may give, and how they are called: sync or async, with a time limit."""

import asyncio
import inspect
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Final, Literal, TypeVar

from chat_aio.errors import HostUnavailable, InternalError
from chat_aio.schema.models import (
    Attachment,
    BareMessage,
    Conversation,
    ForwardedFrom,
    Message,
    Role,
)
from chat_aio.store.calls import paused
from chat_aio.tasks import answered

log = logging.getLogger(__name__)

AT_ONCE = 8

_AVATAR = re.compile(r"https?://|/(?!/)", re.IGNORECASE)

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class PermissionContext:
    """May `user_id` do this in `conversation`? `message` is the stored message that the question
    is about, None if it is about the conversation. Read states in `conversation` may be old."""

    user_id: str
    conversation: Conversation
    message: BareMessage | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CreateContext:
    """May `user_id` create this conversation? `user_ids` are its other users, each once;
    `metadata` is a copy."""

    user_id: str
    kind: Literal["direct", "group"]
    user_ids: tuple[str, ...]
    metadata: dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class ModerationContext:
    """May `user_id` do this? `action` is the method's name, such as `ban_user`; `target_user_id` is
    the user whom it affects, None if it affects no particular user."""

    user_id: str
    action: str
    target_user_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RateContext:
    """May `user_id` call `method` again? It is a method of the server API, such as
    `send_message`, or the last word of a plugin's path; when a quota is used up, it is the kind of
    that quota, such as `messages`."""

    user_id: str
    method: str


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyContext:
    """May `user_id` create, find or look up the group that has this `key`?"""

    user_id: str
    key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BeforeMessageSend:
    """A valid message that is about to be written. `forwarded_from` names the message that it
    copies, also when a forwarded message is edited; None if it is not a forward."""

    user_id: str
    kind: Literal["send", "edit", "forward"]
    conversation: Conversation
    body: str
    role: Role
    metadata: dict[str, Any]
    mentions: tuple[str, ...]
    forwarded_from: ForwardedFrom | None = None
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageMutation:
    """A committed change of a message; `recipient_ids` are the other participants."""

    user_id: str
    kind: Literal["created", "updated", "deleted"]
    message: Message
    mentions: tuple[str, ...]
    recipient_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Changed:
    """What `before_message_send` may return: the parts of the message to replace, None to keep."""

    body: str | None = None
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """A user's profile. `avatar_url` is the address of an image: http, https, or a path of
    your site. Raises ValueError for another one, and for a blank name."""

    name: str
    avatar_url: str | None = None
    is_bot: bool = False

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("Profile(name=...) must not be blank")
        if self.avatar_url is not None and not _AVATAR.match(self.avatar_url):
            raise ValueError("Profile(avatar_url=...) must begin with https://, http:// or /")


@dataclass(frozen=True, kw_only=True, slots=True)
class UserSearch:
    """Which users does `user_id` find with `query`, at most `limit`?"""

    user_id: str
    query: str
    limit: int


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageSearch:
    """Which messages does `user_id` find in these conversations, which the user may read? `query`
    is None for a search by filters alone; the filters are those of the request, with the user's id
    in place of `me`. `cursor` is the `next_cursor` of the previous answer."""

    user_id: str
    conversation_ids: tuple[str, ...]
    query: str | None
    prefix: bool
    sender_id: str | None
    since: datetime | None
    until: datetime | None
    has_attachments: bool
    mentions: str | None
    limit: int
    cursor: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundMessages:
    """The ids of the messages found, the best first, at most 2,000. `next_cursor` leads to further
    ones: any text of up to 1,000 characters, which clients can read and change; None at the end."""

    message_ids: Sequence[str]
    next_cursor: str | None = None


class Exempt(Enum):
    """The type of `EXEMPT`."""

    EXEMPT = "exempt"


EXEMPT: Final = Exempt.EXEMPT
"""What `rate_limit` returns for a user whom neither limits nor quotas restrict."""

Answer = Awaitable[bool] | bool
PermissionRule = Callable[[PermissionContext], Answer]
CreateRule = Callable[[CreateContext], Answer]
RateAnswer = float | Exempt | None
RateRule = Callable[[RateContext], Awaitable[RateAnswer] | RateAnswer]
ProfilesHook = Callable[[Sequence[str]], Awaitable[Mapping[str, Profile]] | Mapping[str, Profile]]
RolesHook = Callable[[str], Awaitable[Collection[Role]] | Collection[Role]]
MessageSearchHook = Callable[[MessageSearch], Awaitable[FoundMessages] | FoundMessages]
UserSearchHook = Callable[[UserSearch], Awaitable[Sequence[str]] | Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """The host's own rules. Each may be sync or async; None keeps the default.

    A hook that cannot decide now raises HostUnavailable, which callers get as 503. `can_read` is
    called for conversations, `can_read_at_once` of them at a time for a list or a stream; with
    `can_read_messages` also for each message that would be shown (specification 5.5). `can_create`,
    `can_leave` and `can_delete_message` restrict the default rules further (specification 5.6).
    `profiles` gets up to 100 user ids; `search_users` returns the ids of those it finds, the best
    first (docs/guides/people.md). `search_messages` finds messages in place of MongoDB
    (docs/guides/search.md). `allowed_roles` returns the roles that a user's messages may have over
    HTTP (specification 4.16). Only users for whom `can_set_key` returns True may use keys of groups
    over HTTP (specification 17.2), only those for whom `can_delete` returns True may delete
    conversations there (specification 3.9), and only those for whom `can_send_silently` returns
    True may send silent messages there (specification 4.17). Participants for whom
    `can_set_metadata` returns True may change a group's metadata, as its admins may (specification
    18.2).
    """

    user_exists: Callable[[str], Answer] | None = None
    before_message_send: (
        Callable[[BeforeMessageSend], Awaitable[Changed | None] | Changed | None] | None
    ) = None
    after_message_mutation: Callable[[MessageMutation], Awaitable[None] | None] | None = None
    can_read: PermissionRule | None = None
    can_read_messages: bool = False
    can_read_at_once: int = AT_ONCE
    can_write: PermissionRule | None = None
    can_manage: PermissionRule | None = None
    can_invite: PermissionRule | None = None
    can_create: CreateRule | None = None
    can_leave: PermissionRule | None = None
    can_delete_message: PermissionRule | None = None
    can_delete: PermissionRule | None = None
    can_moderate: Callable[[ModerationContext], Answer] | None = None
    rate_limit: RateRule | None = None
    profiles: ProfilesHook | None = None
    search_users: UserSearchHook | None = None
    search_messages: MessageSearchHook | None = None
    allowed_roles: RolesHook | None = None
    can_set_key: Callable[[KeyContext], Answer] | None = None
    can_set_metadata: PermissionRule | None = None
    can_send_silently: Callable[[str], Answer] | None = None


def lent(conversation: Conversation) -> Conversation:
    """A copy of a conversation to hand to the host, which may change the metadata in it."""
    if not conversation.metadata:
        return conversation
    return conversation.model_copy(update={"metadata": deepcopy(conversation.metadata)})


async def filter_async(
    ask: Callable[[T], Awaitable[bool]], asked: Sequence[T], *, at_once: int = AT_ONCE
) -> list[T]:
    """Filter `asked` by `ask`, keeping the order; `at_once` questions run at a time."""
    turns = asyncio.Semaphore(at_once)

    async def one(item: T) -> bool:
        async with turns:
            return await ask(item)

    answers = await asyncio.gather(*map(one, asked))
    return [item for item, answer in zip(asked, answers, strict=True) if answer]


async def call(
    hook: Callable[..., Any],
    argument: object,
    *,
    limit: float,
    passing: tuple[type[Exception], ...] = (),
) -> Any:
    """Call a hook and return its answer.

    HostUnavailable and exceptions in `passing` are raised as they are. Any other exception, and an
    async hook that takes longer than `limit` seconds, is logged and raised as InternalError; a hook
    that is late is not cancelled. A sync hook runs on the event loop.
    """
    try:
        answer = hook(argument)
        if inspect.isawaitable(answer):
            with paused():  # The request's budget is for the database, not for the host.
                return await answered(answer, limit)
        return answer
    except HostUnavailable:
        raise
    except passing:
        raise
    except Exception as error:
        log.exception("the host's hook %s failed", getattr(hook, "__name__", hook))
        raise InternalError from error
