"""Adding and removing people below the rules, as the membership transaction does it."""

from typing import Any

from chat_aio import Chat
from chat_aio.context import new_id, utc_now
from chat_aio.store.conversations import new_participant
from chat_aio.store.documents import ConversationDocument
from chat_aio.store.membership import Membership, change_membership


def membership(
    found: ConversationDocument, add: tuple[str, ...], remove: tuple[str, ...]
) -> Membership | None:
    """The change that brings `add` in and `remove` out, None where that is so already."""
    inside = {each["userId"] for each in found["participants"]}
    added = tuple(
        new_participant(each, role="member", at=utc_now()) for each in add if each not in inside
    )
    removed = tuple(each for each in remove if each in inside)
    if not added and not removed:
        return None
    return Membership(
        added=added,
        removed=removed,
        change={
            "id": new_id(),
            "at": utc_now(),
            "kind": "participant.added" if added else "participant.removed",
            "actorId": "alice",
            "addedUserIds": [each["userId"] for each in added],
            "removedUserIds": list(removed),
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
    context = chat.api
    return await change_membership(
        context.database,
        context.sequencer,
        context.snapshots,
        conversation_id,
        lambda found: membership(found, add, remove),
    )
