"""How many messages each participant has sent, counted by the sends themselves, so that lists need
not count them (decision 0054).

The head of a conversation has the counts in `sent`, by user, and in `counted` the number of
messages that they cover. Messages of a program that does not count leave `counted` behind `seq`;
then lists ignore the counts until a repair has recounted (store/maintenance/repair.py).
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
"""Named as a hint: by default MongoDB sometimes scans all messages of other users."""

WITHOUT_COUNTS = {"sent": 0, "lastSentAt": 0}
"""The projection of a head without its data per user, up to 256 of them."""

ADDABLE = {
    "$jsonSchema": {
        "properties": {
            "counted": {"bsonType": WHOLE},
            "sent": {"bsonType": "object", "additionalProperties": {"bsonType": WHOLE}},
        }
    }
}
"""The condition for a head whose counts can be raised: another program may have corrupted them."""


def place_of(user_id: str) -> str:
    """The field of a head that has the count of a user."""
    return f"sent.{escaped_key(user_id)}"


def with_counts_of(user_ids: Iterable[str]) -> dict[str, int]:
    """The projection of a head with the counts of some users only."""
    fields = (field for field in CounterDocument.__annotations__ if field not in WITHOUT_COUNTS)
    return dict.fromkeys([*fields, *map(place_of, user_ids)], 1)


def growth(messages: Collection[MessageDocument]) -> dict[str, int]:
    """The increments of a head by these messages of one conversation."""
    # In the same update as `seq`: a count that grew by itself could be behind the messages.
    senders = Counter(message["senderId"] for message in messages)
    counts = {place_of(user_id): count for user_id, count in senders.items()}
    return {"seq": len(messages), "counted": len(messages), **counts}


def count_of(head: CounterDocument, user_id: str) -> int:
    return head.get("sent", {}).get(escaped_key(user_id), 0)


def is_complete(head: CounterDocument) -> bool:
    """Whether the counts cover every message."""
    return head["seq"] == head.get("counted", 0)


class SentBaseline(TypedDict):
    """The number of messages that a participant had sent at some point, as fields of a
    participant."""

    sentUpToSeq: int
    sentCount: int


def known(*, upto: int, count: int) -> SentBaseline:
    return {"sentUpToSeq": upto, "sentCount": count}


def nothing_up_to(seq: int) -> SentBaseline:
    """The known count of a participant whose messages start behind `seq`."""
    return known(upto=seq, count=0)


def own_behind(
    start: int,
    reader: ParticipantDocument,
    conversation: ConversationDocument,
    head: CounterDocument,
) -> int | None:
    """The number of a participant's messages with a seq behind `start`; None if the counts do not
    determine it, and the messages must be counted."""
    upto, known_count = reader.get("sentUpToSeq"), reader.get("sentCount")
    # Another epoch: they may have left and rejoined in between, and their count restarted.
    if (
        upto is None
        or known_count is None
        or not is_complete(head)
        or head["epoch"] != conversation["epoch"]
    ):
        return None
    count = count_of(head, reader["userId"])
    # If the counts are equal, they have sent nothing since, so nothing behind `start` either.
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
    """The number of messages with a seq in (after, upto] by user; users without any are left
    out."""
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
