"""Rules of room controls: bans from groups, and messages from before a user joined
(docs/behaviour.md 13). Who may write in a frozen group or in slow mode is a rule of `writing.py`.
"""

from collections.abc import Collection

from chat_aio.actions.context import Context
from chat_aio.errors import ConversationBanned
from chat_aio.store import conversation_bans
from chat_aio.store.documents import SINCE_JOIN
from chat_aio.store.membership import Locked


async def require_admissible(context: Context, locked: Locked, user_ids: Collection[str]) -> None:
    """Raise ConversationBanned if one of these users, who are about to come in or to ask for it, is
    banned. The conversation is locked by them as by whoever bans, so nobody comes in past a ban."""
    if not context.options.room_controls:
        return
    if await conversation_bans.banned_among(locked, user_ids):
        raise ConversationBanned


def hidden_from_new(locked: Locked) -> int:
    """Up to which seq messages are hidden from those who join now. It holds also where the option
    is off: what a group has said to itself must not be told by a changed setting."""
    is_hidden = locked.conversation.get("history") == SINCE_JOIN
    return locked.head["seq"] if is_hidden else 0
