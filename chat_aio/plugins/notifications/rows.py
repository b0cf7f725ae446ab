"""The rows of notifications: undecided messages, and the notifications of each user."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from chat_aio.actions.plugin_api import CreatedMessage, PluginAPI, Write
from chat_aio.observability.observer import NotificationBacklog
from chat_aio.plugins.deliveries.rows import Row, has_types
from chat_aio.plugins.deliveries.tries import DEAD_FOR
from chat_aio.plugins.own_collection import OwnCollection

MESSAGES, NOTIFICATIONS = "notification_messages", "notifications"

DECIDED_FOR = timedelta(days=1)
OVER_FOR = timedelta(days=7)
"""How long rows are kept afterwards. What is read or decided again by then is known."""

_TYPES = {
    **dict.fromkeys(("userId", "messageId", "conversationId"), str),
    **dict.fromkeys(("seq", "count", "tries"), int),
    **dict.fromkeys(("at", "due", "notBefore"), datetime),
    "done": list,
}

log = logging.getLogger(__name__)


class Rows:
    """The collections `notification_messages` and `notifications`. Each write may be repeated."""

    _messages = OwnCollection(MESSAGES)
    _notifications = OwnCollection(NOTIFICATIONS)

    def __init__(self, api: PluginAPI) -> None:
        self._api = api

    async def add_messages(self, created: Sequence[CreatedMessage], delay: timedelta) -> None:
        """Note messages to be decided after a delay, except those that are noted already."""
        await self._api.write_many(
            MESSAGES,
            [
                _unless_there(
                    message.message_id,
                    conversationId=message.conversation_id,
                    seq=message.seq,
                    due=message.created_at + delay,
                    state="pending",
                )
                for message in created
            ],
        )

    async def due_messages(self, now: datetime, *, limit: int) -> list[Row]:
        """The messages whose delay is over, in their order."""
        found = await self._found(
            self._messages, {"state": "pending", "due": {"$lte": now}}, ("due", "seq"), limit
        )
        return [row for row in found if isinstance(row["_id"], str)]

    async def next_due(self) -> datetime | None:
        """When the next message is due."""
        found = await self._found(self._messages, {"state": "pending"}, ("due", "seq"), 1)
        return found[0]["due"] if found else None

    async def set_decided(self, message_ids: Sequence[str]) -> None:
        over = {"state": "decided", "expiresAt": self._api.now() + DECIDED_FOR}
        await self._api.write(
            lambda: self._messages.update_many({"_id": {"$in": [*message_ids]}}, {"$set": over})
        )

    async def add(self, rows: Iterable[Row]) -> None:
        """Store the users' notifications, except those that were sent already."""
        await self._api.write_many(
            NOTIFICATIONS,
            [
                _unless_there(notification_id(row["userId"], row["messageId"]), **row)
                for row in rows
            ],
        )

    async def waiting_of(self, user_id: str, *, limit: int) -> list[Row]:
        """The notifications of a user, in order."""
        chosen = {"userId": user_id, "state": "waiting"}
        found = await self._found(self._notifications, chosen, ("at", "seq"), limit)
        kept = [row for row in found if has_types(row, _TYPES)]
        if len(kept) < len(found):
            log.error("notifications: left out %d malformed rows", len(found) - len(kept))
        return kept

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
        chosen = {"userId": user_id, "state": "waiting", "notBefore": {"$lt": until}}
        await self._api.write(
            lambda: self._notifications.update_many(chosen, {"$set": {"notBefore": until}})
        )

    async def release(self, user_id: str, at: datetime) -> None:
        """Let what quiet hours hold for a user be decided again."""
        chosen = {"userId": user_id, "state": "waiting", "held": True}
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
        """Change a row that waits. One that is over gets its time of expiry."""
        if fields.get("state", "waiting") != "waiting":
            keep = DEAD_FOR if fields["state"] == "dead" else OVER_FOR
            fields["expiresAt"] = self._api.now() + keep
        # Not one that is over: a process without the lease may come late.
        here = {"_id": row["_id"], "state": "waiting"}
        await self._api.write(lambda: self._notifications.update_one(here, {"$set": fields}))

    async def dead(self, *, limit: int) -> list[Row]:
        """Dead letters, the oldest first."""
        return await self._found(
            self._notifications, {"state": "dead"}, ("notBefore", "userId"), limit
        )

    async def retry(self, user_id: str | None, message_id: str | None) -> int:
        """Let dead letters wait again: all, those of a user, or one; returns how many."""
        chosen: dict[str, Any] = {"state": "dead"}
        if user_id is not None:
            chosen["userId"] = user_id
        if message_id is not None:
            chosen["messageId"] = message_id
        again = {
            "state": "waiting",
            "tries": 0,
            "due": self._api.now(),
            "notBefore": self._api.now(),
        }
        changed = await self._api.write(
            lambda: self._notifications.update_many(
                chosen, {"$set": again, "$unset": {"expiresAt": ""}}
            )
        )
        count: int = changed.modified_count
        return count

    async def backlog(self) -> NotificationBacklog:
        counts = await self._api.aggregate(
            NOTIFICATIONS,
            [
                {"$match": {"state": {"$in": ["waiting", "dead"]}}},
                {"$group": {"_id": "$state", "count": {"$sum": 1}}},
            ],
        )
        by_state = {count["_id"]: count["count"] for count in counts}
        pending = await self._api.read(
            lambda: self._messages.count_documents({"state": "pending", "due": {"$exists": True}})
        )
        return NotificationBacklog(
            pending=pending, waiting=by_state.get("waiting", 0), dead=by_state.get("dead", 0)
        )

    async def _found(
        self, rows: Any, chosen: Mapping[str, Any], order: Sequence[str], limit: int
    ) -> list[Row]:
        by = [(field, 1) for field in order]
        found: list[Row] = await self._api.read(
            lambda: rows.find(chosen).sort(by).limit(limit).to_list(None)
        )
        return found


def notification_id(user_id: str, message_id: str) -> dict[str, str]:
    return {"userId": user_id, "messageId": message_id}


def _unless_there(row_id: object, **fields: Any) -> Write:
    # An update, so that a message that is read or decided twice revives no row that is over.
    return {"_id": row_id}, {"$setOnInsert": fields}
