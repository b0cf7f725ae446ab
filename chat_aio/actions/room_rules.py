"""Room controls, the rules: who may write in a conversation that is frozen or in slow mode, and
whom a ban keeps out (docs/behaviour.md 13.2). Without the option `room_controls` none of them
applies, but `hidden_from_new`: then no snapshot has `frozen` and `slow_mode_seconds`.
"""

from collections.abc import Collection, Mapping
from typing import Any

from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_fresh
from chat_aio.errors import ConversationBanned, ConversationFrozen
from chat_aio.schema.models import Conversation
from chat_aio.store import conversation_bans
from chat_aio.store.documents import ConversationDocument
from chat_aio.store.mapping import ALL, SINCE_JOIN
from chat_aio.store.membership import Locked
from chat_aio.store.snapshots import Snapshot

UNSET: Mapping[str, Any] = {"frozen": False, "slowModeSeconds": 0, "topic": "", "history": ALL}
"""What holds in a conversation in which nothing was ever set."""


async def require_unfrozen(context: Context, user_id: str, snapshot: Snapshot) -> None:
    """Raise ConversationFrozen if only admins may write, and the user is none."""
    if is_frozen_for(user_id, snapshot.conversation):
        # A cached snapshot may permit but never refuse.
        fresh = await load_fresh(context, snapshot.conversation.id)
        if is_frozen_for(user_id, fresh.conversation):
            raise ConversationFrozen


def is_frozen_for(user_id: str, conversation: Conversation) -> bool:
    return bool(conversation.frozen) and conversation.roles.get(user_id) != "admin"


def slow_seconds_for(user_id: str, conversation: Conversation) -> int:
    """How many seconds must lie between two messages of the user; 0 for admins."""
    is_exempt = conversation.roles.get(user_id) == "admin"
    return 0 if is_exempt else conversation.slow_mode_seconds or 0


def still_applies(
    context: Context, user_id: str, conversation: ConversationDocument, slow_seconds: int | None
) -> bool:
    """Whether a write that was checked before holds on the stored conversation: it is not frozen,
    and slow mode is as it was. With None, slow mode does not matter."""
    if not context.options.room_controls:
        return True
    found = {each["userId"]: each["role"] for each in conversation["participants"]}
    is_exempt = found.get(user_id) == "admin"
    now = 0 if is_exempt else conversation.get("slowModeSeconds", 0)
    is_frozen = conversation.get("frozen", False) and not is_exempt
    return not is_frozen and slow_seconds in (None, now)


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
