"""Recent changes: what a reconnecting client has missed and no replay contains (decision 0083)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from chat_aio.live.frames import Frame, event_frame
from chat_aio.live.replay.positions import SKEW
from chat_aio.live.stream import Stream
from chat_aio.schema.events import ChangedConversations, ChangedEvent
from chat_aio.store import recent_changes
from chat_aio.store.clock import Clock
from chat_aio.store.coalescer import Coalescer
from chat_aio.store.database import Database
from chat_aio.store.hidden import Hidden
from chat_aio.store.recent_changes import (
    ConversationChanges,
    ParticipantTimes,
    Reacted,
    kinds_since,
)

KEPT_FOR = timedelta(days=7)
"""For how long departures are kept: for an older position it is not known which there were."""

MOST_NAMED = 200
MOST_TOGETHER = 512
CONVERSATIONS_AT_ONCE = 20_000

Named = Mapping[str, Collection[str]]
"""Conversations by kind, as `ChangedConversations` names them."""

_People = Mapping[str, Mapping[str, ParticipantTimes]]
"""The participants of conversations, by conversation and user."""


class Found(NamedTuple):
    """The event as a frame, and whether it names anything."""

    frame: Frame
    names_any: bool


NOTHING = Found(event_frame(ChangedEvent(all=False)), names_any=False)
EVERYTHING = Found(event_frame(ChangedEvent(all=True)), names_any=True)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ChangesRequest:
    """A user who resumes the conversations `ids` after `since`; with `only`, they have asked for no
    others."""

    user_id: str
    ids: frozenset[str]
    only: frozenset[str] | None
    hidden: Hidden
    since: datetime


class RecentChanges:
    """Finds the changes in the conversations of reconnecting clients. Clients that return together
    share the reads."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._requests = Coalescer[ChangesRequest, Found](self._answer, most=MOST_TOGETHER)

    async def since(self, stream: Stream, at: datetime) -> Found:
        """The changes since a position of this time, in the conversations of a subscribed stream.
        Raises StorageUnavailable."""
        # Clocks differ, and a change is dated before it is committed.
        since = at - SKEW
        if since < self._clock() - KEPT_FOR:
            return EVERYTHING
        request = ChangesRequest(
            user_id=stream.user_id,
            ids=frozenset(stream.conversation_ids),
            only=stream.only,
            hidden=stream.hidden,
            since=since,
        )
        return await self._requests.ask(request)

    async def _answer(self, requests: Sequence[ChangesRequest]) -> list[Found]:
        answers: dict[ChangesRequest, Found] = {}
        for group in _groups(requests):
            answers |= await self._answer_group(group)
        return [answers[request] for request in requests]

    async def _answer_group(self, group: Sequence[ChangesRequest]) -> dict[ChangesRequest, Found]:
        since = min(request.since for request in group)
        users = {request.user_id for request in group}
        ids = frozenset[str]().union(*(request.ids for request in group))
        departures = await recent_changes.list_departures(self._database, users, since=since)
        if departures is None:
            return dict.fromkeys(group, EVERYTHING)
        changed = await recent_changes.list_changed(self._database, ids, since=since)
        reacted = await recent_changes.list_reacted(self._database, ids, since=since)
        left: dict[str, dict[str, datetime]] = {}
        for row in departures:
            left.setdefault(row["userId"], {})[row["conversationId"]] = row["at"]
        people: _People = {
            conversation_id: {person["userId"]: person for person in row["participants"]}
            for conversation_id, row in changed.items()
        }
        answers: dict[ChangesRequest, Found] = {}
        async with self._database.turns.sliced() as slices:
            for request in group:
                named = dict[str, list[str]]()
                for kind, conversation_id in (
                    *_gone(request, left.get(request.user_id, {})),
                    *_changed(request, changed, people),
                    *_reacted(request, reacted),
                ):
                    named.setdefault(kind, []).append(conversation_id)
                answers[request] = _found(named)
                await slices.give_way()
        return answers


def _groups(requests: Sequence[ChangesRequest]) -> Iterator[list[ChangesRequest]]:
    """Requests to read together: of similar age, and not too many conversations."""
    group: list[ChangesRequest] = []
    count = 0
    for request in sorted(requests, key=lambda request: request.since):
        is_far = bool(group) and request.since - group[0].since > SKEW
        if group and (is_far or count + len(request.ids) > CONVERSATIONS_AT_ONCE):
            yield group
            group, count = [], 0
        group.append(request)
        count += len(request.ids)
    yield group


def _gone(request: ChangesRequest, left: Mapping[str, datetime]) -> Iterator[tuple[str, str]]:
    for conversation_id, at in left.items():
        # They may have joined it again.
        is_wanted = request.only is None or conversation_id in request.only
        if at >= request.since and conversation_id not in request.ids and is_wanted:
            yield "removed", conversation_id


def _changed(
    request: ChangesRequest,
    changed: Mapping[str, ConversationChanges],
    people: _People,
) -> Iterator[tuple[str, str]]:
    for conversation_id in request.ids & changed.keys():
        kinds: set[str] = {*kinds_since(changed[conversation_id], request.since)}
        if person := people[conversation_id].get(request.user_id):
            if (at := person.get("joinedAt")) and at >= request.since:
                kinds.add("members")
            if (at := person.get("markedAt")) and at >= request.since:
                kinds.add("own_marks")
        for kind in kinds:
            yield kind, conversation_id


def _reacted(request: ChangesRequest, reacted: Mapping[str, Reacted]) -> Iterator[tuple[str, str]]:
    for conversation_id in request.ids & reacted.keys():
        at, seq = reacted[conversation_id]
        if at >= request.since and seq > request.hidden.get(conversation_id, 0):
            yield "reactions", conversation_id


def _found(named: Named) -> Found:
    if not named:
        return NOTHING
    if len({conversation_id for ids in named.values() for conversation_id in ids}) > MOST_NAMED:
        return EVERYTHING
    conversations = ChangedConversations(
        **{kind: tuple(sorted(ids)) for kind, ids in named.items()}
    )
    return Found(event_frame(ChangedEvent(all=False, conversations=conversations)), names_any=True)
