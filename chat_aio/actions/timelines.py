"""Pages of a timeline, newest first: older or newer than a message, or around one. A timeline is
the main list of a conversation, or a thread."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from chat_aio.actions.answers import MessageList
from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_within, require_shown
from chat_aio.actions.reading import fill, load_parents, readable_in
from chat_aio.errors import InvalidInput
from chat_aio.schema import inputs, pagination
from chat_aio.schema.models import PagePart
from chat_aio.store import messages
from chat_aio.store.documents import MessageDocument
from chat_aio.store.rows import Rows
from chat_aio.store.snapshots import Snapshot

Listed = Callable[..., Awaitable[Rows[MessageDocument]]]
"""Lists the messages of a timeline on one side of a seq."""


@dataclass(frozen=True, slots=True)
class _Side:
    """Messages on one side of a seq, the nearest first, and the seq behind which more follow."""

    rows: Sequence[MessageDocument]
    end: int | None
    stored_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRange:
    """A page of a timeline: below the seq `older`, above the seq `newer`, around a message or a
    seq, or after a message; by default the newest. `kind` is that of its cursors."""

    kind: str
    size: int
    older: int | None = None
    newer: int | None = None
    around: str | int | None = None
    after: str | None = None
    shows_users: bool = False


def read_wanted(
    kind: str,
    *,
    limit: int | None,
    cursor: str | None,
    around: str | None,
    around_seq: int | None,
    after: str | None,
    include: Sequence[PagePart] | None,
) -> PageRange:
    """Raises InvalidInput, also for a cursor of another list, and for two places at once."""
    size = pagination.limit_from(limit)
    given = inputs.read(
        inputs.Timeline, around=around, around_seq=around_seq, after=after, include=include
    )
    places = (cursor, given.around, given.around_seq, given.after)
    if len([place for place in places if place is not None]) > 1:
        raise InvalidInput("cursor, around, aroundSeq and after cannot be used together")
    # Both directions have cursors of their kind: clients need not name a direction as well.
    is_newer = pagination.is_cursor_of(_newer(kind), cursor, int)
    position = pagination.position_from(_newer(kind) if is_newer else kind, cursor, int)
    seq = cast(int, position[0]) if position else None
    return PageRange(
        kind=kind,
        size=size,
        older=None if is_newer else seq,
        newer=seq if is_newer else None,
        around=given.around or given.around_seq,
        after=given.after,
        shows_users=bool(given.include),
    )


def _newer(kind: str) -> str:
    """The kind of the cursors that lead to newer messages."""
    return f"newer_{kind}"


@dataclass(frozen=True, slots=True)
class Timeline:
    """A timeline as one of its readers sees it. `id` is that of the conversation or of the thread's
    root. It starts behind the messages hidden from the reader."""

    context: Context
    user_id: str
    snapshot: Snapshot
    id: str

    async def page(self, wanted: PageRange) -> MessageList:
        """Raises MessageNotFound for a page around or after a message."""
        newer, size = wanted.newer, wanted.size
        if wanted.around:
            seq = await self._seq_of(wanted.around)
            # At most half of the page is newer than the message.
            above = await self._above(seq, size // 2)
            below = await self._below(seq + 1, size - len(above.rows))
            return await self._shown(wanted, above, below)
        # Like a cursor to newer messages, at the place of the message.
        if wanted.after:
            newer = await self._seq_of(wanted.after)
        if newer is None:
            return await self._shown(wanted, None, await self._below(wanted.older, size))
        # Only newer ones: the client has the message and all older ones that it wants.
        above = await self._above(newer, size)
        return await self._shown(wanted, above, _Side([], newer + 1, 0))

    async def _seq_of(self, place: str | int) -> int:
        """The seq of a message, which need not be in this timeline of its conversation; a seq is
        returned as it is."""
        if isinstance(place, int):
            return place
        context, conversation_id = self.context, self.snapshot.conversation.id
        seq = (await load_within(context, conversation_id, place))["seq"]
        await require_shown(context, self.user_id, self.snapshot, seq)
        return seq

    async def _above(self, seq: int, size: int) -> _Side:
        return await self._side(messages.list_oldest, max(seq, self._begin), size)

    async def _below(self, seq: int | None, size: int) -> _Side:
        return await self._side(partial(messages.list_newest, above=self._begin), seq, size)

    @property
    def _begin(self) -> int:
        """The seq behind which the reader's messages start."""
        return self.snapshot.hidden.get(self.user_id, 0)

    async def _side(self, listed: Listed, start: int | None, size: int) -> _Side:
        async def fetch(last: MessageDocument | None, limit: int) -> Rows[MessageDocument]:
            behind = last["seq"] if last else start
            return await listed(self.context.database, self.id, behind, limit=limit)

        async def sift(found: Sequence[MessageDocument]) -> Sequence[MessageDocument]:
            return await readable_in(self.context, self.user_id, self.snapshot, found)

        found = await fill(fetch, sift, count=size + 1)
        rows = found.rows[:size]
        if len(found.rows) > size:
            return _Side(rows, rows[-1]["seq"] if rows else start, found.stored_bytes)
        return _Side(rows, found.stopped and found.stopped["seq"], found.stored_bytes)

    async def _shown(self, wanted: PageRange, above: _Side | None, below: _Side) -> MessageList:
        """These messages, with cursors in both directions, or only to older messages if `above` is
        None."""
        rows = [*(above.rows[::-1] if above else ()), *below.rows]
        hidden = self.snapshot.hidden_from(self.user_id)
        parents = await load_parents(self.context, self.user_id, rows, hidden)

        def cursor_behind(count: int) -> str | None:
            end = rows[count - 1]["seq"] if count < len(rows) else below.end
            return None if end is None else pagination.cursor_from(wanted.kind, end)

        newer = above.end if above else None
        return MessageList(
            self.context,
            rows,
            parents,
            (above.stored_bytes if above else 0) + below.stored_bytes,
            cursor_behind,
            None if newer is None else pagination.cursor_from(_newer(wanted.kind), newer),
            wanted.shows_users,
        )
