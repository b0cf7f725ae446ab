"""What the operators' actions share: who may act, and how an action shows how far it is."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from chat_aio.actions.context import Context
from chat_aio.actions.guards import user_action_as

Advance = Callable[[int], object]
"""Called with how many more things are done."""

Progress = Callable[[str, int], AbstractContextManager[Advance]]
"""Opens a stage: its name, and about how many things there are to do."""


def silent(_stage: str, _length: int) -> AbstractContextManager[Advance]:
    """No progress is shown."""
    return nullcontext(lambda _: None)


@user_action_as(None)
async def require_operator(context: Context, user_id: str) -> None:
    """Raise InvalidInput for what can be no user's id, and UserBanned for who is banned.

    The actions call this instead of being marked as a user's action: that would bound the whole of
    their work by the time that one request has.
    """
