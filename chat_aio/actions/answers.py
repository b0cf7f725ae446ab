"""Answers with many rows: built in time slices, and cut where they would become too large."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Generic, TypeVar

import orjson

from chat_aio.actions.context import Context
from chat_aio.actions.people import people_of_conversations, people_of_messages, users_shown
from chat_aio.schema.models import (
    ConversationPage,
    ConversationView,
    MessagePage,
    OptionalFields,
    UnreadSummary,
    User,
)
from chat_aio.schema.wire import Wire, json_from
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
Other = TypeVar("Other", bound=Wire | bytes)
T = TypeVar("T")


async def shapes_of(
    context: Context,
    rows: Sequence[Row],
    shown: Callable[[Row], Shape | None],
    *,
    stored_bytes: int,
) -> tuple[tuple[Shape, ...], int]:
    """Build the shapes of `rows`, or their JSON, up to 4 MiB of JSON, at least one
    (specification 1.5).

    `shown` returns None for a row to leave out. Returns the shapes, and the number of rows
    that they cover.
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
    """The stored messages of a page, readable, with the parents that they quote.

    Callers in process get objects; HTTP gets JSON, for which no objects are made
    (decision 0053). `cursor_behind(count)` returns the cursor of the next page if this one
    ends after `count` messages; `previous_cursor` leads to newer ones. With `shows_users` the page
    contains the users that its messages show.
    """

    context: Context
    documents: Sequence[MessageDocument]
    parents: Parents
    stored_bytes: int
    cursor_behind: Callable[[int], str | None]
    previous_cursor: str | None = None
    shows_users: bool = False

    async def page(self) -> MessagePage:
        shown, count = await self.built(message_from)
        return MessagePage(
            messages=shown,
            next_cursor=self.cursor_behind(count),
            previous_cursor=self.previous_cursor,
            users=await self._users(count),
        )

    async def json(self) -> bytes:
        """The JSON of `page`."""
        shown, count = await self.built(message_json)
        further: dict[str, object] = {}
        if self.previous_cursor:
            further["previousCursor"] = self.previous_cursor
        if (users := await self._users(count)) is not None:
            further["users"] = _json_of_each(users)
        return _page_json("messages", shown, self.cursor_behind(count), **further)

    async def _users(self, count: int) -> dict[str, User] | None:
        if not self.shows_users:
            return None
        return await users_shown(self.context, self.people(count))

    def people(self, count: int) -> Iterator[str]:
        """The users whom the first messages show."""
        return people_of_messages(self.documents[:count], self.parents)

    async def built(
        self, build: Callable[[MessageDocument, Parents, OptionalFields], Shape]
    ) -> tuple[tuple[Shape, ...], int]:
        """The shapes of the messages, and how many messages they cover."""
        optional = self.context.database.optional_fields
        return await shapes_of(
            self.context,
            self.documents,
            lambda document: build(document, self.parents, optional),
            stored_bytes=self.stored_bytes,
        )


ListedRow = tuple[DecodedConversation, int, ConversationView] | None
"""A conversation with the caller's unread count and view; None is left out."""


@dataclass(frozen=True, slots=True)
class ConversationList:
    """The stored conversations of a page, as their caller views them. Otherwise as
    MessageList."""

    context: Context
    rows: Sequence[ListedRow]
    stored_bytes: int
    cursor_behind: Callable[[int], str | None]
    last_messages: MessageList | None = None
    unread_summaries: Mapping[str, UnreadSummary] | None = None
    shows_users: bool = False

    async def page(self) -> ConversationPage:
        shown = await self._built(DecodedConversation.viewed, message_from)
        return ConversationPage(
            conversations=shown.conversations,
            next_cursor=shown.next_cursor,
            last_messages=shown.last_messages,
            unread_summaries=shown.unread_summaries,
            users=shown.users,
        )

    async def json(self) -> bytes:
        """The JSON of `page`."""
        shown = await self._built(DecodedConversation.viewed_json, message_json)
        further: dict[str, object] = {}
        if shown.last_messages is not None:
            last = shown.last_messages.items()
            further["lastMessages"] = {name: orjson.Fragment(encoded) for name, encoded in last}
        if shown.unread_summaries is not None:
            further["unreadSummaries"] = _json_of_each(shown.unread_summaries)
        if shown.users is not None:
            further["users"] = _json_of_each(shown.users)
        return _page_json("conversations", shown.conversations, shown.next_cursor, **further)

    async def _built(
        self,
        build: Callable[[DecodedConversation, int, ConversationView], Shape],
        build_message: Callable[[MessageDocument, Parents, OptionalFields], Other],
    ) -> "_Built[Shape, Other]":
        rows, last = self.rows, None
        if self.last_messages is not None:
            messages, covered = await self.last_messages.built(build_message)
            names = [message["conversationId"] for message in self.last_messages.documents]
            last = dict(zip(names, messages, strict=False))
            if covered < len(names):
                # The rows end where their last messages do: a row without one would look empty.
                end = names[covered]
                rows = [*takewhile(lambda row: not row or row[0].document["_id"] != end, rows)]
        shown, count = await shapes_of(
            self.context, rows, lambda row: row and build(*row), stored_bytes=self.stored_bytes
        )
        here = {row[0].document["_id"] for row in rows[:count] if row}
        last, unread = _among(here, last), _among(here, self.unread_summaries)
        users = await self._users(count) if self.shows_users else None
        return _Built(shown, self.cursor_behind(count), last, unread, users)

    async def _users(self, count: int) -> dict[str, User]:
        """The users of the first rows: of their last messages, and first participants."""
        last = self.last_messages
        talking = last.people(len(last.documents)) if last else ()
        rows = [row[0].document for row in self.rows[:count] if row]
        return await users_shown(self.context, chain(talking, people_of_conversations(rows)))


def _among(names: Collection[str], found: Mapping[str, T] | None) -> dict[str, T] | None:
    return None if found is None else {name: found[name] for name in found if name in names}


@dataclass(frozen=True, slots=True)
class _Built(Generic[Shape, Other]):
    conversations: tuple[Shape, ...]
    next_cursor: str | None
    last_messages: dict[str, Other] | None
    unread_summaries: dict[str, UnreadSummary] | None
    users: dict[str, User] | None


def _json_of_each(shapes: Mapping[str, Wire]) -> dict[str, orjson.Fragment]:
    return {name: orjson.Fragment(json_from(shape)) for name, shape in shapes.items()}


def _page_json(name: str, rows: Sequence[bytes], cursor: str | None, **further: object) -> bytes:
    """The JSON of a page, with `further` keys."""
    # The rows are JSON already: they are joined as bytes, not parsed again.
    end = orjson.dumps({"nextCursor": cursor, **further})
    return b'{"%b":[%b],%b' % (name.encode(), b",".join(rows), end[1:])
