"""Messages hidden from participants: those that they have cleared (decision 0080), and those from
before they joined a group whose history was visible to its members only (decision 0068).

Such a participant has `hiddenUpToSeq`: messages with a seq up to that are hidden from them.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from chat_aio.store.database import Database
from chat_aio.store.documents import ConversationDocument, MessageDocument
from chat_aio.store.mapping import Parents
from chat_aio.store.pipelines import IS_TEXT

Hidden = Mapping[str, int]
"""The seq up to which messages are hidden from a user, by conversation, if any are."""

NOTHING: Hidden = MappingProxyType({})

EVERYTHING = 2**63 - 1
_HIDDEN = "participants.hiddenUpToSeq"

INDEX = "participant_hidden"
"""Named as a hint: the other index of participants covers all conversations of a user, this one
only conversations in which messages are hidden from anybody."""


def by_user(conversation: ConversationDocument) -> Mapping[str, int]:
    """The seq up to which messages are hidden, by participant, if any are."""
    found = {
        participant["userId"]: seq_of(participant["hiddenUpToSeq"])
        for participant in conversation["participants"]
        if "hiddenUpToSeq" in participant
    }
    return found or NOTHING


async def hidden_from(database: Database, user_id: str) -> Hidden:
    """The hidden messages of a user in all their conversations."""
    (found,) = await hidden_from_each(database, [user_id])
    return found


async def hidden_from_each(database: Database, user_ids: Sequence[str]) -> list[Hidden]:
    """The hidden messages of each of these users; one read for all."""
    theirs = {"$elemMatch": {"userId": {"$in": list(user_ids)}, "hiddenUpToSeq": {"$gt": 0}}}
    # `$literal`: an id that starts with `$` would be read as the name of a field.
    named = {"$in": ["$$this.userId", {"$literal": list(user_ids)}]}
    stages: list[Mapping[str, Any]] = [
        {"$match": {"participants": theirs, _HIDDEN: {"$exists": True}}},
        IS_TEXT,
        {"$project": {"participants": {"$filter": {"input": "$participants", "cond": named}}}},
    ]
    rows = await database.aggregate(database.conversations, stages, hint=INDEX)
    hidden: dict[str, dict[str, int]] = {reader: {} for reader in user_ids}
    for row in rows:
        for user_id, seq in by_user(row).items():
            hidden[user_id][row["_id"]] = seq
    return [hidden[reader] or NOTHING for reader in user_ids]


def is_hidden(message: MessageDocument, hidden: Hidden) -> bool:
    return message["seq"] <= hidden.get(message["conversationId"], 0)


def shown_among(found: Sequence[MessageDocument], hidden: Hidden) -> Sequence[MessageDocument]:
    """The messages, among these well-formed ones, that are not hidden."""
    return [row for row in found if not is_hidden(row, hidden)] if hidden else found


def quotable(parents: Parents, replies: Iterable[MessageDocument], hidden: Hidden) -> Parents:
    """The parents of these replies that are not hidden."""
    upto = {reply["replyToMessageId"]: hidden.get(reply["conversationId"], 0) for reply in replies}
    return {name: parent for name, parent in parents.items() if parent["seq"] > upto.get(name, 0)}


def unless_hidden(hidden: Hidden) -> list[dict[str, Any]]:
    """The conditions of a query that exclude hidden messages."""
    parts = [{"conversationId": name, "seq": {"$lte": seq}} for name, seq in hidden.items()]
    return [{"$nor": parts}] if parts else []


def within(hidden: Hidden, conversation_ids: Iterable[str]) -> Hidden:
    """The hidden messages in these conversations."""
    return {name: hidden[name] for name in conversation_ids if name in hidden} if hidden else hidden


def seq_of(value: object) -> int:
    """A stored seq up to which messages are hidden. If another program has written something else,
    all are."""
    return value if isinstance(value, int) else EVERYTHING
