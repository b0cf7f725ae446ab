"""Leaving every conversation for good: a group goes on without its leaver, a direct conversation
with a pseudonym in their place. Clients hear of both as of anybody who leaves."""

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from chat_aio.actions.context import Context
from chat_aio.actions.groups import AUTHORS, seniority, without_erased
from chat_aio.store.documents import ConversationDocument, ParticipantDocument
from chat_aio.store.maintenance.erasure import Erasure, rename_in_stamp
from chat_aio.store.membership import Locked, MembershipChange
from chat_aio.store.sent_counts import Known
from chat_aio.store.settings import Settings

CLEARED: Mapping[str, str | None] = {"name": None, "topic": ""}


def is_in(of: Erasure, conversation: Mapping[str, Any]) -> bool:
    """Whether there is anything to leave."""
    inside = [each["userId"] for each in conversation["participants"]]
    return of.user_id in [*inside, *conversation.get("blockedBy", ())]


async def leave(context: Context, of: Erasure, conversation_id: str) -> None:
    """Leave a conversation, if one is in it. Clients hear who has left; after that the stamp names
    the pseudonym."""
    departure = partial(_departure, context.settings, of)
    changed = await context.membership.change(conversation_id, departure)
    if changed is not None:
        await rename_in_stamp(context.database, of, changed.conversation)


async def clear_text(context: Context, of: Erasure, conversation_id: str, text: str) -> None:
    """Clear the name or the topic of a group, unless somebody else has written another one since.
    Clients get the event of a change by the pseudonym."""

    async def decide(locked: Locked) -> MembershipChange | None:
        if cast(Mapping[str, Any], locked.conversation).get(AUTHORS[text]) != of.user_id:
            return None
        fields = {text: CLEARED[text], AUTHORS[text]: of.pseudonym}
        return MembershipChange(change=of.change("conversation.updated"), fields=fields)

    await context.membership.change(conversation_id, decide)


async def _departure(settings: Settings, of: Erasure, locked: Locked) -> MembershipChange | None:
    conversation = locked.conversation
    if not is_in(of, conversation):
        return None
    change = of.change("participant.removed")
    change["removedUserIds"] = [of.user_id]
    if conversation["type"] == "group":
        staying = without_erased(conversation["participants"], of.user_id)
        return MembershipChange(change=change, fields={"participants": staying})
    await settings.count_erasure(of.pseudonym, locked.session)
    return MembershipChange(change=change, fields=_replaced(of, conversation))


def _replaced(of: Erasure, conversation: ConversationDocument) -> dict[str, Any]:
    """A direct conversation with the pseudonym. Blocks between the two are gone with the user."""
    participants = [
        _pseudonym(of, participant) if participant["userId"] == of.user_id else participant
        for participant in conversation["participants"]
    ]
    pair = sorted(each["userId"] for each in participants)
    return {
        "participants": sorted(participants, key=seniority),
        "pairKey": ":".join(pair),
        "blockedBy": [],
    }


def _pseudonym(of: Erasure, participant: ParticipantDocument) -> ParticipantDocument:
    """The participant who replaces the user. The head has no counts of a pseudonym, so the
    participant must not refer to them: its messages are counted one by one."""
    kept = {name: value for name, value in participant.items() if name not in Known.__annotations__}
    return cast(ParticipantDocument, {**kept, "userId": of.pseudonym})
