"""Leaving every conversation for good: a group without its leaver, a direct conversation with a
pseudonym in their place. Clients hear of both as of anybody who leaves."""

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from chat_aio.store.database import Database
from chat_aio.store.documents import ConversationDocument, ParticipantDocument
from chat_aio.store.maintenance.erasure import Erasure
from chat_aio.store.membership import Locked, MembershipChange, change_conversation
from chat_aio.store.sequencer import Sequencer
from chat_aio.store.settings import Settings
from chat_aio.store.snapshots import Snapshots

STAMPED = ("addedUserIds", "removedUserIds", "affectedUserIds")


def is_in(of: Erasure, conversation: Mapping[str, Any]) -> bool:
    """Whether there is anything to leave."""
    inside = [each["userId"] for each in conversation["participants"]]
    return of.user_id in [*inside, *conversation.get("blockedBy", ())]


async def depart(
    database: Database,
    sequencer: Sequencer,
    snapshots: Snapshots,
    settings: Settings,
    of: Erasure,
    conversation_id: str,
) -> None:
    """Leave a conversation, if one is in it. It is told of who has left; the stamp, once told,
    names the pseudonym."""
    changed = await change_conversation(
        database, sequencer, snapshots, conversation_id, partial(_departure, settings, of)
    )
    if changed is not None:
        await rename_in_stamp(database, of, changed.conversation)


async def _departure(settings: Settings, of: Erasure, locked: Locked) -> MembershipChange | None:
    conversation = locked.conversation
    if not is_in(of, conversation):
        return None
    change = of.change("participant.removed")
    change["removedUserIds"] = [of.user_id]
    if conversation["type"] == "group":
        return MembershipChange(
            change=change, fields={"participants": _left_behind(of, conversation)}
        )
    await settings.count_erasure(of.pseudonym, locked.session)
    return MembershipChange(change=change, fields=_replaced(of, conversation))


def _left_behind(of: Erasure, conversation: ConversationDocument) -> list[ParticipantDocument]:
    """Who stays in a group. Where no admin does, who has been in it longest becomes one."""
    staying = [each for each in conversation["participants"] if each["userId"] != of.user_id]
    if staying and not any(each["role"] == "admin" for each in staying):
        heir = min(staying, key=_seniority)
        return [{**each, "role": "admin"} if each is heir else each for each in staying]
    return staying


def _replaced(of: Erasure, conversation: ConversationDocument) -> dict[str, Any]:
    """A direct conversation with the pseudonym. Blocks between the two are gone with the user."""
    participants = [
        cast(ParticipantDocument, {**each, "userId": name})
        for each in conversation["participants"]
        for name in of.renamed([each["userId"]])
    ]
    pair = sorted(each["userId"] for each in participants)
    return {
        "participants": sorted(participants, key=_seniority),
        "pairKey": ":".join(pair),
        "blockedBy": [],
    }


def _seniority(participant: ParticipantDocument) -> tuple[Any, str]:
    return participant["joinedAt"], participant["userId"]


async def rename_in_stamp(database: Database, of: Erasure, conversation: Mapping[str, Any]) -> None:
    """The pseudonym in the last change of a conversation, quietly: field by field, which streams
    do not hear of."""
    change: Mapping[str, Any] = conversation.get("change") or {}
    fields: dict[str, Any] = {
        f"change.{name}": of.renamed(change[name])
        for name in STAMPED
        if of.user_id in (change.get(name) or ())
    }
    if change.get("actorId") == of.user_id:
        fields["change.actorId"] = of.pseudonym
    if not fields:
        return
    await database.write(
        lambda: database.conversations.update_one(
            {"_id": conversation["_id"], "change.id": change.get("id")}, {"$set": fields}
        )
    )
