"""The rows of notifications: undecided messages, and the notifications of each user."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from chat_aio.actions.plugin_api import CreatedMessage, PluginAPI
from chat_aio.observability.observer import NotificationBacklog
from chat_aio.plugins.deliveries.rows import Deliveries, Row, unless_there
from chat_aio.plugins.own_collection import OwnCollection

MESSAGES, NOTIFICATIONS = "notification_messages", "notifications"

DECIDED_FOR = timedelta(days=1)
OVER_FOR = timedelta(days=7)
"""How long rows are kept afterwards. What is read or decided again by then is known."""

_TYPES = {
    **dict.fromkeys(("userId", "messageId", "conversationId"), str),
    **dict.fromkeys(("seq", "count", "tries"), int),
    **dict.fromkeys(("at", "dueAt", "notBefore"), datetime),
    "held": bool,
    "done": list,
}

log = logging.getLogger(__name__)


class Rows:
    """The collections `notification_messages` and `notifications`. Each write may be repeated."""

    _messages = OwnCollection(MESSAGES)
    _notifications = OwnCollection(NOTIFICATIONS)

    def __init__(self, api: PluginAPI) -> None:
        self._api = api
        self._deliveries = Deliveries(api, NOTIFICATIONS, over_for=OVER_FOR, types=_TYPES)

    async def add_messages(self, created: Sequence[CreatedMessage], delay: timedelta) -> None:
        """Note messages to be decided after a delay, except those that are noted already."""
        await self._api.write_many(
            MESSAGES,
            [
                unless_there(
                    message.message_id,
                    {
                        "conversationId": message.conversation_id,
                        "seq": message.seq,
                        "dueAt": message.created_at + delay,
                        "state": "pending",
                    },
                )
                for message in created
            ],
        )

    async def due_messages(self, now: datetime, *, limit: int) -> list[Row]:
        """The messages whose delay is over, in their order."""
        found = await self._pending({"$lte": now}, limit=limit)
        malformed = [row["_id"] for row in found if not isinstance(row["_id"], str)]
        if malformed:
            # They would hide later ones for ever.
            log.error("%s: gave up %d malformed rows", MESSAGES, len(malformed))
            await self.set_decided(malformed)
        return [row for row in found if isinstance(row["_id"], str)]

    async def next_due(self) -> datetime | None:
        """When the next message is due."""
        found = await self._pending({"$type": "date"}, limit=1)
        return found[0]["dueAt"] if found else None

    async def set_decided(self, message_ids: Sequence[Any]) -> None:
        over = {"state": "decided", "expiresAt": self._api.now() + DECIDED_FOR}
        await self._api.write(
            lambda: self._messages.update_many({"_id": {"$in": [*message_ids]}}, {"$set": over})
        )

    async def add(self, rows: Iterable[Row]) -> None:
        """Store the users' notifications, except those that were sent already."""
        await self._deliveries.add(
            (notification_id(row["userId"], row["messageId"]), row) for row in rows
        )

    async def waiting_of(self, user_id: str, *, limit: int) -> list[Row]:
        """The notifications of a user, in order."""
        return await self._deliveries.waiting({"userId": user_id}, order=["at", "seq"], limit=limit)

    async def users_waiting(self, until: datetime) -> list[str]:
        """The users with notifications due by a time, the longest waiting first."""
        pipeline: list[dict[str, Any]] = [
            {"$match": {"state": "waiting", "notBefore": {"$lte": until}}},
            {"$group": {"_id": "$userId", "since": {"$min": "$notBefore"}}},
            {"$sort": {"since": 1}},
        ]
        return [row["_id"] for row in await self._api.aggregate(NOTIFICATIONS, pipeline)]

    async def hold_up(self, user_id: str, until: datetime) -> None:
        """Delay all notifications of a user until the first one's time."""
        await self._deliveries.hold_up({"userId": user_id}, until)

    async def release(self, user_id: str, at: datetime) -> None:
        """Let notifications that quiet hours hold for a user, and those behind them, be decided
        again."""
        chosen = {
            "userId": user_id,
            "state": "waiting",
            "$or": [{"held": True}, {"tries": 0}],
            "notBefore": {"$gt": at},
        }
        await self._api.write(
            lambda: self._notifications.update_many(chosen, {"$set": {"notBefore": at}})
        )

    async def notified_since(self, row: Row, *, read: int, joined_at: datetime) -> bool:
        """Whether the user of a row was notified of a message of its conversation that they have
        not read: one behind the seq `read`, from after they joined."""
        chosen = {
            "userId": row["userId"],
            "state": "delivered",
            "conversationId": row["conversationId"],
            "seq": {"$gt": read, "$ne": row["seq"]},
            # Users who rejoin have read nothing, and were not notified of this stay.
            "at": {"$gte": joined_at},
        }
        found = await self._api.read(lambda: self._notifications.find_one(chosen, {"_id": 1}))
        return found is not None

    async def set_notified(self, row: Row, **fields: Any) -> None:
        """Change a row that waits to delivered, and keep it: the next message of the conversation
        is compared with it, however late. Earlier ones of the user there get a time of expiry."""
        delivered = {**fields, "state": "delivered"}
        here = {"_id": row["_id"], "state": "waiting"}
        await self._api.write(lambda: self._notifications.update_one(here, {"$set": delivered}))
        # Afterwards: if this process ends in between, the next delivery does it.
        earlier = {
            "userId": row["userId"],
            "state": "delivered",
            "conversationId": row["conversationId"],
            "seq": {"$lt": row["seq"]},
            "expiresAt": {"$exists": False},
        }
        over = {"expiresAt": self._api.now() + OVER_FOR}
        await self._api.write(lambda: self._notifications.update_many(earlier, {"$set": over}))

    async def change(self, row: Row, **fields: Any) -> None:
        """Change a row that waits."""
        await self._deliveries.change(row, **fields)

    async def dead(self, *, limit: int) -> list[Row]:
        """Dead letters, the oldest first."""
        return await self._deliveries.dead(order=["notBefore", "userId"], limit=limit)

    async def retry(self, **chosen: str | None) -> int:
        """Let dead letters with the given fields wait again; returns their number."""
        return await self._deliveries.retry(**chosen)

    async def backlog(self) -> NotificationBacklog:
        pending = await self._api.read(
            lambda: self._messages.count_documents({"state": "pending", "dueAt": {"$exists": True}})
        )
        return NotificationBacklog(pending=pending, **await self._deliveries.count())

    async def _pending(self, due: Mapping[str, Any], *, limit: int) -> list[Row]:
        chosen, by = {"state": "pending", "dueAt": due}, [("dueAt", 1), ("seq", 1)]
        found: list[Row] = await self._api.read(
            lambda: self._messages.find(chosen).sort(by).limit(limit).to_list(None)
        )
        return found


def notification_id(user_id: str, message_id: str) -> dict[str, str]:
    return {"userId": user_id, "messageId": message_id}
