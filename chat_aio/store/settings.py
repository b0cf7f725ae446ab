"""The rows of `settings`: secrets and facts of an installation, created only once."""

import hmac
import secrets
from collections.abc import Collection, Sequence
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
_PAIR = b"\xff\xff\xff\xfd"
_AFTER_DELETIONS = b"\xff\xff\xff\xfc"
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
        differ. An erasure changes the id, so that a later owner of an erased user's id does not get
        their conversations, and so does a deletion, after which the pair begins again.
        """
        digest = await self._digest()
        pair = sorted((user_id, other_user_id))
        # Not cached: another process erases users and deletes conversations.
        pseudonyms = {one: await self.pseudonym(one) for one in pair}
        pair_name = await self._pair_name(pair)
        names = [*pseudonyms.values(), pair_name]
        rows = self._database.settings.find({"_id": {"$in": names}})
        found = readable("settings", await self._database.read(lambda: rows.to_list(None)))
        counts = {row["_id"]: row.get("erasures", 0) + row.get("deletions", 0) for row in found}
        for one in pair:
            digest.update(_prefixed(one))
            if count := counts.get(pseudonyms[one]):
                digest.update(_AFTER_ERASURES + count.to_bytes(4, "big"))
        if count := counts.get(pair_name):
            digest.update(_AFTER_DELETIONS + count.to_bytes(4, "big"))
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
        """As `pseudonym`, but None if there is no key yet; it is not created then."""
        has_key = await self._database.read(
            lambda: self._database.settings.find_one({"_id": _DM_KEY}, {"_id": 1})
        )
        return await self.pseudonym(user_id) if has_key else None

    async def restored_at(self) -> datetime | None:
        """The time when a backup was last restored, None if never: older stream positions are
        meaningless. Raises StorageUnavailable."""
        rows = self._database.settings
        found = await self._database.read(lambda: rows.find_one({"_id": RESTORED}))
        at = found and found.get("at")
        return at if isinstance(at, datetime) else None

    async def count_erasure(self, pseudonym: str, session: Session) -> None:
        """Count an erasure, which changes the ids of the user's direct conversations."""
        await self._database.settings.update_one(
            {"_id": pseudonym}, {"$inc": {"erasures": 1}}, upsert=True, session=session
        )

    async def count_deletion(self, user_ids: Collection[str], session: Session) -> None:
        """Count a deletion of a pair's direct conversation, which changes its id."""
        name = await self._pair_name(sorted(user_ids))
        await self._database.settings.update_one(
            {"_id": name}, {"$inc": {"deletions": 1}}, upsert=True, session=session
        )

    async def _pair_name(self, pair: Sequence[str]) -> str:
        """The name of a pair's row, from which nobody without the key can compute the users."""
        digest = await self._digest()
        digest.update(_PAIR + b"".join(map(_prefixed, pair)))
        return f"pair-{digest.hexdigest()[:24]}"

    async def _digest(self) -> hmac.HMAC:
        """A digest under the stored key, which is created now if there is none. The key is part of
        the data: with another key, existing direct conversations are not found."""
        if self._direct_key is None:
            settings, new = self._database.settings, {"value": secrets.token_bytes(32)}
            try:
                # The stored value is used, never the one made here: another process may be first.
                kept = await self._database.write(
                    lambda: settings.find_one_and_update(
                        {"_id": _DM_KEY}, {"$setOnInsert": new}, upsert=True, return_document=True
                    )
                )
            # Another process has created the key at the same time. Its key counts.
            except DuplicateKeyError:
                kept = await self._database.read(lambda: settings.find_one({"_id": _DM_KEY}))
            self._direct_key = bytes(kept["value"])
        return hmac.new(self._direct_key, digestmod=sha256)


def _prefixed(user_id: str) -> bytes:
    name = user_id.encode()
    return len(name).to_bytes(4, "big") + name
