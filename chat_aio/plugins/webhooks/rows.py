"""The rows of webhooks: references to events."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import NoneType
from typing import Any

from chat_aio.actions.plugin_api import PluginAPI, StoredEvent, Write
from chat_aio.observability.observer import WebhookBacklog
from chat_aio.plugins.deliveries.rows import Row, has_types
from chat_aio.plugins.deliveries.tries import DEAD_FOR
from chat_aio.plugins.own_collection import OwnCollection

DELIVERIES = "webhook_deliveries"
OVER_FOR = timedelta(days=1)
"""How long posted events are kept. One that is read again by then is known."""

LANES_AT_ONCE = 1_000

GAP = "webhook.gap"
NOWHERE = ""
"""The lane of events that are about no conversation."""

_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(("eventId", "type", "conversationId", "order"), str),
    **dict.fromkeys(("messageId", "actorId", "emoji"), (str, NoneType)),
    **dict.fromkeys(("at", "due", "notBefore"), datetime),
    "affectedUserIds": list,
    "tries": int,
}

log = logging.getLogger(__name__)


class Rows:
    """The rows of one webhook in the collection `webhook_deliveries`. Each write may be
    repeated."""

    _rows = OwnCollection(DELIVERIES)

    def __init__(self, api: PluginAPI, webhook: str) -> None:
        self._api = api
        self._webhook = webhook

    async def add(self, events: Iterable[StoredEvent]) -> None:
        """Store events, except those that are there already."""
        now = self._api.now()
        await self._api.write_many(DELIVERIES, [self._added(event, now) for event in events])

    def _added(self, event: StoredEvent, now: datetime) -> Write:
        fields = {
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
            "due": now,
            "tries": 0,
            "notBefore": now,
            "error": None,
        }
        # An update, so that an event that is read twice revives no row that is over.
        return {"_id": self._id_of(event.id)}, {"$setOnInsert": fields}

    async def waiting_in(self, conversation_id: str, *, before: str, limit: int) -> list[Row]:
        """The events of a conversation that wait and are `before` an order, in their order. Those
        after a dead letter have `previousFailed`."""
        here = {"webhook": self._webhook, "conversationId": conversation_id}
        chosen = {**here, "state": "waiting", "order": {"$lt": before}}
        found: list[Row] = await self._api.read(
            lambda: self._rows.find(chosen).sort("order", 1).limit(limit).to_list(None)
        )
        malformed = [row["_id"] for row in found if not has_types(row, _TYPES)]
        if malformed:
            await self._give_up(malformed)
            found = [row for row in found if row["_id"] not in malformed]
        if not found:
            return []
        dead = await self._api.read(
            lambda: self._rows.find_one(
                {**here, "state": "dead"}, {"order": 1}, sort=[("order", 1)]
            )
        )
        first = dead["order"] if dead is not None else None
        return [
            {**row, "previousFailed": isinstance(first, str) and first < row["order"]}
            for row in found
        ]

    async def _give_up(self, ids: Sequence[Any]) -> None:
        """Make malformed rows dead letters: their lane would wait for them for ever."""
        log.error("webhooks: gave up %d malformed rows", len(ids))
        dead = {"state": "dead", "error": "malformed", "expiresAt": self._api.now() + DEAD_FOR}
        await self._api.write(
            lambda: self._rows.update_many({"_id": {"$in": [*ids]}}, {"$set": dead})
        )

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
        chosen = {
            "webhook": self._webhook,
            "conversationId": conversation_id,
            "state": "waiting",
            "notBefore": {"$lt": until},
        }
        await self._api.write(
            lambda: self._rows.update_many(chosen, {"$set": {"notBefore": until}})
        )

    async def change(self, row: Row, **fields: Any) -> None:
        """Change a row that waits. One that is over gets its time of expiry."""
        if fields.get("state", "waiting") != "waiting":
            keep = DEAD_FOR if fields["state"] == "dead" else OVER_FOR
            fields["expiresAt"] = self._api.now() + keep
        # Not one that is over: a process without the lease may come late.
        here = {"_id": row["_id"], "state": "waiting"}
        await self._api.write(lambda: self._rows.update_one(here, {"$set": fields}))

    async def backlog(self) -> WebhookBacklog:
        chosen = {"webhook": self._webhook, "state": {"$in": ["waiting", "dead"]}}
        counts = await self._api.aggregate(
            DELIVERIES,
            [{"$match": chosen}, {"$group": {"_id": "$state", "count": {"$sum": 1}}}],
        )
        by_state = {count["_id"]: count["count"] for count in counts}
        return WebhookBacklog(waiting=by_state.get("waiting", 0), dead=by_state.get("dead", 0))

    def _id_of(self, event_id: str) -> dict[str, str]:
        return {"webhook": self._webhook, "id": event_id}


class DeadLetters:
    """The dead letters of all webhooks, for operators."""

    _rows = OwnCollection(DELIVERIES)

    def __init__(self, api: PluginAPI) -> None:
        self._api = api

    async def webhooks(self) -> list[str]:
        """The names of the webhooks that have rows."""
        states = {"state": {"$in": ["waiting", "dead"]}}
        found = await self._api.aggregate(
            DELIVERIES, [{"$match": states}, {"$group": {"_id": "$webhook"}}, {"$sort": {"_id": 1}}]
        )
        return [row["_id"] for row in found if isinstance(row["_id"], str)]

    async def list(self, *, limit: int) -> "list[Row]":
        """Dead letters by webhook, the oldest first."""
        by = [("webhook", 1), ("notBefore", 1)]
        found: list[Row] = await self._api.read(
            lambda: self._rows.find({"state": "dead"}).sort(by).limit(limit).to_list(None)
        )
        return found

    async def retry(self, **chosen: str | None) -> int:
        """Let dead letters wait again, those with the given fields; returns how many."""
        now = self._api.now()
        fields = {name: value for name, value in chosen.items() if value is not None}
        again = {"state": "waiting", "tries": 0, "due": now, "notBefore": now}
        changed = await self._api.write(
            lambda: self._rows.update_many(
                {**fields, "state": "dead"}, {"$set": again, "$unset": {"expiresAt": ""}}
            )
        )
        count: int = changed.modified_count
        return count


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
