"""The rows of `settings`: secrets and facts of an installation, created only once."""

import hmac
import secrets
from datetime import datetime
from hashlib import sha256

from pymongo.errors import DuplicateKeyError

from chat_aio.errors import SetupError
from chat_aio.store.database import Database

_DM_KEY = "direct_conversation_key"
RESTORED = "restored"
_PSEUDONYM = b"\xff\xff\xff\xfe"
"""A separator in the digest, different from those in `direct_conversations.py`."""


class Settings:
    """The settings of one installation; the key is read once per process."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._direct_key: bytes | None = None

    async def require_key(self) -> None:
        """Raise SetupError if the stored key is malformed: with a new key, users would not find
        their direct conversations again."""
        kept = await self.database.read(lambda: self.database.settings.find_one({"_id": _DM_KEY}))
        if kept is not None and not isinstance(kept.get("value"), bytes):
            raise SetupError(f"settings: {_DM_KEY} cannot be read; restore it from a backup")

    async def pseudonym(self, user_id: str) -> str:
        """The id that replaces an erased user's id in rows, always the same. Nobody without the key
        can compute it. Raises StorageUnavailable."""
        digest = await self.digest()
        digest.update(_PSEUDONYM + user_id.encode())
        return f"erased-{digest.hexdigest()[:24]}"

    async def known_pseudonym(self, user_id: str) -> str | None:
        """As `pseudonym`, but None if there is no key yet; it is not created then."""
        has_key = await self.database.read(
            lambda: self.database.settings.find_one({"_id": _DM_KEY}, {"_id": 1})
        )
        return await self.pseudonym(user_id) if has_key else None

    async def restored_at(self) -> datetime | None:
        """The time when a backup was last restored, None if never: older stream positions are
        meaningless. Raises StorageUnavailable."""
        rows = self.database.settings
        found = await self.database.read(lambda: rows.find_one({"_id": RESTORED}))
        at = found and found.get("at")
        return at if isinstance(at, datetime) else None

    async def digest(self) -> hmac.HMAC:
        """A digest under the stored key, which is created now if there is none. The key is part of
        the data: with another key, existing direct conversations are not found."""
        if self._direct_key is None:
            settings, new = self.database.settings, {"value": secrets.token_bytes(32)}
            try:
                # The stored value is used, never the one made here: another process may be first.
                kept = await self.database.write(
                    lambda: settings.find_one_and_update(
                        {"_id": _DM_KEY}, {"$setOnInsert": new}, upsert=True, return_document=True
                    )
                )
            # Another process has created the key at the same time. Its key counts.
            except DuplicateKeyError:
                kept = await self.database.read(lambda: settings.find_one({"_id": _DM_KEY}))
            self._direct_key = bytes(kept["value"])
        return hmac.new(self._direct_key, digestmod=sha256)
