"""Presence: who may see whether a user is online. The plugin of that name sends and answers it."""

from collections.abc import Collection

from chat_aio.actions.context import Context
from chat_aio.store import blocks, conversations, mutual_messages


async def noticeable(context: Context, user_id: str, others: Collection[str]) -> set[str]:
    """The users among `others` whose presence the user may see; all `others` share a conversation
    with the user (specification 12.6)."""
    found = set(others)
    if context.options.hide_blocked_users and found:
        pairs = {(user_id, other) for other in found}
        found -= {other for _, other in await blocks.pairs_apart(context.database, pairs)}
    if context.options.presence_requires_mutual_messages and found:
        # Last, because it costs most: it looks through the messages of both.
        ids = await conversations.ids_of_user(context.database, user_id)
        found &= await mutual_messages.who_wrote_with(context.database, user_id, ids, found)
    return found
