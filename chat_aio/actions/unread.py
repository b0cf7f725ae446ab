"""One number over all conversations of a user: their unread messages (specification 15.7)."""

from collections.abc import Sequence
from functools import partial

from chat_aio import hooks
from chat_aio.actions.context import Context
from chat_aio.schema.inbox import UnreadTotals
from chat_aio.store import conversations, unread_totals
from chat_aio.store.mapping import conversation_from
from chat_aio.store.unread_totals import Counted


async def count_unread(context: Context, user_id: str) -> UnreadTotals:
    """Count the user's unread messages, those that mention them, and the conversations with any:
    `all`, and `unmuted` without muted conversations. Archived and hidden conversations are in
    neither (specification 15.7)."""
    count = partial(count_conversations, context, user_id)
    return await context.unread_tallies.totals_now(user_id, count)


async def count_conversations(
    context: Context, user_id: str, ids: Sequence[str] | None = None
) -> dict[str, Counted]:
    """The unread messages of a user in each conversation that they may read and that has any; with
    `ids` in these conversations, also where there are none."""
    found = await unread_totals.count(context.database, user_id, ids)
    permissions = context.permissions
    if not found or not permissions.asks_host:
        return found
    documents = await conversations.find_many(context.database, found)

    async def ask(name: str) -> bool:
        if name not in documents:
            return False
        conversation = conversation_from(documents[name], context.database.optional_fields)
        return await permissions.may_read(user_id, conversation)

    readable = await hooks.filter_async(ask, [*found], at_once=permissions.read_at_once)
    return {name: found[name] for name in readable}
