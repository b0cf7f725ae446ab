"""Pages of a timeline, which is the main list of a conversation or a thread, newest first: older or
newer than a message, or around one."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from chat_aio.actions.answers import MessageList
from chat_aio.actions.context import Context
from chat_aio.actions.reading import fill, load_parents, readable_in
from chat_aio.schema import pagination
from chat_aio.store import messages
from chat_aio.store.documents import MessageDocument
from chat_aio.store.rows import Rows
from chat_aio.store.snapshots import Snapshot

NEWER = "newer_messages"
"""The kind of the cursors that lead to newer messages of a main list."""

Listed = Callable[..., Awaitable[Rows[MessageDocument]]]
"""Lists the messages of a timeline on one side of a seq."""


@dataclass(frozen=True, slots=True)
class _Side:
    """Messages on one side of a seq, the nearest first, and the seq behind which more follow."""

    rows: Sequence[MessageDocument]
    end: int | None
    stored_bytes: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """A timeline as one of its readers sees it; its cursors to older messages are of this `kind`.
    `id` is that of the conversation or of the thread's root. It begins behind what is hidden from
    the reader."""

    context: Context
    user_id: str
    snapshot: Snapshot
    id: str
    kind: str
    shows_users: bool = False

    async def older(self, *, than: int | None, size: int) -> MessageList:
        """The newest messages below a seq, or of all."""
        below = await self._below(than, size)
        return await self._page(None, below)

    async def newer(self, *, than: int, size: int) -> MessageList:
        """The oldest messages above a seq, and cursors in both directions."""
        above = await self._above(than, size)
        return await self._page(above, _Side([], than + 1, 0))

    async def around(self, seq: int, *, size: int) -> MessageList:
        """The messages on both sides of a seq, at most half of them above it, and cursors in both
        directions."""
        above = await self._above(seq, size // 2)
        below = await self._below(seq + 1, size - len(above.rows))
        return await self._page(above, below)

    async def _above(self, seq: int, size: int) -> _Side:
        return await self._side(messages.list_oldest, max(seq, self._begin), size)

    async def _below(self, seq: int | None, size: int) -> _Side:
        return await self._side(partial(messages.list_newest, above=self._begin), seq, size)

    @property
    def _begin(self) -> int:
        """The seq behind which the reader's messages begin."""
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

    async def _page(self, above: _Side | None, below: _Side) -> MessageList:
        rows = [*(above.rows[::-1] if above else ()), *below.rows]
        hidden = self.snapshot.hidden_from(self.user_id)
        parents = await load_parents(self.context, self.user_id, rows, hidden)

        def cursor_behind(count: int) -> str | None:
            end = rows[count - 1]["seq"] if count < len(rows) else below.end
            return None if end is None else pagination.cursor_from(self.kind, end)

        newer = above.end if above else None
        return MessageList(
            self.context,
            rows,
            parents,
            (above.stored_bytes if above else 0) + below.stored_bytes,
            cursor_behind,
            None if newer is None else pagination.cursor_from(NEWER, newer),
            self.shows_users,
        )
