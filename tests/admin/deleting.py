"""A group of any size, to be deleted."""

from typing import Any

from chat_aio.actions.context import new_id, utc_now
from chat_aio.store.conversations import new_conversation
from chat_aio.store.messages import new_message
from tests.conftest import Database


async def filled_group(
    database: Database, messages: int, members: int, *, conversation_id: str | None = None
) -> str:
    """A group with so many members and messages, written at once; returns its id."""
    users, at = [f"user-{number}" for number in range(members)], utc_now()
    group: Any = new_conversation(
        conversation_id or new_id(),
        creator_id=users[0],
        roles={users[0]: "admin", **dict.fromkeys(users[1:], "member")},
        at=at,
        change_id=new_id(),
    )
    sent = {
        user_id: messages // members + (n < messages % members) for n, user_id in enumerate(users)
    }
    head = {"_id": group["_id"], "seq": messages, "activityAt": at, "epoch": 0, "fence": 0}
    head |= {"public": False, "floorSeq": 0, "counted": messages, "sent": sent}
    await database["counters"].insert_one(head)
    await database["conversations"].insert_one(group)
    for start in range(0, messages, 5_000):
        rows: list[Any] = [
            {
                **new_message(new_id(), group["_id"], users[n % members], f"word {n}", at=at),
                "seq": n + 1,
                "terms": ["word", str(n)],
                "search": f"aa{n % 97:04x} bb{n:06x}",
            }
            for n in range(start, min(start + 5_000, messages))
        ]
        await database["messages"].insert_many(rows, ordered=False)
    return str(group["_id"])
