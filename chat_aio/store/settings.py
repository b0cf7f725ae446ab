"""The few things an installation keeps for itself, each made once."""

import hmac
import secrets
from hashlib import sha256

from pymongo.errors import DuplicateKeyError

from chat_aio.store.database import Database

_DM_KEY = "direct_conversation_key"


class Settings:
    """The settings of one installation, read once per process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._direct_key: bytes | None = None

    async def direct_conversation_id(self, user_id: str, other_user_id: str) -> str:
        """The id of the pair's conversation, whichever of the two asks. Raises StorageUnavailable.

        128 bits under a random key of this database: the same for ever, and nobody without the
        key can compute it. The pair is length-prefixed: `a` with `b:c` and `a:b` with `c` differ.
        """
        if self._direct_key is None:
            self._direct_key = await self._make_direct_key()
        digest = hmac.new(self._direct_key, digestmod=sha256)
        for each in sorted((user_id, other_user_id)):
            name = each.encode()
            digest.update(len(name).to_bytes(4, "big") + name)
        return digest.hexdigest()[:32]

    async def _make_direct_key(self) -> bytes:
        """The stored key, made now if there is none. It is part of the data: with another key
        the direct conversations that exist are not found again."""
        settings = self._database.settings
        with self._database.writing():
            try:
                kept = await settings.find_one_and_update(
                    {"_id": _DM_KEY},
                    {"$setOnInsert": {"value": secrets.token_bytes(32)}},
                    upsert=True,
                    return_document=True,
                )
            except DuplicateKeyError:
                kept = await settings.find_one({"_id": _DM_KEY})
        return bytes(kept["value"])
