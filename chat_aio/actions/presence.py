"""Presence: who may see whether a user is here. The plugin of that name sends and answers it."""

from collections.abc import Collection

from chat_aio.actions.context import Context
from chat_aio.store import blocks, conversations, exchanges


async def noticeable(context: Context, user_id: str, others: Collection[str]) -> set[str]:
    """Those of `others`, who share a conversation with the user, whose presence the user may see
    (docs/behaviour.md 12.6)."""
    found = set(others)
    if context.options.separate_blocked and found:
        pairs = {(user_id, other) for other in found}
        found -= {other for _, other in await blocks.pairs_apart(context.database, pairs)}
    if context.options.presence_needs_exchange and found:
        ids = await conversations.ids_of_user(context.database, user_id)
        found &= await exchanges.who_wrote_with(context.database, user_id, ids, found)
    return found
