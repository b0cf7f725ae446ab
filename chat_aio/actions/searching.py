"""Search: messages of one's own conversations that have every term of the query."""

import asyncio
from collections.abc import Sequence
from typing import cast

from chat_aio import inputs, pages
from chat_aio.actions.access import acting, load_readable
from chat_aio.actions.answers import shapes_of
from chat_aio.capabilities import Capability, require
from chat_aio.context import Context
from chat_aio.errors import StorageUnavailable
from chat_aio.models import MessagePage
from chat_aio.permissions import is_participant
from chat_aio.store import conversations, messages, search
from chat_aio.store.documents import MessageDocument
from chat_aio.store.rows import MOST_BYTES, Rows
from chat_aio.store.search import Match, Rank
from chat_aio.store.terms import terms_of
from chat_aio.store.views import bare_message_from, message_from

SECONDS = 2.0
MOST_AT_A_TIME = 1_000
READ_AT_ONCE = 50


@acting
async def search_messages(
    context: Context,
    user_id: str,
    query: str,
    *,
    conversation_id: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> MessagePage:
    """Messages that have every term of `query`, the most relevant first (docs/behaviour.md 6).

    Raises InvalidInput, SearchUnsupported, ConversationNotFound and ForbiddenRead (of
    `conversation_id`), and StorageUnavailable when it takes too long.
    """
    given = inputs.read(inputs.Search, query=query, conversation_id=conversation_id)
    size = pages.limit_from(limit)
    position = pages.position_from("search", cursor, int, int, str)
    require(context, Capability.SEARCH)
    if given.conversation_id is not None:
        await load_readable(context, user_id, given.conversation_id)
    ids = await conversations.ids_of_user(context.database, user_id)
    if given.conversation_id is not None:
        ids = [each for each in ids if each == given.conversation_id]
    before = _rank_from(position)
    try:
        async with asyncio.timeout(SECONDS):
            found = await _list_readable(
                context, user_id, ids, terms_of(given.query), before, count=size + 1
            )
    except TimeoutError:
        raise StorageUnavailable("the search took too long; narrow it") from None
    page = found.documents[:size]
    parents = await messages.find_parents(context.database, [each for _, each in page])
    shown, shown_of = await shapes_of(
        context,
        page,
        lambda each: message_from(each[1], parents),
        stored_bytes=found.stored_bytes,
    )
    goes_on = shown_of < len(found.documents) or not found.complete
    last = page[shown_of - 1] if goes_on else None
    return MessagePage(messages=shown, next_cursor=last and _cursor_from(last[0].rank))


async def _list_readable(
    context: Context,
    user_id: str,
    conversation_ids: Sequence[str],
    terms: Sequence[str],
    before: Rank | None,
    *,
    count: int,
) -> Rows[tuple[Match, MessageDocument]]:
    """The next matches that may be read, `count` of them where there are as many: those that may
    not are made up for by what ranks behind them. Fewer where they are large."""
    readable: list[tuple[Match, MessageDocument]] = []
    limit, size = count, 0
    while len(readable) < count:
        matches = await search.list_matches(
            context.database, conversation_ids, terms, before=before, limit=limit, seconds=SECONDS
        )
        for start in range(0, len(matches), READ_AT_ONCE):
            some = matches[start : start + READ_AT_ONCE]
            rows = await messages.read_many(context.database, [each.message_id for each in some])
            size += rows.stored_bytes
            found = {each["_id"]: each for each in rows.documents}
            for match in some:
                message = found.get(match.message_id)
                if (
                    message
                    and not message["deletedAt"]
                    and await _may_read(context, user_id, message)
                ):
                    readable.append((match, message))
            if size > MOST_BYTES and readable:
                return Rows(readable[:count], size, complete=False)
        if len(matches) < limit:
            break
        before = matches[-1].rank
        limit = min(4 * limit, MOST_AT_A_TIME)
    return Rows(readable[:count], size)


async def _may_read(context: Context, user_id: str, message: MessageDocument) -> bool:
    rule = context.permissions.can_read
    if rule is is_participant:
        return True  # Nothing but the user's conversations is searched.
    snapshot = await context.snapshots.find(message["conversationId"])
    return snapshot is not None and await context.permissions.allows(
        rule, user_id, snapshot.conversation, bare_message_from(message)
    )


def _rank_from(position: tuple[pages.Key, ...] | None) -> Rank | None:
    if position is None:
        return None
    score, millis, message_id = cast(tuple[int, int, str], position)
    return score, pages.moment_from(millis), message_id


def _cursor_from(rank: Rank) -> str:
    score, created_at, message_id = rank
    return pages.cursor_from("search", score, pages.millis_from(created_at), message_id)
