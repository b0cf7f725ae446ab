"""Loading what an action works on, and checking that the acting user may do it."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import wraps
from math import ceil
from typing import Any, TypeVar, cast

from chat_aio import hooks
from chat_aio.actions.bans import require_unbanned
from chat_aio.actions.context import Context
from chat_aio.errors import (
    ChatError,
    ConversationNotFound,
    ForbiddenRead,
    ForbiddenWrite,
    InvalidInput,
    MessageNotFound,
    NotConversationAdmin,
    NotGroupConversation,
    RateLimited,
    StorageUnavailable,
)
from chat_aio.hooks import RateContext
from chat_aio.schema.fields import ID_RULE, is_id
from chat_aio.schema.models import BareMessage, Conversation
from chat_aio.store import messages
from chat_aio.store.calls import deadline_within, request_budget
from chat_aio.store.documents import MessageDocument
from chat_aio.store.snapshots import Snapshot

FOLLOW_SECONDS = 0.01

METHODS = {"send_message", "forward_message"}
"""The names under which calls are counted; `Options(rate_limits=...)` may use them. These two count
themselves, because a repeated send is not counted."""

Action = TypeVar("Action", bound=Callable[..., Awaitable[Any]])


def user_action(action: Action) -> Action:
    """Decorator of actions: first checks the acting user's id, bans and the rate limit, and bounds
    the time that all driver calls of the action may take together."""
    return user_action_as(action.__name__)(action)


def user_action_as(method: str | None) -> Callable[[Action], Action]:
    """As `user_action`, counted under the name `method`; None for an action that counts itself."""

    if method is not None:
        METHODS.add(method)

    def mark(action: Action) -> Action:
        @wraps(action)
        async def checked(context: Context, user_id: str, *args: Any, **kwargs: Any) -> Any:
            if not is_id(user_id):
                raise InvalidInput(f"user_id {ID_RULE}")
            with request_budget(context.options.storage_timeout_seconds):
                await require_unbanned(context, user_id)
                if method is None:
                    return await action(context, user_id, *args, **kwargs)
                async with counting(context, user_id, method):
                    return await action(context, user_id, *args, **kwargs)

        return cast(Action, checked)

    return mark


async def require_rate(context: Context, user_id: str, method: str) -> None:
    """Raise RateLimited if the user calls this method too often: the host's `rate_limit` decides,
    or if it returns None the limits of Options (docs/behaviour.md 1.8)."""
    if (hook := context.hooks.rate_limit) is not None:
        asked = RateContext(user_id=user_id, method=method)
        wait = await hooks.call(hook, asked, limit=context.options.hook_timeout_seconds)
        if wait is not None:
            if wait > 0:
                raise RateLimited(retry_after=ceil(wait))
            return
    context.rate_limits.count(user_id, method)


@asynccontextmanager
async def counting(context: Context, user_id: str, method: str) -> AsyncIterator[None]:
    """Count one call, and take it back if the database is out of reach. Raises RateLimited."""
    await require_rate(context, user_id, method)
    try:
        yield
    except StorageUnavailable:
        context.rate_limits.give_back(user_id, method)
        raise


@asynccontextmanager
async def counting_refusals(context: Context, user_id: str, method: str) -> AsyncIterator[None]:
    """Count a call that is refused with 400, 403 or 404 before it reaches `counting`
    (docs/behaviour.md 1.8)."""
    try:
        yield
    except ChatError as refusal:
        if refusal.status in (400, 403, 404):
            await require_rate(context, user_id, method)
        raise


async def load_readable(
    context: Context, user_id: str, conversation_id: str, message: BareMessage | None = None
) -> Snapshot:
    """The conversation, if `user_id` may read it. Raises ConversationNotFound and ForbiddenRead."""
    require = context.permissions.require_read
    snapshot = await load_conversation(context, conversation_id)
    return await _checked(context, snapshot, lambda found: require(user_id, found, message))


async def require_readable(
    context: Context, user_id: str, snapshot: Snapshot, message: BareMessage | None = None
) -> None:
    """Raise ForbiddenRead unless `user_id` may read a conversation that is loaded already."""
    require = context.permissions.require_read
    await _checked(context, snapshot, lambda found: require(user_id, found, message))


async def load_writable(
    context: Context, user_id: str, conversation_id: str, message: BareMessage | None = None
) -> Snapshot:
    """The conversation, if `user_id` may write. Raises ConversationNotFound and ForbiddenWrite."""
    require = context.permissions.require_write
    snapshot = await load_conversation(context, conversation_id)
    return await _checked(context, snapshot, lambda found: require(user_id, found, message))


async def load_manageable(context: Context, user_id: str, conversation_id: str) -> Snapshot:
    """The group, if `user_id` may manage it. Raises NotConversationAdmin, and as `load_group`."""
    require = context.permissions.require_manage
    snapshot = await load_group(context, conversation_id)
    return await _checked(context, snapshot, lambda found: require(user_id, found))


async def load_invitable(context: Context, user_id: str, conversation_id: str) -> Snapshot:
    """The group, if `user_id` may invite. Raises NotConversationAdmin, and as `load_group`."""
    require = context.permissions.require_invite
    snapshot = await load_group(context, conversation_id)
    return await _checked(context, snapshot, lambda found: require(user_id, found))


async def _checked(
    context: Context, snapshot: Snapshot, require: Callable[[Conversation], Awaitable[None]]
) -> Snapshot:
    """Check a requirement on the snapshot, and if that fails on a fresh one; returns what passed.

    A cached snapshot may be milliseconds old, so it may permit but never refuse.
    """
    try:
        await require(snapshot.conversation)
    except (ForbiddenRead, ForbiddenWrite, NotConversationAdmin):
        snapshot = await load_fresh(context, snapshot.conversation.id)
        await require(snapshot.conversation)
    return snapshot


async def load_group(context: Context, conversation_id: str) -> Snapshot:
    """The group. Raises ConversationNotFound, and NotGroupConversation if it is no group."""
    snapshot = await load_conversation(context, conversation_id)
    if snapshot.conversation.type == "direct":
        raise NotGroupConversation
    return snapshot


async def load_conversation(context: Context, conversation_id: str) -> Snapshot:
    """The conversation, possibly from the cache. Raises ConversationNotFound, also for an id that
    cannot exist."""
    snapshot = await context.snapshots.find(conversation_id) if is_id(conversation_id) else None
    if snapshot is None:
        raise ConversationNotFound
    return snapshot


async def load_message(
    context: Context, message_id: str, fields: Mapping[str, int] = messages.READ
) -> MessageDocument:
    """The message, read at majority. Raises MessageNotFound, also for an id that cannot exist."""
    known = is_id(message_id)
    found = await messages.find(context.database, message_id, fields) if known else None
    if found is None:
        raise MessageNotFound
    return found


async def load_within(context: Context, conversation_id: str, message_id: str) -> MessageDocument:
    """The message. Raises MessageNotFound, also if it is of another conversation."""
    found = await load_message(context, message_id)
    if found["conversationId"] != conversation_id:
        raise MessageNotFound
    return found


def within(context: Context) -> Iterator[None]:
    """Iterate until the storage timeout is over: `for _ in within(context)` around one try."""
    deadline = deadline_within(context.options.storage_timeout_seconds)
    while time.monotonic() < deadline:
        yield


async def load_fresh(context: Context, conversation_id: str, *, epoch: int = 0) -> Snapshot:
    """The conversation from the database at majority, of `epoch` or a later one.

    Raises ConversationNotFound, and StorageUnavailable if the majority does not reach that epoch in
    time.
    """
    deadline = deadline_within(context.options.storage_timeout_seconds)
    while snapshot := await context.snapshots.find_fresh(conversation_id):
        # A transaction may have seen an epoch that a majority does not have yet: on anything older
        # the same draft would be refused again at once.
        if snapshot.epoch >= epoch:
            return snapshot
        if time.monotonic() >= deadline:
            raise StorageUnavailable
        await asyncio.sleep(FOLLOW_SECONDS)
    raise ConversationNotFound
