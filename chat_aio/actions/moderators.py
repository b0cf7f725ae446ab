"""Moderators: who may work on reports and bans is the host's to say."""

from chat_aio import hooks
from chat_aio.context import Context
from chat_aio.errors import NotModerator
from chat_aio.hooks import ModerationContext


async def require_moderator(
    context: Context, user_id: str, action: str, *, target_user_id: str | None = None
) -> None:
    """Raise NotModerator unless the host's `can_moderate` says yes (docs/behaviour.md 11.3)."""
    hook = context.hooks.can_moderate
    asked = ModerationContext(user_id=user_id, action=action, target_user_id=target_user_id)
    limit = context.options.hook_timeout_seconds
    if hook is None or await hooks.call(hook, asked, limit=limit) is not True:
        raise NotModerator
