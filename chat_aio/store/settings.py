"""The rows of `settings`: secrets and facts of an installation, each created once."""

import hmac
import secrets
from datetime import datetime
from hashlib import sha256

from pymongo.errors import DuplicateKeyError

from chat_aio.errors import SetupError
from chat_aio.store.database import Database
from chat_aio.store.shapes import readable
from chat_aio.store.transactions import Session

_DM_KEY = "direct_conversation_key"
RESTORED = "restored"
_PSEUDONYM = b"\xff\xff\xff\xfe"
_AFTER_ERASURES = b"\xff\xff\xff\xff"
"""Separators in the digest; no id is so long that its length prefix equals one of them."""


class Settings:
    """The settings of one installation; the key is read once per process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._direct_key: bytes | None = None

    async def direct_conversation_id(self, user_id: str, other_user_id: str) -> str:
        """The id of the pair's conversation, in either order. Raises StorageUnavailable.

        128 bits of an HMAC under a random key of this database: it never changes, and nobody
        without the key can compute it. Ids are length-prefixed: `a` with `b:c` and `a:b` with `c`
        differ. It is another one after each erasure, so that a later owner of an erased user's id
        does not get their conversations.
        """
        digest = await self._digest()
        erasures = await self._erasures([user_id, other_user_id])
        for one in sorted((user_id, other_user_id)):
            name = one.encode()
            digest.update(len(name).to_bytes(4, "big") + name)
            if count := erasures[one]:
                digest.update(_AFTER_ERASURES + count.to_bytes(4, "big"))
        return digest.hexdigest()[:32]

    async def require_key(self) -> None:
        """Raise SetupError if the stored key is malformed: with a new key, users would not find
        their direct conversations again."""
        kept = await self._database.read(lambda: self._database.settings.find_one({"_id": _DM_KEY}))
        if kept is not None and not isinstance(kept.get("value"), bytes):
            raise SetupError(f"settings: {_DM_KEY} cannot be read; restore it from a backup")

    async def pseudonym(self, user_id: str) -> str:
        """The id that replaces an erased user's id in rows, always the same. Nobody without the key
        can compute it. Raises StorageUnavailable."""
        digest = await self._digest()
        digest.update(_PSEUDONYM + user_id.encode())
        return f"erased-{digest.hexdigest()[:24]}"

    async def known_pseudonym(self, user_id: str) -> str | None:
        """As `pseudonym`, but None if there is no key yet, which is then not made."""
        has_key = await self._database.read(
            lambda: self._database.settings.find_one({"_id": _DM_KEY}, {"_id": 1})
        )
        return await self.pseudonym(user_id) if has_key else None

    async def restored_at(self) -> datetime | None:
        """When a backup was last restored, None if never: older stream positions have lost their
        meaning. Raises StorageUnavailable."""
        rows = self._database.settings
        found = await self._database.read(lambda: rows.find_one({"_id": RESTORED}))
        at = found and found.get("at")
        return at if isinstance(at, datetime) else None

    async def count_erasure(self, pseudonym: str, session: Session) -> None:
        """Count an erasure, which changes the ids of the user's direct conversations."""
        await self._database.settings.update_one(
            {"_id": pseudonym}, {"$inc": {"erasures": 1}}, upsert=True, session=session
        )

    async def _erasures(self, user_ids: list[str]) -> dict[str, int]:
        """How often each user's direct conversations were erased. Not cached: another process
        erases them."""
        names = {user_id: await self.pseudonym(user_id) for user_id in user_ids}
        rows = self._database.settings.find({"_id": {"$in": list(names.values())}})
        found = readable("settings", await self._database.read(lambda: rows.to_list(None)))
        counts = {row["_id"]: row.get("erasures", 0) for row in found}
        return {user_id: counts.get(name, 0) for user_id, name in names.items()}

    async def _digest(self) -> hmac.HMAC:
        if self._direct_key is None:
            self._direct_key = await self._make_direct_key()
        return hmac.new(self._direct_key, digestmod=sha256)

    async def _make_direct_key(self) -> bytes:
        """The stored key, created now if there is none. It is part of the data: with another key,
        existing direct conversations are not found."""
        settings, new = self._database.settings, {"value": secrets.token_bytes(32)}
        try:
            kept = await self._database.write(
                lambda: settings.find_one_and_update(
                    {"_id": _DM_KEY}, {"$setOnInsert": new}, upsert=True, return_document=True
                )
            )
        # Another process has made the key in this moment. Its key counts.
        except DuplicateKeyError:
            kept = await self._database.read(lambda: settings.find_one({"_id": _DM_KEY}))
        return bytes(kept["value"])
