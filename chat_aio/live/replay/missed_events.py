"""What was written since a moment, and what of it each client that comes back has missed."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from chat_aio.live.event import Name
from chat_aio.live.frames import Frame
from chat_aio.live.replay.replay import ReplayedEvent, replayed_event_from
from chat_aio.store.documents import ConversationDocument, MessageDocument
from chat_aio.store.mapping import Parents

log = logging.getLogger(__name__)

SKEW = timedelta(minutes=1)
"""How far apart the clocks of processes may be."""

ALWAYS = datetime.min.replace(tzinfo=UTC) + SKEW


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReplayRequest:
    """Who comes back to which conversations, having seen the message `since`, of the time `at`.

    The stream began to hear of them at `began`; `newest` is the newest created event of the feed,
    if it has told any of these conversations.
    """

    user_id: str
    ids: frozenset[str]
    since: Name
    at: datetime
    began: datetime
    newest: Frame | None

    @property
    def horizon(self) -> datetime:
        """What is older has been told, whichever process's clock says so."""
        return self.at - SKEW


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An event and its place in time; of the same time, creations come first."""

    at: datetime
    stored: ReplayedEvent

    @property
    def order(self) -> tuple[datetime, bool, Name]:
        return self.at, self.stored.is_change, self.stored.name


class MissedEvents:
    """What was written since the oldest of some wishes, by conversation.

    Rows of other programs that cannot be told are passed over, as the feed does.
    """

    def __init__(self, members: Iterable[ConversationDocument]) -> None:
        self._joined = {each["_id"]: _joined_in(each) for each in members}
        self._entries: dict[str, list[Entry]] = defaultdict(list)

    def add_created(self, document: MessageDocument, parents: Parents) -> None:
        self._add(document, parents, is_change=False)

    def add_changed(self, document: MessageDocument, parents: Parents) -> None:
        self._add(document, parents, is_change=True)

    def missed_by(self, wish: ReplayRequest, *, most: int) -> list[Entry]:
        """What came after the wish's moment, oldest first; of its own conversation by seq. Where
        that is more than `most`, some `most` of it."""
        return sorted(islice(self._missed_by(wish), most), key=lambda each: each.order)

    def _missed_by(self, wish: ReplayRequest) -> Iterator[Entry]:
        own, seen = wish.since
        for conversation_id in self._entries.keys() & wish.ids:
            joined = self._joined.get(conversation_id, {}).get(wish.user_id)
            if joined is None:
                continue
            oldest = max(wish.horizon, joined - SKEW)
            for each in self._entries[conversation_id]:
                if conversation_id == own and not each.stored.is_change:
                    is_missed = each.stored.name[1] > seen
                else:
                    is_missed = each.at >= oldest
                if is_missed:
                    yield each

    def _add(self, document: MessageDocument, parents: Parents, *, is_change: bool) -> None:
        if stored := replayed_event_from(document, parents, is_change=is_change):
            at = stored.created_at
            if is_change and stored.changed_at:
                at = max(stored.changed_at, at)
            self._entries[stored.name[0]].append(Entry(at=at, stored=stored))


def _joined_in(conversation: ConversationDocument) -> dict[str, datetime]:
    """Who is in, and since when; a row that does not say so was always in."""
    found = {}
    for each in conversation["participants"]:
        joined = each.get("joinedAt")
        found[each["userId"]] = joined if isinstance(joined, datetime) else ALWAYS
    return found
