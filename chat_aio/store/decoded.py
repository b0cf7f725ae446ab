"""Cache of decoded conversations: the same bytes decode to the same document.

Every answer is made from the bytes that MongoDB has just sent. Only decoding, checking and making
the JSON are skipped if the bytes are the same as before (decision 0064).
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import bson

from chat_aio.schema.models import ConversationView, ConversationWithUnread, OptionalFields
from chat_aio.store import shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import ConversationDocument
from chat_aio.store.mapping import (
    UNSET_VIEW,
    conversation_json,
    viewed_conversation_from,
    viewed_json,
)
from chat_aio.store.rows import LIGHT_BYTES, MOST_BYTES, documents_in, read_batches

READ_AT_ONCE = 50

MOST_KEPT = 4 * 1024 * 1024
"""Maximum BSON that is kept. The documents and their JSON take about ten times as much."""


@dataclass(slots=True)
class DecodedConversation:
    """A well-formed conversation, which must not be changed. Its times are naive UTC."""

    document: ConversationDocument
    optional: OptionalFields
    _json: bytes | None = None

    def viewed(
        self, unread_count: int, view: ConversationView = UNSET_VIEW
    ) -> ConversationWithUnread:
        """The conversation with the viewer's unread count and view."""
        return viewed_conversation_from(self.document, unread_count, self.optional, view)

    def viewed_json(self, unread_count: int, view: ConversationView = UNSET_VIEW) -> bytes:
        """The JSON of `viewed`."""
        if self._json is None:
            self._json = conversation_json(self.document, self.optional)
        return viewed_json(self._json, unread_count, self.optional, view)


class DecodedConversations:
    """The cache of one process, which keeps the most recently used conversations. It is never out
    of date, because changed conversations have other bytes."""

    def __init__(self, database: Database, *, most_bytes: int = MOST_KEPT) -> None:
        self._database = database
        self._kept: OrderedDict[bytes, DecodedConversation] = OrderedDict()
        self._room = most_bytes

    async def read_some(
        self, ids: Sequence[str]
    ) -> tuple[dict[str, DecodedConversation], int, int]:
        """The well-formed conversations among `ids`, up to about 4 MiB of BSON: returns them by id,
        their size, and the number of `ids` that were read."""
        plain = self._database.plain_conversations
        found: dict[str, DecodedConversation] = {}
        stored_bytes = 0
        for start in range(0, len(ids), READ_AT_ONCE):
            chosen = {"_id": {"$in": list(ids[start : start + READ_AT_ONCE])}}
            batches = await read_batches(self._database, partial(plain.find_raw_batches, chosen))
            for decoded in await self._decoded(
                [bytes(document) for document in documents_in(batches)]
            ):
                found[decoded.document["_id"]] = decoded
            stored_bytes += sum(map(len, batches))
            if stored_bytes > MOST_BYTES:
                return found, stored_bytes, start + READ_AT_ONCE
        return found, stored_bytes, len(ids)

    async def _decoded(self, documents: Sequence[bytes]) -> list[DecodedConversation]:
        """The well-formed ones of these documents; others are logged and left out."""
        new_bytes = sum(len(document) for document in documents if document not in self._kept)
        found: list[DecodedConversation] = []
        codec = self._database.plain_conversations.codec_options
        async with self._database.turns.sliced(heavy=new_bytes > LIGHT_BYTES) as slices:
            for raw in documents:
                if decoded := self._kept.get(raw):
                    self._kept.move_to_end(raw)
                    found.append(decoded)
                elif document := shapes.one_readable("conversations", bson.decode(raw, codec)):
                    conversation: Any = document
                    decoded = DecodedConversation(conversation, self._database.optional_fields)
                    found.append(decoded)
                    self._kept[raw] = decoded
                    self._room -= len(raw)
                    while self._room < 0:
                        oldest, _ = self._kept.popitem(last=False)
                        self._room += len(oldest)
                await slices.give_way()
        return found
