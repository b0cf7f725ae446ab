"""Adding and removing people below the rules, as membership actions do it."""

from typing import Any

from chat_aio import Chat
from chat_aio.actions.context import new_id, utc_now
from chat_aio.store.conversations import new_participant
from chat_aio.store.documents import ChangeKind
from chat_aio.store.membership import Locked, MembershipChange


def alteration(
    locked: Locked, add: tuple[str, ...], remove: tuple[str, ...]
) -> MembershipChange | None:
    """The change that brings `add` in, or `remove` out; None where that is so already."""
    inside = {participant["userId"] for participant in locked.conversation["participants"]}
    added = [user_id for user_id in add if user_id not in inside]
    removed = [user_id for user_id in remove if user_id in inside]
    if not added and not removed:
        return None
    at = utc_now()
    kind: ChangeKind = "participant.added" if added else "participant.removed"
    return MembershipChange(
        added=tuple(new_participant(user_id, role="member", at=at) for user_id in added),
        removed=tuple(removed),
        change={
            "id": new_id(),
            "at": at,
            "kind": kind,
            "actorId": "alice",
            "addedUserIds": added,
            "removedUserIds": removed,
        },
    )


async def change(
    chat: Chat,
    conversation_id: str,
    *,
    add: tuple[str, ...] = (),
    remove: tuple[str, ...] = (),
) -> Any:
    """Change who is in a conversation, through this chat's store."""

    async def decide(locked: Locked) -> MembershipChange | None:
        return alteration(locked, add, remove)

    changed = await chat._context.membership.change(conversation_id, decide)
    return changed and changed.conversation
