"""Moderators: the host decides who may work on reports and bans."""

from chat_aio import hooks
from chat_aio.actions.context import Context
from chat_aio.errors import ChatError, NotModerator
from chat_aio.hooks import ModerationContext


async def require_moderator(
    context: Context, user_id: str, action: str, *, target_user_id: str | None = None
) -> None:
    """Raise NotModerator unless the host's `can_moderate` returns True (specification 11.3)."""
    if not await is_moderator(context, user_id, action, target_user_id=target_user_id):
        raise NotModerator


async def is_moderator(
    context: Context, user_id: str, action: str, *, target_user_id: str | None = None
) -> bool:
    """Whether the host's `can_moderate` allows this; False if the host has none."""
    hook = context.hooks.can_moderate
    if hook is None:
        return False
    asked = ModerationContext(user_id=user_id, action=action, target_user_id=target_user_id)
    # `is True`: a host's function that returns an object by mistake must not make moderators.
    return await hooks.call(hook, asked, limit=context.options.hook_timeout_seconds) is True


async def receives_reports(context: Context, user_id: str) -> bool:
    """Whether the streams of a user show reports; False if the host's hook fails."""
    try:
        return await is_moderator(context, user_id, "receive_reports")
    except ChatError:  # `hooks.call` has logged it.
        return False
