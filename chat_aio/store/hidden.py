"""What is hidden from participants: the messages from before they joined a group whose history was
for those who were in it (docs/decisions/0068).

Such a participant has `hiddenUpto`: what has a seq up to that is not there for them.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from chat_aio.store.database import Database
from chat_aio.store.documents import ConversationDocument, MessageDocument
from chat_aio.store.mapping import Parents

Hidden = Mapping[str, int]
"""Up to which seq messages are hidden from a user, by conversation, where any are."""

NOTHING: Hidden = MappingProxyType({})

EVERYTHING = 2**63 - 1

INDEX = "participant_hidden"
"""Named as a hint: the other index of participants has all conversations of a user."""


def by_user(conversation: ConversationDocument) -> Mapping[str, int]:
    """Up to which seq messages are hidden, by participant, where any are."""
    found = {
        each["userId"]: seq_of(each["hiddenUpto"])
        for each in conversation["participants"]
        if "hiddenUpto" in each
    }
    return found or NOTHING


async def hidden_from(database: Database, user_id: str) -> Hidden:
    """What is hidden from a user in all their conversations. The index has only those in which
    anything is hidden from anybody."""
    chosen = {"participants.userId": user_id, "participants.hiddenUpto": {"$exists": True}}
    theirs = {"participants": {"$elemMatch": {"userId": user_id}}}
    found = await database.read(
        lambda: database.conversations.find(chosen, theirs).hint(INDEX).to_list(None)
    )
    mine = {each["_id"]: each["participants"][0] for each in found if isinstance(each["_id"], str)}
    return {name: seq_of(each["hiddenUpto"]) for name, each in mine.items() if "hiddenUpto" in each}


def is_hidden(message: MessageDocument, hidden: Hidden) -> bool:
    return message["seq"] <= hidden.get(message["conversationId"], 0)


def shown_among(found: Sequence[MessageDocument], hidden: Hidden) -> Sequence[MessageDocument]:
    """Those of some well-formed messages that are not hidden."""
    return [each for each in found if not is_hidden(each, hidden)] if hidden else found


def quotable(parents: Parents, replies: Iterable[MessageDocument], hidden: Hidden) -> Parents:
    """Those of the parents of some replies that are not hidden."""
    upto = {each["replyToMessageId"]: hidden.get(each["conversationId"], 0) for each in replies}
    return {name: each for name, each in parents.items() if each["seq"] > upto.get(name, 0)}


def unless_hidden(hidden: Hidden) -> list[dict[str, Any]]:
    """The conditions of a query that leave out what is hidden."""
    parts = [{"conversationId": name, "seq": {"$lte": seq}} for name, seq in hidden.items()]
    return [{"$nor": parts}] if parts else []


def within(hidden: Hidden, conversation_ids: Iterable[str]) -> Hidden:
    """What is hidden in these conversations."""
    return {name: hidden[name] for name in conversation_ids if name in hidden} if hidden else hidden


def seq_of(value: object) -> int:
    """A stored seq up to which messages are hidden. Where another program has written something
    else, all are."""
    return value if isinstance(value, int) else EVERYTHING
