"""Bans: rows are kept for good, and a user has at most one active ban.

Each process caches which users are banned, and drops entries when the change stream reports a ban.
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
    """The query for active bans, which uses dates only, so that bans of other programs count. A
    value that is not a date neither ends nor revokes a ban."""
    lasting = {"$or": [{"expiresAt": NO_DATE}, {"expiresAt": {"$gt": at}}]}
    return {**({"userId": user_id} if user_id else {}), "revokedAt": NO_DATE, **lasting}


async def put(
    database: Database, ban: BanDocument, row: AuditEntry, *, at: datetime, replaces: bool = False
) -> BanDocument:
    """Insert a ban, unless the user has an active one; returns the active ban. With `replaces`, an
    active ban that ends at another time is revoked in its favour."""

    async def body(session: Session) -> BanDocument:
        in_force = active(ban["userId"], at=at)
        found = await database.bans.find_one(in_force, session=session)
        if found and not (replaces and found.get("expiresAt") != ban["expiresAt"]):
            raise Unchanged(found)
        if found:
            over = {"revokedAt": at, "revokedByUserId": ban.get("createdByUserId")}
            # All of them: bans of other programs have no `activeUserId`, so there may be several.
            await database.bans.update_many(in_force, {"$set": over}, session=session)
            # Only the duration changes: the reason stays, unless a new one is given.
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
    """Revoke a ban unless it is revoked already; returns it afterwards, or None if there is
    none."""

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
    """Bans, newest first, followed by bans without a `createdAt`, which other programs may have
    written and which are also in force. Their position has the time LONG_AGO."""
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


def position_of(ban: BanDocument) -> keyset_query.After:
    """The position of a ban in `list_newest`."""
    at = ban.get("createdAt")
    return at if isinstance(at, datetime) else LONG_AGO, str(ban["_id"])


class Bans:
    """One process's cache of users and the ends of their bans. Bans expire by the clock.

    While the feed is not live, nothing is cached and every call reads the database. Every call sets
    `used`.
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
        # Wakes an idle feed, without which nothing is cached (decision 0055).
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
        Reads in progress do not fill the cache."""
        self._changes += 1
        if user_id is None:
            self._until.clear()
        else:
            self._until.pop(user_id, None)

    def learn(self, change: StreamChange) -> bool:
        """Invalidate the entries that a change of a ban affects; returns whether it may ban a
        user."""
        if change.operation == "delete" or change.updated.get("revokedAt"):
            # It may not name the user, and it bans nobody: only entries with a ban are dropped.
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
        """The end of a user's ban; None if the user is not banned."""
        before = self._changes
        now = self._clock()
        found = await self._database.read(
            lambda: self._database.bans.find(active(user_id, at=now)).to_list(None)
        )
        ends = [ban.get("expiresAt") for ban in found]
        # Without a date of its end, a ban never ends.
        never = datetime.max.replace(tzinfo=now.tzinfo)
        until = max((end if isinstance(end, datetime) else never for end in ends), default=None)
        # Not cached if a ban has changed during the read: the result may be older than the change.
        if self._feed_live and self._changes == before:
            # As a whole: keeping an order of use would cost every request, for a rare case.
            if len(self._until) >= MOST_KNOWN:
                self._until.clear()
            self._until[user_id] = until
        return until
