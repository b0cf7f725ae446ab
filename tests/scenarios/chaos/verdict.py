"""What must hold when all is over."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tests.scenarios.chaos.calls import Book, Caller
from tests.scenarios.chaos.readers import Reader

Stored = Mapping[str, Mapping[str, Any]]


def of_storage(stored: Stored, book: Book) -> list[str]:
    """Every acknowledged send is there once, as its writer left it; numbers have no gaps."""
    found: list[str] = []
    keys = Counter(message["clientMessageId"] for message in stored.values())
    found += [f"{key} is stored {times} times" for key, times in keys.items() if times > 1]
    found += [f"{key} was acknowledged and is lost" for key in book.sent.keys() - keys.keys()]
    found += [f"{key} was never sent" for key in keys.keys() - book.began.keys()]
    numbers: dict[str, list[int]] = defaultdict(list)
    for message_id, message in stored.items():
        numbers[message["conversationId"]].append(message["seq"])
        sent = book.sent.get(message["clientMessageId"])
        if sent is None:
            found.append(f"{message_id} was never acknowledged")
        elif (message_id, message["seq"], message["body"]) != (
            sent.message_id,
            sent.seq,
            sent.body,
        ):
            found.append(f"{sent} is stored as {message}")
    for conversation_id, seqs in numbers.items():
        if sorted(seqs) != list(range(1, len(seqs) + 1)):
            found.append(f"the numbers of {conversation_id} have gaps: {sorted(seqs)}")
    return found


def of_reader(reader: Reader, stored: Stored, expected: Iterable[str]) -> list[str]:
    """What they have been told, and fetched, is all there is, in its last state."""
    found = [*reader.violations]
    for message_id in expected:
        told, kept = reader.messages.get(message_id), stored[message_id]
        name = f"{kept['conversationId']}:{kept['seq']}"
        if told is None:
            found.append(f"never told of {name}")
        elif (told["body"], told["deletedAt"] is None) != (kept["body"], kept["deletedAt"] is None):
            found.append(f"told {name} as {told['body']!r}, which is {kept['body']!r}")
    return [f"{reader.user_id}: {fault}" for fault in found]


async def of_unread(user_id: str, caller: Caller, database: Any) -> list[str]:
    """The counts that are shown are those that counting gives."""
    page = await caller.call(user_id, "GET", "/conversations?limit=200")
    found = []
    for conversation in page["conversations"]:
        kept = await database["conversations"].find_one({"_id": conversation["id"]})
        read = next(one["lastReadSeq"] for one in kept["participants"] if one["userId"] == user_id)
        behind = {"senderId": {"$ne": user_id}, "seq": {"$gt": read}}
        count = await database["messages"].count_documents(
            {"conversationId": conversation["id"], **behind}
        )
        if count != conversation["unreadCount"]:
            found.append(
                f"{user_id} has {count} unread in {conversation['id']}, "
                f"told {conversation['unreadCount']}"
            )
    return found
