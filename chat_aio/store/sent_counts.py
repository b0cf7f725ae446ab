"""How many messages each participant has sent, counted by the sends themselves, so that no list has
to count them (docs/decisions/0054).

The head of a conversation has the counts in `sent`, by user, and in `counted` how many messages
they are about. Messages of a program that does not count leave `counted` behind `seq`; then lists
ignore the counts until a repair has recounted (store/maintenance/repair.py).
"""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import TypedDict

from chat_aio.store.database import Database
from chat_aio.store.documents import (
    ConversationDocument,
    CounterDocument,
    MessageDocument,
    ParticipantDocument,
)
from chat_aio.store.drivers import maybe_await
from chat_aio.store.metadata import escaped_key
from chat_aio.store.shapes import WHOLE
from chat_aio.store.transactions import Session

OWN_INDEX = "sender_conversation_seq"
"""Named as a hint: left to itself, MongoDB sometimes scans all messages that others have sent."""

WITHOUT_COUNTS = {"sent": 0, "lastSentAt": 0}
"""The projection of a head without what it has for each user, up to 256 of them."""

ADDABLE = {
    "$jsonSchema": {
        "properties": {
            "counted": {"bsonType": WHOLE},
            "sent": {"bsonType": "object", "additionalProperties": {"bsonType": WHOLE}},
        }
    }
}
"""The condition for a head to whose counts can be added: another program may have spoilt them."""


def place_of(user_id: str) -> str:
    """The field of a head that has the count of a user."""
    return f"sent.{escaped_key(user_id)}"


def with_counts_of(user_ids: Iterable[str]) -> dict[str, int]:
    """The projection of a head with the counts of some users only."""
    fields = (field for field in CounterDocument.__annotations__ if field not in WITHOUT_COUNTS)
    return dict.fromkeys([*fields, *map(place_of, user_ids)], 1)


def growth(messages: Collection[MessageDocument]) -> dict[str, int]:
    """What these messages of one conversation add to its head."""
    senders = Counter(message["senderId"] for message in messages)
    counts = {place_of(user_id): count for user_id, count in senders.items()}
    return {"seq": len(messages), "counted": len(messages), **counts}


def count_of(head: CounterDocument, user_id: str) -> int:
    return head.get("sent", {}).get(escaped_key(user_id), 0)


def is_complete(head: CounterDocument) -> bool:
    """Whether the counts are about every message."""
    return head["seq"] == head.get("counted", 0)


class Known(TypedDict):
    """What a participant had sent at some point, as fields of a participant."""

    sentUpto: int
    sentCount: int


def known(*, upto: int, count: int) -> Known:
    return {"sentUpto": upto, "sentCount": count}


def nothing_up_to(seq: int) -> Known:
    """What is known of a participant whose count begins behind `seq`."""
    return known(upto=seq, count=0)


def own_behind(
    start: int,
    reader: ParticipantDocument,
    conversation: ConversationDocument,
    head: CounterDocument,
) -> int | None:
    """How many messages with a seq behind `start` a participant has sent; None if counts do not say
    it, and the messages must be counted."""
    upto, known_count = reader.get("sentUpto"), reader.get("sentCount")
    # Another epoch: they may have left and come back in between, and their count began anew.
    if (
        upto is None
        or known_count is None
        or not is_complete(head)
        or head["epoch"] != conversation["epoch"]
    ):
        return None
    count = count_of(head, reader["userId"])
    # Where the counts are the same, they have sent nothing since, so nothing behind `start` either.
    if upto == start or (upto < start and known_count == count):
        return count - known_count
    return None


async def count_sent(
    database: Database,
    conversation_id: object,
    user_ids: Collection[str],
    *,
    after: int,
    upto: int,
    session: Session,
) -> dict[str, int]:
    """How many messages with a seq in (after, upto] users have sent; who sent none is left out."""
    stages = [
        {
            "$match": {
                "senderId": {"$in": list(user_ids)},
                "conversationId": conversation_id,
                "seq": {"$gt": after, "$lte": upto},
            }
        },
        {"$group": {"_id": "$senderId", "count": {"$sum": 1}}},
    ]
    rows = await maybe_await(database.messages.aggregate(stages, session=session, hint=OWN_INDEX))
    return {row["_id"]: row["count"] for row in await rows.to_list(None)}
