"""Rules of joining a group: users banned from it may not, and messages from before may be hidden
(specification 13).
"""

from collections.abc import Collection

from chat_aio.actions.context import Context
from chat_aio.errors import ConversationBanned
from chat_aio.store import conversation_bans
from chat_aio.store.documents import SINCE_JOIN
from chat_aio.store.membership import Locked


async def require_admissible(context: Context, locked: Locked, user_ids: Collection[str]) -> None:
    """Raise ConversationBanned if one of these users, who are about to join or to request it, is
    banned. Joins and bans lock the conversation, so nobody joins past a ban."""
    if not context.options.room_controls:
        return
    # One refusal for all: an admin who adds several users must decide about the banned one.
    if await conversation_bans.banned_among(locked, user_ids):
        raise ConversationBanned


def hidden_from_new(locked: Locked) -> int:
    """The seq up to which messages are hidden from users who join now. It holds even if the option
    is off: a changed setting must not reveal a group's earlier messages."""
    is_hidden = locked.conversation.get("history") == SINCE_JOIN
    return locked.head["seq"] if is_hidden else 0
