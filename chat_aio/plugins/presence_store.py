"""Who is present on which process, as the database knows it: leases of processes, not of users."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from chat_aio.errors import StorageUnavailable
from chat_aio.plugins.api import PluginAPI
from chat_aio.schema.models import timestamp

MOST_SWEPT = 500


class Attendance:
    """One process's part in it.

    A user's document names the processes where they have streams; a process shows by `seenAt`, in
    the database's own time, that it lives. The event is written in the same transaction as what it
    tells of, so that the last one told is the one that is so. Processes that do not live count for
    nobody, whatever still names them.
    """

    def __init__(self, api: PluginAPI, *, lease: float) -> None:
        self._api = api
        self._lease_ms = int(lease * 1000)
        self.id = ""

    @property
    def _users(self) -> Any:
        return self._api.collection("presence")

    @property
    def _processes(self) -> Any:
        return self._api.collection("processes")

    async def open(self) -> None:
        """Begin to live, under a name of its own."""
        self.id = self._api.new_id()
        await self._api.write(
            lambda: self._processes.update_one(
                {"_id": self.id}, {"$currentDate": {"seenAt": True}}, upsert=True
            )
        )

    async def renew(self) -> bool:
        """Say that this process lives; False where it was taken for dead, and is a new one now."""
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
        """Leave the users of this process to whoever sweeps, `delay` seconds from now."""
        ago = self._lease_ms - int(delay * 1000)
        with suppress(StorageUnavailable):
            await self._api.write(
                lambda: self._processes.update_one(
                    {"_id": self.id}, [{"$set": {"seenAt": {"$subtract": ["$$NOW", ago]}}}]
                )
            )

    async def enter(self, user_id: str) -> None:
        """Note that a user is here; told, if they were nowhere."""
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

    async def leave(self, user_id: str) -> None:
        """Note that a user is not here any more; told, if they are nowhere else."""
        await self._leave(user_id, self.id, self._api.now())

    async def sweep(self) -> None:
        """Let the users of dead processes go. A process is marked first: should it live after all,
        it finds out, and begins anew."""
        await self._api.write(
            lambda: self._processes.update_many({"$nor": [self._alive]}, {"$set": {"dead": True}})
        )
        dead = await self._api.read(lambda: self._processes.find({"dead": True}).to_list(None))
        for process in dead:
            seen_at = process.get("seenAt")
            at = seen_at if isinstance(seen_at, datetime) else self._api.now()
            while users := await self._users_of(process["_id"]):
                for user_id in users:
                    await self._leave(user_id, process["_id"], at)
            await self._api.write(partial(self._processes.delete_one, {"_id": process["_id"]}))

    async def look_up(self, user_ids: Sequence[str]) -> dict[str, dict[str, object]]:
        """`{online, lastSeenAt}` by user; lastSeenAt is None for who was never here."""
        living = await self._api.read(lambda: self._living(None))
        found = await self._api.read(
            lambda: self._users.find({"_id": {"$in": list(user_ids)}}).to_list(None)
        )
        known = {each["_id"]: each for each in found}
        return {each: self._entry(known.get(each), living) for each in user_ids}

    @property
    def _alive(self) -> dict[str, Any]:
        recent = {"$gt": ["$seenAt", {"$subtract": ["$$NOW", self._lease_ms]}]}
        return {"dead": None, "$expr": recent}

    async def _living(self, session: Any) -> set[str]:
        found = await self._processes.find(self._alive, {"_id": 1}, session=session).to_list(None)
        return {each["_id"] for each in found if isinstance(each["_id"], str)}

    async def _leave(self, user_id: str, process_id: str, at: datetime) -> None:
        ids = await self._api.conversation_ids_of(user_id)

        async def body(session: Any) -> None:
            living = await self._living(session)
            before = await self._users.find_one({"_id": user_id}, session=session)
            if before is None or not _among(before, {process_id}):
                return
            elsewhere = _among(before, living - {process_id})
            seen = max(at, _seen_at(before) or at)
            gone = {"processes": sorted(elsewhere), "lastSeenAt": seen}
            await self._users.update_one({"_id": user_id}, {"$set": gone}, session=session)
            if not elsewhere:
                await self._publish(user_id, False, seen, ids, session)

        await self._api.transact(body)

    async def _users_of(self, process_id: str) -> list[str]:
        found = await self._api.read(
            lambda: (
                self._users.find({"processes": process_id}, {"_id": 1})
                .limit(MOST_SWEPT)
                .to_list(None)
            )
        )
        return [each["_id"] for each in found]

    def _entry(self, user: Any, living: set[str]) -> dict[str, object]:
        if user is None:
            return {"online": False, "lastSeenAt": None}
        online = bool(_among(user, living))
        at = self._api.now() if online else _seen_at(user)
        return {"online": online, "lastSeenAt": timestamp(at) if at else None}

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
        await self._api.publish_within(session, event)


def _among(user: Any, processes: set[str]) -> set[str]:
    """Where a user is, of some processes; nowhere, going by what cannot be read."""
    named = (user or {}).get("processes")
    return {each for each in processes if isinstance(named, list) and each in named}


def _seen_at(user: Any) -> datetime | None:
    """When a user was last seen, as far as that can be read."""
    at = user.get("lastSeenAt")
    return at if isinstance(at, datetime) else None
