"""Users belong to the host; the chat only checks whether they exist."""

import asyncio
from collections.abc import Iterable

from chat_aio import hooks
from chat_aio.actions.context import Context
from chat_aio.errors import UserNotFound

USERS_AT_A_TIME = 8


async def require_users(context: Context, user_id: str, user_ids: Iterable[str]) -> None:
    """Raise UserNotFound for the first of `user_ids` that the host's `user_exists` does not know.

    The hook is called once per id, eight calls at a time, and never for the acting user
    (specification 3.7).
    """
    exists = context.hooks.user_exists
    if exists is None:
        return
    limit = context.options.hook_timeout_seconds
    asked = [other for other in dict.fromkeys(user_ids) if other != user_id]
    # A few at a time: a group of 256 must not open as many connections to the host's users.
    for start in range(0, len(asked), USERS_AT_A_TIME):
        together = asked[start : start + USERS_AT_A_TIME]
        answers = await asyncio.gather(
            *(hooks.call(exists, other, limit=limit) for other in together)
        )
        for target_user_id, answer in zip(together, answers, strict=True):
            if answer is not True:
                raise UserNotFound(f"there is no user {target_user_id!r}")
