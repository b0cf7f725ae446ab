"""Answers with many rows: built in time slices, and cut where they would become too large."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

import orjson

from chat_aio.actions.context import Context
from chat_aio.actions.people import people_of_conversations, people_of_messages, users_shown
from chat_aio.schema.models import ConversationHead, ConversationPage, MessagePage, User
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
    `cursor_behind` returns the cursor of the next page, if this one ends after so many messages;
    `previous_cursor` leads to newer ones. With `shows_users` the page has the users whom its
    messages show.
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
        self, build: Callable[[MessageDocument, Parents], Shape]
    ) -> tuple[tuple[Shape, ...], int]:
        """The shapes of the messages, and how many messages they cover."""
        return await shapes_of(
            self.context,
            self.documents,
            lambda document: build(document, self.parents),
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
    last_messages: MessageList | None = None
    heads: Mapping[str, ConversationHead] | None = None
    shows_users: bool = False

    async def page(self) -> ConversationPage:
        shown = await self._built(DecodedConversation.viewed, message_from)
        return ConversationPage(
            conversations=shown.conversations,
            next_cursor=shown.next_cursor,
            last_messages=shown.last_messages,
            heads=shown.heads,
            users=shown.users,
        )

    async def json(self) -> bytes:
        """The JSON of `page`."""
        shown = await self._built(DecodedConversation.viewed_json, message_json)
        further: dict[str, object] = {}
        if shown.last_messages is not None:
            last = shown.last_messages.items()
            further["lastMessages"] = {name: orjson.Fragment(encoded) for name, encoded in last}
        if shown.heads is not None:
            further["heads"] = _json_of_each(shown.heads)
        if shown.users is not None:
            further["users"] = _json_of_each(shown.users)
        return _page_json("conversations", shown.conversations, shown.next_cursor, **further)

    async def _built(
        self,
        build: Callable[[DecodedConversation, int], Shape],
        build_message: Callable[[MessageDocument, Parents], Other],
    ) -> "_Built[Shape, Other]":
        rows, last = self.rows, None
        if self.last_messages is not None:
            messages, covered = await self.last_messages.built(build_message)
            names = [message["conversationId"] for message in self.last_messages.documents]
            last = dict(zip(names, messages, strict=False))
            rows = _before(names[covered] if covered < len(names) else None, rows)
        shown, count = await shapes_of(
            self.context, rows, lambda row: row and build(*row), stored_bytes=self.stored_bytes
        )
        here = {row[0].document["_id"] for row in rows[:count] if row}
        last, heads = _among(here, last), _among(here, self.heads)
        users = await self._users(count) if self.shows_users else None
        return _Built(shown, self.cursor_behind(count), last, heads, users)

    async def _users(self, count: int) -> dict[str, User]:
        """The users of the first rows: of their last messages, and first participants."""
        last = self.last_messages
        talking = last.people(len(last.documents)) if last else ()
        rows = [row[0].document for row in self.rows[:count] if row]
        return await users_shown(self.context, chain(talking, people_of_conversations(rows)))


ListedRow = tuple[DecodedConversation, int] | None


def _before(name: str | None, rows: Sequence[ListedRow]) -> Sequence[ListedRow]:
    """The rows before a conversation; all if it is None."""
    here = (count for count, row in enumerate(rows) if row and row[0].document["_id"] == name)
    return rows[: next(here, len(rows))]


def _among(names: Collection[str], found: Mapping[str, T] | None) -> dict[str, T] | None:
    return None if found is None else {name: found[name] for name in found if name in names}


@dataclass(frozen=True, slots=True)
class _Built(Generic[Shape, Other]):
    conversations: tuple[Shape, ...]
    next_cursor: str | None
    last_messages: dict[str, Other] | None
    heads: dict[str, ConversationHead] | None
    users: dict[str, User] | None


def _json_of_each(shapes: Mapping[str, Wire]) -> dict[str, orjson.Fragment]:
    return {name: orjson.Fragment(json_from(shape)) for name, shape in shapes.items()}


def _page_json(name: str, rows: Sequence[bytes], cursor: str | None, **further: object) -> bytes:
    """The JSON of a page, with `further` keys of it."""
    end = orjson.dumps({"nextCursor": cursor, **further})
    return b'{"%b":[%b],%b' % (name.encode(), b",".join(rows), end[1:])
