"""Users are the host's: all that is asked here is whether they exist."""

import asyncio
from collections.abc import Iterable

from chat_aio import hooks
from chat_aio.actions.context import Context
from chat_aio.errors import UserNotFound

USERS_AT_A_TIME = 8


async def require_users(context: Context, user_id: str, user_ids: Iterable[str]) -> None:
    """Raise UserNotFound for the first of distinct `user_ids` that the host does not know.

    The acting user is not asked about; eight questions are under way at a time
    (docs/behaviour.md 3.7).
    """
    exists = context.hooks.user_exists
    if exists is None:
        return
    limit = context.options.hook_timeout_seconds
    asked = [each for each in dict.fromkeys(user_ids) if each != user_id]
    for start in range(0, len(asked), USERS_AT_A_TIME):
        together = asked[start : start + USERS_AT_A_TIME]
        answers = await asyncio.gather(
            *(hooks.call(exists, each, limit=limit) for each in together)
        )
        for target_user_id, answer in zip(together, answers, strict=True):
            if answer is not True:
                raise UserNotFound(f"there is no user {target_user_id!r}")
