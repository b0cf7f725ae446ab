"""Filters messages by what a user may read: refused ones are left out, their quotes are empty.

By default participants read everything and no hook is called. A host's own `can_read` is called
for the conversation, and with `can_read_messages` for each message (specification 5.5).
Messages hidden from a participant (store/hidden.py) are left out before any hook is called.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from chat_aio import hooks
from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_conversation
from chat_aio.schema.models import Message
from chat_aio.store import messages
from chat_aio.store.documents import MessageDocument
from chat_aio.store.hidden import Hidden, quotable, shown_among
from chat_aio.store.mapping import Parents, bare_message_from, message_from
from chat_aio.store.rows import Rows
from chat_aio.store.shapes import readable
from chat_aio.store.snapshots import Snapshot
from chat_aio.store.time_slices import ROWS_AT_ONCE

MOST_AT_A_TIME = 400
MOST_LOOKED_AT = 2_000
"""The number of rows after which a page ends early, with a cursor: if the host refuses everything,
filling it would call the hook for each message of the conversation."""

T = TypeVar("T")


async def readable_in(
    context: Context,
    user_id: str,
    snapshot: Snapshot,
    found: Sequence[MessageDocument],
) -> Sequence[MessageDocument]:
    """The messages that a user who may read this conversation may read; malformed rows are left
    out."""
    hidden, conversation = snapshot.hidden_from(user_id), snapshot.conversation
    found = shown_among(await _well_formed(context, found), hidden)
    permissions = context.permissions
    if not permissions.asks_for_messages:
        return found

    async def ask(document: MessageDocument) -> bool:
        bare = bare_message_from(document)
        return await permissions.may_read_message(user_id, conversation, bare)

    return await hooks.filter_async(ask, found, at_once=permissions.read_at_once)


async def _well_formed(
    context: Context, found: Sequence[MessageDocument]
) -> Sequence[MessageDocument]:
    """Leave out malformed rows. In time slices, since a message may have 2,000 reactions."""
    async with context.database.turns.sliced() as slices:
        kept: list[MessageDocument] = []
        for start in range(0, len(found), ROWS_AT_ONCE):
            kept += readable("messages", found[start : start + ROWS_AT_ONCE])
            await slices.give_way()
    return kept


async def readable_among(
    context: Context, user_id: str, found: Sequence[MessageDocument], hidden: Hidden
) -> Sequence[MessageDocument]:
    """As `readable_in`, for messages of several conversations that the user is in. `hidden`
    contains the messages hidden from the user."""
    if not context.permissions.asks_host:
        return shown_among(await _well_formed(context, found), hidden)
    return await readable_anywhere(context, user_id, found)


async def readable_anywhere(
    context: Context, user_id: str, found: Sequence[MessageDocument]
) -> Sequence[MessageDocument]:
    """As `readable_in`, for messages of any conversations; the user need not be in them."""
    by_conversation: dict[str, list[MessageDocument]] = {}
    for message in found:
        # Another program may have written another type; whole rows are checked below.
        if isinstance(conversation_id := message.get("conversationId"), str):
            # Grouped, so that `can_read` is asked once for a conversation and not for each message.
            by_conversation.setdefault(conversation_id, []).append(message)
    kept: set[str] = set()
    for conversation_id, theirs in by_conversation.items():
        snapshot = await context.snapshots.find(conversation_id)
        if snapshot and await context.permissions.may_read(user_id, snapshot.conversation):
            allowed = await readable_in(context, user_id, snapshot, theirs)
            kept |= {message["_id"] for message in allowed}
    return [message for message in found if message["_id"] in kept]


async def load_parents(
    context: Context, user_id: str, replies: Sequence[MessageDocument], hidden: Hidden
) -> Parents:
    """The messages that replies quote, in conversations that the user may read. A refused or hidden
    message is missing, and so shows as deleted.

    `replies` are messages that the user may read. Quotes of one another need no query.
    """
    here = {reply["_id"]: reply for reply in replies}
    known = {None, *here}
    others = [reply for reply in replies if reply["replyToMessageId"] not in known]
    if not context.permissions.asks_for_messages:
        quoted = await messages.find_parents(context.database, others)
        return {**here, **(quotable(quoted, others, hidden) if hidden else quoted)}
    found = await messages.find_whole_parents(context.database, others)
    allowed = await readable_among(context, user_id, list(found.values()), hidden)
    return {**here, **{message["_id"]: message for message in allowed}}


async def load_all_parents(context: Context, replies: Sequence[MessageDocument]) -> Parents:
    """The messages that replies quote, for moderators with the moderation tools, who may see all of
    them."""
    return await messages.find_parents(context.database, replies)


async def show(
    context: Context, user_id: str, documents: Sequence[MessageDocument], hidden: Hidden
) -> tuple[Message, ...]:
    """Convert messages that the user may read; replies quote their parent as it is now."""
    parents = await load_parents(context, user_id, documents, hidden)
    optional = context.database.optional_fields
    return tuple(message_from(document, parents, optional) for document in documents)


async def load_parents_of_own(context: Context, user_id: str, document: MessageDocument) -> Parents:
    """As `load_parents` for the user's own message, which they get even if they may not read the
    conversation; the quote is then left out."""
    snapshot = await load_conversation(context, document["conversationId"])
    if not await context.permissions.may_read(user_id, snapshot.conversation):
        return {}
    return await load_parents(context, user_id, [document], snapshot.hidden_from(user_id))


@dataclass(frozen=True, slots=True)
class Filled(Generic[T]):
    """Rows that the user may read; `stored_bytes` is the BSON size of all rows examined, and
    `stopped` the last of these, None if nothing follows it."""

    rows: list[T]
    stored_bytes: int
    stopped: T | None

    def behind(self, page: Sequence[T], count: int) -> T | None:
        """The row behind which the next page starts; None if there is none. `page` is the start of
        `rows`, and `count` of its rows are shown."""
        if count < len(page) or len(page) < len(self.rows):
            return page[count - 1]
        return self.stopped


async def fill(
    fetch: Callable[[T | None, int], Awaitable[Rows[T]]],
    sift: Callable[[Sequence[T]], Awaitable[Sequence[T]]],
    *,
    count: int,
    most: float | None = None,
) -> Filled[T]:
    """Collect `count` rows that the user may read, fetching more for those that `sift` leaves out.

    `fetch(last, limit)` returns up to `limit` rows behind `last`. Ends early after `most` rows
    (MOST_LOOKED_AT by default) or as many bytes as an answer may have.
    """
    most = MOST_LOOKED_AT if most is None else most
    kept: list[T] = []
    last: T | None = None
    looked_at, size, limit = 0, 0, count
    while True:
        found = await fetch(last, limit)
        kept += await sift(found.documents)
        size += found.stored_bytes
        looked_at += len(found.documents)
        if len(kept) >= count or (found.complete and len(found.documents) < limit):
            return Filled(kept[:count], size, None)
        last = found.documents[-1]
        if looked_at >= most or (kept and not found.complete):
            return Filled(kept, size, last)
        # Grow, so that a host that refuses nearly everything does not cost hundreds of queries.
        limit = max(limit, min(4 * limit, MOST_AT_A_TIME))
