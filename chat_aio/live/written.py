"""What was written since a moment, and what of it each client that comes back has missed."""

import logging
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from chat_aio.live.event import Name
from chat_aio.live.frames import Frame, message_frame
from chat_aio.live.replay import Stored
from chat_aio.plugin import ToldMessage
from chat_aio.store.documents import ConversationDocument, MessageDocument
from chat_aio.store.views import Parents, message_from

log = logging.getLogger(__name__)

SKEW = timedelta(minutes=1)
"""How far apart the clocks of processes may be."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Wish:
    """Who comes back to which conversations, having seen the message `since`, of the time `at`.

    `newest` is the newest created event of the feed, if it has told any of these conversations.
    """

    user_id: str
    ids: frozenset[str]
    since: Name
    at: datetime
    newest: Frame | None

    @property
    def horizon(self) -> datetime:
        """What is older has been told, whichever process's clock says so."""
        return self.at - SKEW


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An event and its place in time; of the same time, creations come first."""

    at: datetime
    stored: Stored

    @property
    def order(self) -> tuple[datetime, bool, Name]:
        return self.at, self.stored.changed_at is not None, self.stored.name


class Written:
    """What was written since the oldest of some wishes, by conversation."""

    def __init__(self, *, joined: Mapping[str, Mapping[str, datetime]]) -> None:
        self._joined = joined
        self._entries: dict[str, list[Entry]] = defaultdict(list)

    def add(self, document: MessageDocument, name: str, at: datetime, parents: Parents) -> None:
        try:
            message = message_from(document, parents)
            stored = Stored(
                name=(message.conversation_id, message.seq),
                frame=message_frame(name, message),
                message=ToldMessage(
                    message.id, message.conversation_id, message.seq, message.sender_id
                ),
                changed_at=None if name == "message.created" else at,
            )
            entry = Entry(at=max(at, message.created_at), stored=stored)
        except Exception as error:  # Another program's row, perhaps; the feed skips it as well.
            log.error("message %r cannot be told: %r", document.get("_id"), error)
            return
        self._entries[document["conversationId"]].append(entry)

    def missed_by(self, wish: Wish) -> list[Entry]:
        """What came after the wish's moment, oldest first; of its own conversation by seq."""
        own, seen = wish.since
        found: list[Entry] = []
        for conversation_id in self._entries.keys() & wish.ids:
            joined = self._joined.get(conversation_id, {}).get(wish.user_id)
            if joined is None:
                continue
            oldest = max(wish.horizon, joined - SKEW)
            for each in self._entries[conversation_id]:
                is_created = each.stored.changed_at is None
                if is_created and conversation_id == own:
                    is_missed = each.stored.name[1] > seen
                else:
                    is_missed = each.at >= oldest
                if is_missed:
                    found.append(each)
        return sorted(found, key=lambda each: each.order)


def joined_in(conversation: ConversationDocument) -> dict[str, datetime]:
    return {each["userId"]: each["joinedAt"] for each in conversation["participants"]}
