"""Who notices whom: the two options that keep people apart beyond what the contract asks for."""

from collections.abc import Collection

from chat_aio.actions.context import Context
from chat_aio.errors import DirectInteractionBlocked
from chat_aio.store import blocks, conversations, exchanges
from chat_aio.store.transactions import Session


async def noticeable(context: Context, user_id: str, others: Collection[str]) -> set[str]:
    """Those of `others` whose presence a user may see, of whom they share a conversation with
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
    """Raise DirectInteractionBlocked where a user brings somebody into a group whom they have
    blocked, or who has blocked them (docs/behaviour.md 11.7). Blocks between others are not looked
    at: a refusal would tell of them."""
    if not context.options.separate_blocked:
        return
    pairs = {(user_id, each) for each in others}
    if await blocks.pairs_apart(context.database, pairs, session):
        raise DirectInteractionBlocked
