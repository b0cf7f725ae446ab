"""The few things an installation keeps for itself, each made once."""

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
"""No id is so long that its length reads as one of these."""


class Settings:
    """The settings of one installation, read once per process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._direct_key: bytes | None = None

    async def direct_conversation_id(self, user_id: str, other_user_id: str) -> str:
        """The id of the pair's conversation, whichever of the two asks. Raises StorageUnavailable.

        128 bits under a random key of this database: the same for ever, and nobody without the
        key can compute it. The pair is length-prefixed: `a` with `b:c` and `a:b` with `c` differ.
        Whoever has an erased user's id later shares no conversation with them: it is another one
        after each erasure.
        """
        digest = await self._digest()
        erasures = await self._erasures([user_id, other_user_id])
        for each in sorted((user_id, other_user_id)):
            name = each.encode()
            digest.update(len(name).to_bytes(4, "big") + name)
            if count := erasures[each]:
                digest.update(_AFTER_ERASURES + count.to_bytes(4, "big"))
        return digest.hexdigest()[:32]

    async def require_key(self) -> None:
        """Raise SetupError where the key is there and cannot be read: whatever was made instead,
        people would not find their conversations again."""
        kept = await self._database.read(lambda: self._database.settings.find_one({"_id": _DM_KEY}))
        if kept is not None and not isinstance(kept.get("value"), bytes):
            raise SetupError(f"settings: {_DM_KEY} cannot be read; restore it from a backup")

    async def pseudonym(self, user_id: str) -> str:
        """Whom an erased user's rows name in their place, always the same. Nobody without the key
        can tell from it who that was. Raises StorageUnavailable."""
        digest = await self._digest()
        digest.update(_PSEUDONYM + user_id.encode())
        return f"erased-{digest.hexdigest()[:24]}"

    async def restored_at(self) -> datetime | None:
        """When a backup was last restored, None if never: positions from before mean something
        else since. Raises StorageUnavailable."""
        rows = self._database.settings
        found = await self._database.read(lambda: rows.find_one({"_id": RESTORED}))
        at = found and found.get("at")
        return at if isinstance(at, datetime) else None

    async def count_erasure(self, pseudonym: str, session: Session) -> None:
        """From now on other direct conversations are those of the user with this pseudonym."""
        await self._database.settings.update_one(
            {"_id": pseudonym}, {"$inc": {"erasures": 1}}, upsert=True, session=session
        )

    async def _erasures(self, user_ids: list[str]) -> dict[str, int]:
        """How often the direct conversations of each were erased. Asked anew each time: another
        program erases them."""
        names = {each: await self.pseudonym(each) for each in user_ids}
        rows = self._database.settings.find({"_id": {"$in": list(names.values())}})
        found = readable("settings", await self._database.read(lambda: rows.to_list(None)))
        counts = {each["_id"]: each.get("erasures", 0) for each in found}
        return {each: counts.get(name, 0) for each, name in names.items()}

    async def _digest(self) -> hmac.HMAC:
        if self._direct_key is None:
            self._direct_key = await self._make_direct_key()
        return hmac.new(self._direct_key, digestmod=sha256)

    async def _make_direct_key(self) -> bytes:
        """The stored key, made now if there is none. It is part of the data: with another key
        the direct conversations that exist are not found again."""
        settings, new = self._database.settings, {"value": secrets.token_bytes(32)}
        try:
            kept = await self._database.write(
                lambda: settings.find_one_and_update(
                    {"_id": _DM_KEY}, {"$setOnInsert": new}, upsert=True, return_document=True
                )
            )
        except DuplicateKeyError:
            kept = await self._database.read(lambda: settings.find_one({"_id": _DM_KEY}))
        return bytes(kept["value"])
