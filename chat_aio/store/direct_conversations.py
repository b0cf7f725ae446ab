"""Ids of direct conversations, which are derived from their two users."""

from collections.abc import Collection, Sequence

from chat_aio.store.settings import Settings
from chat_aio.store.shapes import readable
from chat_aio.store.transactions import Session

_AFTER_ERASURES = b"\xff\xff\xff\xff"
_PAIR = b"\xff\xff\xff\xfd"
_AFTER_DELETIONS = b"\xff\xff\xff\xfc"
"""Separators in the digest, as that of pseudonyms in `settings.py`. No length prefix of an id
equals one of them."""


async def direct_conversation_id(settings: Settings, user_id: str, other_user_id: str) -> str:
    """The id of the pair's conversation, in either order. Raises StorageUnavailable.

    128 bits of an HMAC under a random key of this database: it never changes, and nobody
    without the key can compute it. Ids are length-prefixed: `a` with `b:c` and `a:b` with `c`
    differ. An erasure changes the id, so that a later owner of an erased user's id does not get
    their conversations, and so does a deletion, after which the pair begins again.
    """
    digest = await settings.digest()
    pair = sorted((user_id, other_user_id))
    # Not cached: another process erases users and deletes conversations.
    pseudonyms = {one: await settings.pseudonym(one) for one in pair}
    pair_name = await _pair_name(settings, pair)
    names = [*pseudonyms.values(), pair_name]
    database = settings.database
    rows = database.settings.find({"_id": {"$in": names}})
    found = readable("settings", await database.read(lambda: rows.to_list(None)))
    counts = {row["_id"]: row.get("erasures", 0) + row.get("deletions", 0) for row in found}
    for one in pair:
        digest.update(_prefixed(one))
        if count := counts.get(pseudonyms[one]):
            digest.update(_AFTER_ERASURES + count.to_bytes(4, "big"))
    if count := counts.get(pair_name):
        digest.update(_AFTER_DELETIONS + count.to_bytes(4, "big"))
    return digest.hexdigest()[:32]


async def count_erasure(settings: Settings, pseudonym: str, session: Session) -> None:
    """Count an erasure, which changes the ids of the user's direct conversations."""
    await settings.database.settings.update_one(
        {"_id": pseudonym}, {"$inc": {"erasures": 1}}, upsert=True, session=session
    )


async def count_deletion(settings: Settings, user_ids: Collection[str], session: Session) -> None:
    """Count a deletion of a pair's direct conversation, which changes its id."""
    name = await _pair_name(settings, sorted(user_ids))
    await settings.database.settings.update_one(
        {"_id": name}, {"$inc": {"deletions": 1}}, upsert=True, session=session
    )


async def _pair_name(settings: Settings, pair: Sequence[str]) -> str:
    """The name of a pair's row, from which nobody without the key can compute the users."""
    digest = await settings.digest()
    digest.update(_PAIR + b"".join(map(_prefixed, pair)))
    return f"pair-{digest.hexdigest()[:24]}"


def _prefixed(user_id: str) -> bytes:
    name = user_id.encode()
    return len(name).to_bytes(4, "big") + name
