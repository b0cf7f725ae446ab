"""Who notices whom: the options `separate_blocked` and `presence_needs_exchange`."""

from collections.abc import Collection

from chat_aio.actions.context import Context
from chat_aio.errors import DirectInteractionBlocked
from chat_aio.store import blocks, conversations, exchanges
from chat_aio.store.transactions import Session


async def noticeable(context: Context, user_id: str, others: Collection[str]) -> set[str]:
    """Those of `others`, who share a conversation with the user, whose presence the user may see
    (docs/behaviour.md 12.6)."""
    found = set(others)
    if context.options.separate_blocked and found:
        pairs = {(user_id, each) for each in found}
        found -= {other for _, other in await blocks.pairs_apart(context.database, pairs)}
    if context.options.presence_needs_exchange and found:
        ids = await conversations.ids_of_user(context.database, user_id)
        found &= await exchanges.who_wrote_with(context.database, user_id, ids, found)
    return found


async def require_together(
    context: Context, user_id: str, others: Collection[str], session: Session
) -> None:
    """Raise DirectInteractionBlocked if the user and one of those they add have a block between
    them (docs/behaviour.md 11.7)."""
    if not context.options.separate_blocked:
        return
    # Blocks among the others do not count: a refusal would reveal them.
    pairs = {(user_id, each) for each in others}
    if await blocks.pairs_apart(context.database, pairs, session):
        raise DirectInteractionBlocked
