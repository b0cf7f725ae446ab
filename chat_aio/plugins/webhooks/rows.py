"""The rows of webhooks: references to events."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import NoneType
from typing import Any

from chat_aio.actions.plugin_api import PluginAPI, StoredEvent
from chat_aio.observability.observer import WebhookBacklog
from chat_aio.plugins.deliveries.rows import Deliveries, Row
from chat_aio.plugins.own_collection import OwnCollection

DELIVERIES = "webhook_deliveries"
OVER_FOR = timedelta(days=1)
"""How long posted events are kept. Within that time an event that is read again is not posted
twice."""

LANES_AT_ONCE = 1_000

GAP = "webhook.gap"
NOWHERE = ""
"""The lane of events that are about no conversation."""

_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(("eventId", "type", "conversationId", "order"), str),
    **dict.fromkeys(("messageId", "actorId", "emoji"), (str, NoneType)),
    **dict.fromkeys(("at", "dueAt", "notBefore"), datetime),
    "affectedUserIds": list,
    "tries": int,
}


class Rows:
    """The rows of one webhook in the collection `webhook_deliveries`."""

    _rows = OwnCollection(DELIVERIES)

    def __init__(self, api: PluginAPI, webhook: str) -> None:
        self._api = api
        self._webhook = webhook
        self._deliveries = _deliveries(api)

    async def add(self, events: Iterable[StoredEvent]) -> None:
        """Store events, except those that are there already."""
        now = self._api.now()
        await self._deliveries.add(
            (self._id_of(event.id), self._row(event, now)) for event in events
        )

    def _row(self, event: StoredEvent, now: datetime) -> Row:
        return {
            "webhook": self._webhook,
            "eventId": event.id,
            "type": event.type,
            "conversationId": event.conversation_id,
            "messageId": event.message_id,
            "actorId": event.actor_id,
            "affectedUserIds": [*event.affected_user_ids],
            "emoji": event.emoji,
            "at": event.at,
            "order": event.order,
            "state": "waiting",
            "dueAt": now,
            "tries": 0,
            "notBefore": now,
            "error": None,
        }

    async def waiting_in(self, conversation_id: str, *, before: str, limit: int) -> list[Row]:
        """The events of a conversation that wait and are `before` an order, in their order. Those
        after a dead letter have `previousFailed`."""
        lane = self._lane(conversation_id)
        found = await self._deliveries.waiting(
            {**lane, "order": {"$lt": before}}, order=["order"], limit=limit
        )
        if not found:
            return []
        dead = await self._api.read(
            lambda: self._rows.find_one(
                {**lane, "state": "dead"}, {"order": 1}, sort=[("order", 1)]
            )
        )
        first = dead["order"] if dead is not None else None
        return [
            {**row, "previousFailed": isinstance(first, str) and first < row["order"]}
            for row in found
        ]

    async def conversations_waiting(self, until: datetime) -> list[str]:
        """The conversations with events due by a time, the longest waiting first."""
        chosen = {"webhook": self._webhook, "state": "waiting", "notBefore": {"$lte": until}}
        stages: list[dict[str, Any]] = [
            {"$match": chosen},
            {"$group": {"_id": "$conversationId", "since": {"$min": "$notBefore"}}},
            {"$sort": {"since": 1}},
            {"$limit": LANES_AT_ONCE},
        ]
        found = await self._api.aggregate(DELIVERIES, stages)
        return [row["_id"] for row in found if isinstance(row["_id"], str)]

    async def hold_up(self, conversation_id: str, until: datetime) -> None:
        """Delay all events of a conversation until the first one's time."""
        await self._deliveries.hold_up(self._lane(conversation_id), until)

    async def change(self, row: Row, **fields: Any) -> None:
        """Change a row that waits."""
        await self._deliveries.change(row, **fields)

    async def backlog(self) -> WebhookBacklog:
        return WebhookBacklog(**await self._deliveries.count(webhook=self._webhook))

    def _lane(self, conversation_id: str) -> Row:
        return {"webhook": self._webhook, "conversationId": conversation_id}

    def _id_of(self, event_id: str) -> dict[str, str]:
        return {"webhook": self._webhook, "id": event_id}


class DeadLetters:
    """The dead letters of all webhooks, for operators."""

    def __init__(self, api: PluginAPI) -> None:
        self._api = api
        self._deliveries = _deliveries(api)

    async def webhooks(self) -> list[str]:
        """The names of the webhooks that have rows."""
        states = {"state": {"$in": ["waiting", "dead"]}}
        found = await self._api.aggregate(
            DELIVERIES, [{"$match": states}, {"$group": {"_id": "$webhook"}}, {"$sort": {"_id": 1}}]
        )
        return [row["_id"] for row in found if isinstance(row["_id"], str)]

    async def list(self, *, limit: int) -> list[Row]:
        """Dead letters by webhook, the oldest first."""
        return await self._deliveries.dead(order=["webhook", "notBefore"], limit=limit)

    async def retry(self, **chosen: str | None) -> int:
        """Let dead letters with the given fields wait again; returns their number."""
        return await self._deliveries.retry(**chosen)


def _deliveries(api: PluginAPI) -> Deliveries:
    return Deliveries(api, DELIVERIES, over_for=OVER_FOR, types=_TYPES)


def event_of(row: Row) -> StoredEvent:
    return StoredEvent(
        id=row["eventId"],
        type=row["type"],
        conversation_id=row["conversationId"],
        at=row["at"],
        order=row["order"],
        message_id=row["messageId"],
        actor_id=row["actorId"],
        affected_user_ids=tuple(row["affectedUserIds"]),
        emoji=row["emoji"],
    )
