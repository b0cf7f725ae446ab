"""Bans: rows that stay; at most one of a user is active. Who is banned is cached, and asked anew
whenever the change stream tells of a ban."""

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
    """The query for active bans, going by dates: rows of other programs count as well, and what is
    no date neither ends a ban nor revokes it."""
    lasting = {"$or": [{"expiresAt": NO_DATE}, {"expiresAt": {"$gt": at}}]}
    return {**({"userId": user_id} if user_id else {}), "revokedAt": NO_DATE, **lasting}


async def put(
    database: Database, ban: BanDocument, row: AuditEntry, *, at: datetime
) -> BanDocument:
    """Ban somebody, or find that they are banned; returns the ban that stands."""

    async def body(session: Session) -> BanDocument:
        found = await database.bans.find_one(active(ban["userId"], at=at), session=session)
        if found:
            raise Unchanged(found)
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
    """Revoke a ban that is not revoked yet; returns it as it is then, None if there is none."""

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
    """Bans, newest first; behind them, in force as any, those that do not say when they were made,
    whose position has the time LONG_AGO."""
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
    """When a ban ends; another program may have written what is no time."""
    expires_at = ban.get("expiresAt")
    return expires_at if isinstance(expires_at, datetime) else never


def position_of(ban: BanDocument) -> keyset_query.After:
    """Where the list goes on behind a ban."""
    at = ban.get("createdAt")
    return at if isinstance(at, datetime) else LONG_AGO, str(ban["_id"])


class Bans:
    """Who is banned, as one process knows it. Expiry is by the clock.

    While changes are not announced, the database is asked each time.
    """

    def __init__(self, database: Database, *, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock
        self._until: dict[str, datetime | None] = {}
        self._feed_live = False
        self._changes = 0

    async def is_banned(self, user_id: str) -> bool:
        """Whether a user has an active ban. Raises StorageUnavailable."""
        known = self._until.get(user_id, NEVER)
        if known is NEVER:
            known = await self._load(user_id)
        until = cast(datetime | None, known)
        return until is not None and until > self._clock()

    async def banned_among(self, user_ids: Sequence[str]) -> set[str]:
        """Who of these is banned, as the database has it now. Raises StorageUnavailable."""
        if not user_ids:
            return set()
        chosen = {**active(None, at=self._clock()), "userId": {"$in": list(user_ids)}}
        found = await self._database.read(lambda: self._database.bans.distinct("userId", chosen))
        return {each for each in found if isinstance(each, str)}

    def forget(self, user_id: str | None = None) -> None:
        """A ban has changed, of this user or nobody knows of whom: what is known, or being read
        now, is old."""
        self._changes += 1
        if user_id is None:
            self._until.clear()
        else:
            self._until.pop(user_id, None)

    def learn(self, change: StreamChange) -> bool:
        """Forget what a change of a ban makes outdated; whether it may have banned somebody."""
        if change.operation == "delete" or change.updated.get("revokedAt"):
            self._changes += 1  # It can only have let somebody in.
            self._until = {each: until for each, until in self._until.items() if until is None}
            return False
        user_id = change.document.get("userId")
        self.forget(user_id if isinstance(user_id, str) else None)
        return True

    def set_feed_live(self, is_live: bool) -> None:
        """Whether changes are being announced now."""
        self._feed_live = is_live
        self.forget()

    async def _load(self, user_id: str) -> datetime | None:
        """Until when a user is banned, None if not at all."""
        before = self._changes
        now = self._clock()
        found = await self._database.read(
            lambda: self._database.bans.find(active(user_id, at=now)).to_list(None)
        )
        until = max(
            (_end(each, never=datetime.max.replace(tzinfo=now.tzinfo)) for each in found),
            default=None,
        )
        if self._feed_live and self._changes == before:
            if len(self._until) >= MOST_KNOWN:
                self._until.clear()
            self._until[user_id] = until
        return until
