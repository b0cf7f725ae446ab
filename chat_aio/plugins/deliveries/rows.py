"""Stored deliveries, and their changes."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from chat_aio.actions.plugin_api import PluginAPI, Write
from chat_aio.plugins.deliveries.tries import DEAD_FOR

Row = Mapping[str, Any]
"""A stored delivery, with `due`, `notBefore` and the number of failed `tries`."""

log = logging.getLogger(__name__)


class Deliveries:
    """The deliveries in a collection. Each write may be repeated. Rows that are over are kept for
    `over_for`, dead letters for `DEAD_FOR`. A row that waits has fields of these `types`, unless
    another program has written it."""

    def __init__(
        self, api: PluginAPI, collection: str, *, over_for: timedelta, types: Mapping[str, Any]
    ) -> None:
        self._api = api
        self._collection = collection
        self._over_for = over_for
        self._types = types

    async def add(self, rows: Iterable[tuple[object, Row]]) -> None:
        """Store rows by their ids, except those that are there already."""
        writes = [unless_there(row_id, row) for row_id, row in rows]
        await self._api.write_many(self._collection, writes)

    async def waiting(self, chosen: Row, *, order: Sequence[str], limit: int) -> list[Row]:
        """The first of the chosen rows that wait. Malformed ones are given up: they would hide
        later ones for ever."""
        found = await self._find({**chosen, "state": "waiting"}, order, limit)
        malformed = [row["_id"] for row in found if not has_types(row, self._types)]
        if not malformed:
            return found
        await self._give_up(malformed)
        return [row for row in found if has_types(row, self._types)]

    async def hold_up(self, lane: Row, until: datetime) -> None:
        """Delay all rows of a lane until the first one's time."""
        chosen = {**lane, "state": "waiting", "notBefore": {"$lt": until}}
        later = {"$set": {"notBefore": until}}
        await self._api.write(lambda: self._rows.update_many(chosen, later))

    async def change(self, row: Row, **fields: Any) -> None:
        """Change a row that waits. One that is over gets its time of expiry."""
        if fields.get("state", "waiting") != "waiting":
            keep = DEAD_FOR if fields["state"] == "dead" else self._over_for
            fields["expiresAt"] = self._api.now() + keep
        # Not one that is over: a process without the lease may come late.
        here = {"_id": row["_id"], "state": "waiting"}
        await self._api.write(lambda: self._rows.update_one(here, {"$set": fields}))

    async def dead(self, *, order: Sequence[str], limit: int) -> list[Row]:
        """Dead letters. Those of another program may lack any field."""
        return await self._find({"state": "dead"}, order, limit)

    async def retry(self, **chosen: str | None) -> int:
        """Let dead letters with the given fields wait again; returns their number."""
        now = self._api.now()
        fields = {name: value for name, value in chosen.items() if value is not None}
        again = {"state": "waiting", "tries": 0, "dueAt": now, "notBefore": now}
        changed = await self._api.write(
            lambda: self._rows.update_many(
                {**fields, "state": "dead"}, {"$set": again, "$unset": {"expiresAt": ""}}
            )
        )
        count: int = changed.modified_count
        return count

    async def count(self, **chosen: str) -> dict[str, int]:
        """The numbers of chosen rows that are `waiting` and `dead`."""
        states = ("waiting", "dead")
        stages = [
            {"$match": {**chosen, "state": {"$in": [*states]}}},
            {"$group": {"_id": "$state", "count": {"$sum": 1}}},
        ]
        found = await self._api.aggregate(self._collection, stages)
        return {**dict.fromkeys(states, 0), **{row["_id"]: row["count"] for row in found}}

    async def _give_up(self, ids: Sequence[Any]) -> None:
        log.error("%s: gave up %d malformed rows", self._collection, len(ids))
        dead = {"state": "dead", "error": "malformed", "expiresAt": self._api.now() + DEAD_FOR}
        chosen = {"_id": {"$in": [*ids]}, "state": "waiting"}
        await self._api.write(lambda: self._rows.update_many(chosen, {"$set": dead}))

    async def _find(self, chosen: Row, order: Sequence[str], limit: int) -> list[Row]:
        by = [(field, 1) for field in order]
        found: list[Row] = await self._api.read(
            lambda: self._rows.find(chosen).sort(by).limit(limit).to_list(None)
        )
        return found

    @property
    def _rows(self) -> Any:
        return self._api.collection(self._collection)


def has_types(row: Row, types: Mapping[str, Any]) -> bool:
    """Whether fields of a row are of these types: another program may have written it."""
    return all(isinstance(row.get(name), kind) for name, kind in types.items())


def unless_there(row_id: object, row: Row) -> Write:
    """The write that stores a row. It changes no row that exists: an event that is read twice must
    not revive a row that is over."""
    return {"_id": row_id}, {"$setOnInsert": row}
