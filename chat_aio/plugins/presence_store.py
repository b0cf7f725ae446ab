"""The stored presence: which users are present on which process, with a lease per process.

A lease per user would cost a write per user every few seconds (decision 0007).
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.errors import StorageUnavailable
from chat_aio.plugins.own_collection import OwnCollection
from chat_aio.schema.wire import timestamp

MOST_SWEPT = 500


class Attendance:
    """One process's part of the stored presence.

    A user's document names the processes on which they have streams. A process renews its lease by
    `seenAt`, in the database's own time. An event is written in the same transaction as the change
    that it reports, so the last event delivered matches the stored state. Entries of dead processes
    are ignored.
    """

    _users = OwnCollection("presence")
    _processes = OwnCollection("processes")

    def __init__(self, api: PluginAPI, *, lease: float) -> None:
        self._api = api
        self._lease_ms = int(lease * 1000)
        recent = {"$gt": ["$seenAt", {"$subtract": ["$$NOW", self._lease_ms]}]}
        self._alive = {"dead": None, "$expr": recent}
        self.id = ""

    async def open(self) -> None:
        """Register this process under a new id."""
        self.id = self._api.new_id()
        await self._api.write(
            lambda: self._processes.update_one(
                {"_id": self.id}, {"$currentDate": {"seenAt": True}}, upsert=True
            )
        )

    async def renew(self) -> bool:
        """Renew the lease. Returns False if this process was taken for dead: it then goes on under
        a new id, and all its users must be entered again."""
        renewed = await self._api.write(
            lambda: self._processes.update_one(
                {"_id": self.id, "dead": None}, {"$currentDate": {"seenAt": True}}
            )
        )
        if renewed.matched_count:
            return True
        await self.open()
        return False

    async def close(self, *, delay: float) -> None:
        """Let the lease expire in `delay` seconds, when another process sweeps the users."""
        ago = self._lease_ms - int(delay * 1000)
        with suppress(StorageUnavailable):
            await self._api.write(
                lambda: self._processes.update_one(
                    {"_id": self.id},
                    # A pipeline, because no operator subtracts from the server's own time.
                    [{"$set": {"seenAt": {"$subtract": ["$$NOW", ago]}}}],
                )
            )

    async def enter(self, user_id: str) -> None:
        """Enter a user on this process; publishes presence.online if they were on none."""
        ids = await self._api.conversation_ids_of(user_id)

        async def body(session: Any) -> None:
            now = self._api.now()
            living = await self._living(session)
            before = await self._users.find_one({"_id": user_id}, session=session)
            elsewhere = _among(before, living)
            here = {"processes": sorted({*elsewhere, self.id}), "lastSeenAt": now}
            await self._users.update_one(
                {"_id": user_id}, {"$set": here}, upsert=True, session=session
            )
            if not elsewhere:
                await self._publish(user_id, True, now, ids, session)

        await self._api.transact(body)

    async def leave(self, user_id: str, process_id: str, at: datetime) -> None:
        """Remove a user from a process, where they were last seen at a time; publishes
        presence.offline if they are on no other."""
        ids = await self._api.conversation_ids_of(user_id)

        async def body(session: Any) -> None:
            living = await self._living(session)
            before = await self._users.find_one({"_id": user_id}, session=session)
            if before is None or not _among(before, {process_id}):
                return
            elsewhere = _among(before, living - {process_id})
            # A sweep gives the dead process's last sign of life. The user may have been seen on
            # another process since.
            seen = max(at, _seen_at(before) or at)
            gone = {"processes": sorted(elsewhere), "lastSeenAt": seen}
            await self._users.update_one({"_id": user_id}, {"$set": gone}, session=session)
            if not elsewhere:
                await self._publish(user_id, False, seen, ids, session)

        await self._api.transact(body)

    async def sweep(self) -> None:
        """Remove the users of dead processes."""
        # Marked first, so that a process that is alive after all notices it in `renew` and goes on
        # under a new id. Otherwise its users would stay offline.
        await self._api.write(
            lambda: self._processes.update_many({"$nor": [self._alive]}, {"$set": {"dead": True}})
        )
        dead = await self._api.read(lambda: self._processes.find({"dead": True}).to_list(None))
        for process in dead:
            seen_at = process.get("seenAt")
            at = seen_at if isinstance(seen_at, datetime) else self._api.now()
            # Several processes may sweep the same one: `leave` ignores an entry that is gone.
            while users := await self._users_of(process["_id"]):
                for user_id in users:
                    await self.leave(user_id, process["_id"], at)
            await self._api.write(partial(self._processes.delete_one, {"_id": process["_id"]}))

    async def look_up(self, user_ids: Sequence[str]) -> dict[str, dict[str, object]]:
        """`{online, lastSeenAt}` by user; lastSeenAt is None for a user who was never online."""
        living = await self._api.read(lambda: self._living(None))
        found = await self._api.read(
            lambda: self._users.find({"_id": {"$in": list(user_ids)}}).to_list(None)
        )
        entries: dict[str, dict[str, object]] = {
            user_id: {"online": False, "lastSeenAt": None} for user_id in user_ids
        }
        for user in found:
            online = bool(_among(user, living))
            # While a user is online, the stored time is that of their arrival.
            at = self._api.now() if online else _seen_at(user)
            entries[user["_id"]] = {"online": online, "lastSeenAt": timestamp(at) if at else None}
        return entries

    async def _living(self, session: Any) -> set[str]:
        found = await self._processes.find(self._alive, {"_id": 1}, session=session).to_list(None)
        return {row["_id"] for row in found if isinstance(row["_id"], str)}

    async def _users_of(self, process_id: str) -> list[str]:
        found = await self._api.read(
            lambda: (
                self._users.find({"processes": process_id}, {"_id": 1})
                .limit(MOST_SWEPT)
                .to_list(None)
            )
        )
        return [row["_id"] for row in found]

    async def _publish(
        self, user_id: str, online: bool, at: datetime, ids: Sequence[str], session: Any
    ) -> None:
        event = self._api.ephemeral(
            "presence.online" if online else "presence.offline",
            user_id,
            {"online": online, "lastSeenAt": timestamp(at)},
            to_conversations=ids,
            needs_exchange=True,
        )
        await self._api.publish_in_transaction(session, event)


def _among(user: Any, processes: set[str]) -> set[str]:
    """Which of some processes a user is on; none if the document is malformed."""
    named = (user or {}).get("processes")
    return {process for process in processes if isinstance(named, list) and process in named}


def _seen_at(user: Any) -> datetime | None:
    """When a user was last seen; None if that is malformed."""
    at = user.get("lastSeenAt")
    return at if isinstance(at, datetime) else None
