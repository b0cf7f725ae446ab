"""The writes since a moment, and the part that each reconnecting client has missed."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice

from chat_aio.live.event import Name
from chat_aio.live.frames import Frame
from chat_aio.live.replay.positions import SKEW
from chat_aio.live.replay.replay import ReplayedEvent, replayed_event_from
from chat_aio.live.stream import HOST
from chat_aio.schema.models import OptionalFields
from chat_aio.store.documents import ConversationDocument, MessageDocument
from chat_aio.store.hidden import by_user
from chat_aio.store.mapping import Parents

log = logging.getLogger(__name__)

# SKEW is subtracted from it: from the earliest time of all that would be an OverflowError.
ALWAYS = datetime.min.replace(tzinfo=UTC) + SKEW


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReplayRequest:
    """A user who resumes the conversations `ids` after the position `since`, which has the time
    `at`.

    The stream began at `began`. `newest` is the position of the newest created event that the
    replay buffer holds of these conversations, if there is one.
    """

    user_id: str
    ids: frozenset[str]
    since: Name
    at: datetime
    began: datetime
    newest: Frame | None

    @property
    def horizon(self) -> datetime:
        """The client has seen everything older than this, whichever process's clock dated it."""
        return self.at - SKEW


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An event and its time; among events of the same time, creations come first."""

    at: datetime
    stored: ReplayedEvent

    @property
    def order(self) -> tuple[datetime, bool, Name]:
        return self.at, self.stored.is_change, self.stored.name


@dataclass(frozen=True, slots=True)
class Stays:
    """When each participant of a conversation joined, and up to which seq messages are hidden from
    them, where any are."""

    joined: Mapping[str, datetime]
    hidden: Mapping[str, int]


NOBODYS = Stays({}, {})


class MissedEvents:
    """The writes since the oldest of some requests, by conversation.

    Malformed rows of other programs are skipped, as the feed does.
    """

    def __init__(self, members: Iterable[ConversationDocument], optional: OptionalFields) -> None:
        self._optional = optional
        self._members = {member["_id"]: member for member in members}
        self._stays: dict[str, Stays] = {}
        self._entries: dict[str, list[Entry]] = defaultdict(list)

    def add(self, document: MessageDocument, parents: Parents, *, is_change: bool) -> None:
        """Add a message's creation, or its last change."""
        made = replayed_event_from(document, parents, self._optional, is_change=is_change)
        if stored := made:
            at = stored.created_at
            if is_change and stored.changed_at:
                # Clocks differ: an edit must not come before the creation of its message.
                at = max(stored.changed_at, at)
            self._entries[stored.name[0]].append(Entry(at=at, stored=stored))

    def missed_by(self, request: ReplayRequest, *, most: int) -> list[Entry]:
        """The events after the request's moment, oldest first; creations in the conversation of its
        position are compared by seq. If there are more than `most`, any `most` of them."""
        return sorted(islice(self._missed_by(request), most), key=lambda entry: entry.order)

    def _missed_by(self, request: ReplayRequest) -> Iterator[Entry]:
        own, seen = request.since
        for conversation_id in self._entries.keys() & request.ids:
            stays = self._stays_in(conversation_id)
            joined = ALWAYS if request.user_id == HOST else stays.joined.get(request.user_id)
            if joined is None:
                continue
            oldest = max(request.horizon, joined - SKEW)
            upto = stays.hidden.get(request.user_id, 0)
            for entry in self._entries[conversation_id]:
                if conversation_id == own and not entry.stored.is_change:
                    is_missed = entry.stored.name[1] > seen
                else:
                    is_missed = entry.at >= oldest
                if is_missed and (shown := entry.stored.behind(upto)):
                    yield entry if shown is entry.stored else replace(entry, stored=shown)

    def _stays_in(self, conversation_id: str) -> Stays:
        """Found when the first request needs it: for all conversations at once it is long work."""
        stays = self._stays.get(conversation_id)
        if stays is None:
            stays = NOBODYS
            if conversation := self._members.get(conversation_id):
                joined = {}
                for participant in conversation["participants"]:
                    at = participant.get("joinedAt")
                    # Without a time, of another program's row, they count as always there.
                    joined[participant["userId"]] = at if isinstance(at, datetime) else ALWAYS
                stays = Stays(joined, by_user(conversation))
            self._stays[conversation_id] = stays
        return stays
