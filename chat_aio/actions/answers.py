"""Answers with many rows: built in time slices, and cut where they would become too large."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import orjson

from chat_aio.actions.context import Context
from chat_aio.schema.models import (
    ConversationPage,
    MessagePage,
    Wire,
    json_from,
)
from chat_aio.store.decoded import DecodedConversation
from chat_aio.store.documents import MessageDocument
from chat_aio.store.mapping import (
    Parents,
    message_from,
    message_json,
)
from chat_aio.store.rows import LIGHT_BYTES, MOST_BYTES

Row = TypeVar("Row")
Shape = TypeVar("Shape", bound=Wire | bytes)


async def shapes_of(
    context: Context,
    rows: Sequence[Row],
    shown: Callable[[Row], Shape | None],
    *,
    stored_bytes: int,
) -> tuple[tuple[Shape, ...], int]:
    """Build the shapes of `rows`, or their JSON, up to 4 MiB of JSON, at least one
    (docs/behaviour.md 1.5).

    `shown` returns None for a row to leave out. Returns what was built, and how many rows it
    covers.
    """
    made: list[Shape] = []
    # Measuring a shape means serialising twice. The JSON of up to 128 KiB of BSON cannot reach
    # 4 MiB.
    heavy = stored_bytes > LIGHT_BYTES
    room = MOST_BYTES if heavy else None
    async with context.database.turns.sliced(heavy=heavy) as slices:
        for count, row in enumerate(rows):
            shape = shown(row)
            if shape is None:
                continue
            if room is not None:
                room -= len(shape if isinstance(shape, bytes) else json_from(shape))
                if room < 0 and made:
                    return tuple(made), count
            made.append(shape)
            await slices.give_way()
    return tuple(made), len(rows)


@dataclass(frozen=True, slots=True)
class MessageList:
    """The messages of a page as they are stored, readable, with the parents that they quote.

    Callers in process get objects; HTTP gets JSON, for which none are made (docs/decisions/0053).
    `cursor_behind` returns the cursor of the next page, if this one ends after so many messages.
    """

    context: Context
    documents: Sequence[MessageDocument]
    parents: Parents
    stored_bytes: int
    cursor_behind: Callable[[int], str | None]

    async def page(self) -> MessagePage:
        shown, count = await self._built(message_from)
        return MessagePage(messages=shown, next_cursor=self.cursor_behind(count))

    async def json(self) -> bytes:
        """The JSON of `page`."""
        shown, count = await self._built(message_json)
        return _page_json("messages", shown, self.cursor_behind(count))

    async def _built(
        self, build: Callable[[MessageDocument, Parents], Shape]
    ) -> tuple[tuple[Shape, ...], int]:
        return await shapes_of(
            self.context,
            self.documents,
            lambda each: build(each, self.parents),
            stored_bytes=self.stored_bytes,
        )


@dataclass(frozen=True, slots=True)
class ConversationList:
    """The conversations of a page as they are stored, each with the caller's unread count; None for
    one that is to be left out. Otherwise as MessageList."""

    context: Context
    rows: Sequence[tuple[DecodedConversation, int] | None]
    stored_bytes: int
    cursor_behind: Callable[[int], str | None]

    async def page(self) -> ConversationPage:
        shown, count = await self._built(DecodedConversation.viewed)
        return ConversationPage(conversations=shown, next_cursor=self.cursor_behind(count))

    async def json(self) -> bytes:
        """The JSON of `page`."""
        shown, count = await self._built(DecodedConversation.viewed_json)
        return _page_json("conversations", shown, self.cursor_behind(count))

    async def _built(
        self, build: Callable[[DecodedConversation, int], Shape]
    ) -> tuple[tuple[Shape, ...], int]:
        return await shapes_of(
            self.context,
            self.rows,
            lambda row: row and build(*row),
            stored_bytes=self.stored_bytes,
        )


def _page_json(name: str, rows: Sequence[bytes], cursor: str | None) -> bytes:
    return b'{"%b":[%b],"nextCursor":%b}' % (name.encode(), b",".join(rows), orjson.dumps(cursor))
