"""Bans: rows are kept for good, and a user has at most one active ban.

Each process caches who is banned, and drops entries when the change stream reports a ban.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from chat_aio.store import audit, keyset_query
from chat_aio.store.change_stream import StreamChange
from chat_aio.store.database import Database
from chat_aio.store.documents import AuditEntry, BanDocument
from chat_aio.store.transactions import Session, Unchanged, transact, transact_unique

MOST_KNOWN = 100_000
NEVER = object()
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
NO_DATE = {"$not": {"$type": "date"}}


def active(user_id: str | None, *, at: datetime) -> dict[str, Any]:
    """The query for active bans, which goes by dates only, so that bans of other programs count. A
    value that is not a date neither ends nor revokes a ban."""
    lasting = {"$or": [{"expiresAt": NO_DATE}, {"expiresAt": {"$gt": at}}]}
    return {**({"userId": user_id} if user_id else {}), "revokedAt": NO_DATE, **lasting}


async def put(
    database: Database, ban: BanDocument, row: AuditEntry, *, at: datetime, replaces: bool = False
) -> BanDocument:
    """Insert a ban, unless the user has an active one; returns the active ban. With `replaces`, one
    that ends at another time is revoked for it."""

    async def body(session: Session) -> BanDocument:
        in_force = active(ban["userId"], at=at)
        found = await database.bans.find_one(in_force, session=session)
        if found and not (replaces and found.get("expiresAt") != ban["expiresAt"]):
            raise Unchanged(found)
        if found:
            over = {"revokedAt": at, "revokedByUserId": ban.get("createdByUserId")}
            await database.bans.update_many(in_force, {"$set": over}, session=session)
            # Another length, for the same reason, unless a new one is given.
            ban["reason"] = ban.get("reason") or found.get("reason")
        # An expired ban still has `activeUserId`, whose unique index lets two processes at once
        # insert only one ban.
        await database.bans.update_many(
            {"activeUserId": {"$eq": ban["userId"], "$type": "string"}},
            {"$unset": {"activeUserId": ""}},
            session=session,
        )
        await database.bans.insert_one(ban, session=session)
        await audit.add(database, row, session)
        return ban

    return await transact_unique(database, body)


async def revoke(
    database: Database, ban_id: str, row: AuditEntry, *, by: str, at: datetime
) -> BanDocument | None:
    """Revoke a ban unless it is revoked already; returns it afterwards, None if there is none."""

    async def body(session: Session) -> BanDocument | None:
        revoked = await database.bans.find_one_and_update(
            {"_id": ban_id, "revokedAt": NO_DATE},
            {
                "$set": {"revokedAt": at, "revokedByUserId": by},
                "$unset": {"activeUserId": ""},
            },
            return_document=True,
            session=session,
        )
        if revoked is None:
            raise Unchanged(await database.bans.find_one({"_id": ban_id}, session=session))
        await audit.add(database, row, session)
        return cast(BanDocument, revoked)

    return await transact(database, body)


async def find(database: Database, ban_id: str) -> BanDocument | None:
    found = await database.read(lambda: database.bans.find_one({"_id": ban_id}))
    return cast(BanDocument | None, found)


async def list_newest(
    database: Database,
    chosen: Mapping[str, Any],
    *,
    position: keyset_query.After | None,
    limit: int,
) -> list[BanDocument]:
    """Bans, newest first, followed by those without a `createdAt`, which other programs may have
    written and which are in force as well. Their position has the time LONG_AGO."""
    found: list[BanDocument] = []
    timeless: dict[str, Any] = {"createdAt": NO_DATE}
    if position and position[0] == LONG_AGO:
        timeless["_id"] = {"$lt": position[1]}
    else:
        found = await database.read(
            lambda: keyset_query.page(database.bans, chosen, position, limit=limit)
        )
    if len(found) < limit:
        rows = database.bans.find({"$and": [chosen, timeless]}).sort("_id", -1)
        rows = rows.limit(limit - len(found))
        found += await database.read(lambda: rows.to_list(None))
    return found


def _end(ban: BanDocument, *, never: datetime) -> datetime:
    """When a ban ends; `never` if `expiresAt` is not a date."""
    expires_at = ban.get("expiresAt")
    return expires_at if isinstance(expires_at, datetime) else never


def position_of(ban: BanDocument) -> keyset_query.After:
    """The position of a ban in `list_newest`."""
    at = ban.get("createdAt")
    return at if isinstance(at, datetime) else LONG_AGO, str(ban["_id"])


class Bans:
    """The cache of one process of who is banned until when. Expiry is by the clock.

    While the feed is not live, nothing is cached and every call reads the database. Whoever asks
    sets `used`.
    """

    def __init__(
        self, database: Database, *, clock: Callable[[], datetime], used: asyncio.Event
    ) -> None:
        self._database = database
        self._used = used
        self._clock = clock
        self._until: dict[str, datetime | None] = {}
        self._feed_live = False
        self._changes = 0

    async def is_banned(self, user_id: str) -> bool:
        """Whether a user has an active ban. Raises StorageUnavailable."""
        self._used.set()
        known = self._until.get(user_id, NEVER)
        if known is NEVER:
            known = await self._load(user_id)
        until = cast(datetime | None, known)
        return until is not None and until > self._clock()

    async def banned_among(self, user_ids: Sequence[str]) -> set[str]:
        """The banned users among these, read from the database. Raises StorageUnavailable."""
        if not user_ids:
            return set()
        chosen = {**active(None, at=self._clock()), "userId": {"$in": list(user_ids)}}
        found = await self._database.read(lambda: self._database.bans.distinct("userId", chosen))
        return {user_id for user_id in found if isinstance(user_id, str)}

    def forget(self, user_id: str | None = None) -> None:
        """Invalidate the entry of a user whose ban has changed; all entries if the user is unknown.
        Reads that are under way do not fill the cache."""
        self._changes += 1
        if user_id is None:
            self._until.clear()
        else:
            self._until.pop(user_id, None)

    def learn(self, change: StreamChange) -> bool:
        """Invalidate what a change of a ban affects; whether it may have banned somebody."""
        if change.operation == "delete" or change.updated.get("revokedAt"):
            # It may not name the user. Nobody can be banned by it, so users without a ban stay.
            self._changes += 1
            self._until = {banned: until for banned, until in self._until.items() if until is None}
            return False
        user_id = change.document.get("userId")
        self.forget(user_id if isinstance(user_id, str) else None)
        return True

    def set_feed_live(self, is_live: bool) -> None:
        """Set whether the feed reports changes now; empties the cache."""
        self._feed_live = is_live
        self.forget()

    async def _load(self, user_id: str) -> datetime | None:
        """Read until when a user is banned, None if not at all."""
        before = self._changes
        now = self._clock()
        found = await self._database.read(
            lambda: self._database.bans.find(active(user_id, at=now)).to_list(None)
        )
        until = max(
            (_end(ban, never=datetime.max.replace(tzinfo=now.tzinfo)) for ban in found),
            default=None,
        )
        # Not cached if a ban has changed during the read: the result may be from before that.
        if self._feed_live and self._changes == before:
            if len(self._until) >= MOST_KNOWN:
                self._until.clear()
            self._until[user_id] = until
        return until
