"""What a host may plug in, and the one way hooks are called: sync or async, under a time limit."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextvars import copy_context
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from chat_aio.errors import InternalError
from chat_aio.schema.models import BareMessage, Conversation, ForwardedFrom, Message, Role
from chat_aio.store.calls import paused

log = logging.getLogger(__name__)

AT_ONCE = 8

T = TypeVar("T")

_ASKED: set[asyncio.Task[Any]] = set()
"""The hooks that are being answered, also those that nobody waits for any more."""

_UNSET = object()


@dataclass(frozen=True, kw_only=True, slots=True)
class PermissionContext:
    """May `user_id` do this in `conversation`? `message` is the bare stored message it is about,
    None where the question concerns none. Read-states in `conversation` may lag."""

    user_id: str
    conversation: Conversation
    message: BareMessage | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ModerationContext:
    """May `user_id` do this? `action` is the method's name, such as `ban_user`; `target_user_id` is
    whom it is about, None where it is about nobody in particular."""

    user_id: str
    action: str
    target_user_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RateContext:
    """May `user_id` do this once more? `method` is the server API's, such as `send_message`, or
    the last word of a plugin's path."""

    user_id: str
    method: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BeforeMessageSend:
    """A message that is valid and about to be written. `forwarded_from` names what it copies, also
    when a forwarded message is edited; None for what was written here."""

    user_id: str
    kind: Literal["send", "edit", "forward"]
    conversation: Conversation
    body: str
    role: Role
    metadata: dict[str, Any]
    mentions: tuple[str, ...]
    forwarded_from: ForwardedFrom | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageMutation:
    """A message change that is committed; `recipient_ids` are the other participants."""

    user_id: str
    kind: Literal["created", "updated", "deleted"]
    message: Message
    mentions: tuple[str, ...]
    recipient_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Changed:
    """What `before_message_send` may return: the parts of the message that it replaces."""

    body: str | None = None
    metadata: dict[str, Any] | None = None


Answer = Awaitable[bool] | bool
PermissionRule = Callable[[PermissionContext], Answer]


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """The host's own rules. Each may be sync or async; None keeps the default.

    `can_read` is asked about conversations. With `can_read_messages` it is asked about each message
    as well that would be shown.
    """

    user_exists: Callable[[str], Answer] | None = None
    before_message_send: (
        Callable[[BeforeMessageSend], Awaitable[Changed | None] | Changed | None] | None
    ) = None
    after_message_mutation: Callable[[MessageMutation], Awaitable[None] | None] | None = None
    can_read: PermissionRule | None = None
    can_read_messages: bool = False
    can_write: PermissionRule | None = None
    can_manage: PermissionRule | None = None
    can_invite: PermissionRule | None = None
    can_moderate: Callable[[ModerationContext], Answer] | None = None
    rate_limit: Callable[[RateContext], Awaitable[float | None] | float | None] | None = None


def lent(conversation: Conversation) -> Conversation:
    """A conversation for the host's eyes: changing what it holds changes nothing of ours."""
    if not conversation.metadata:
        return conversation
    return conversation.model_copy(update={"metadata": deepcopy(conversation.metadata)})


async def _answered(answer: Awaitable[Any], limit: float) -> Any:
    """What an async hook returns, in a task of its own. Context variables that it sets are set for
    what comes after it, as if it had been awaited here."""
    variables = copy_context()
    asked = asyncio.create_task(_awaited(answer), context=variables)
    _ASKED.add(asked)
    asked.add_done_callback(_forget)
    await asyncio.wait({asked}, timeout=limit)
    if not asked.done():
        raise TimeoutError(f"no answer within {limit} seconds")
    for variable, value in variables.items():
        if variable.get(_UNSET) is not value:
            variable.set(value)
    return asked.result()


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer


def _forget(asked: asyncio.Task[Any]) -> None:
    _ASKED.discard(asked)
    if not asked.cancelled():
        asked.exception()  # Of a late one nobody else looks at it.


async def those(ask: Callable[[T], Awaitable[bool]], asked: Sequence[T]) -> list[T]:
    """Those of which `ask` says True, in their order; so many are asked about at a time."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(each: T) -> bool:
        async with turns:
            return await ask(each)

    answers = await asyncio.gather(*map(one, asked))
    return [each for each, answer in zip(asked, answers, strict=True) if answer]


async def call(
    hook: Callable[..., Any],
    argument: object,
    *,
    limit: float,
    passing: tuple[type[Exception], ...] = (),
) -> Any:
    """Call a hook and return its answer.

    Exceptions in `passing` come through; any other, and more than `limit` seconds, is logged and
    becomes InternalError. A hook that takes longer is not cancelled, for it may be in a call of the
    database's driver; nobody waits for it any more. A sync one runs on the event loop.
    """
    try:
        answer = hook(argument)
        if inspect.isawaitable(answer):
            with paused():
                return await _answered(answer, limit)
        return answer
    except passing:
        raise
    except Exception as error:
        log.exception("the host's hook %s failed", getattr(hook, "__name__", hook))
        raise InternalError from error
