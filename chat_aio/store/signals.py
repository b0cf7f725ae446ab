"""Signals: rows that carry ephemeral events to the streams of all processes, through the feed."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pymongo import WriteConcern

from chat_aio.errors import StorageUnavailable
from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import Observer
from chat_aio.schema.wire import json_from
from chat_aio.store.database import Database
from chat_aio.store.transactions import Session

log = logging.getLogger(__name__)

KIND = "notes"
END = "end"
PROFILES = "profiles"
DELETED = "deleted"
OWN = "own"
PLUGINS = "plugins"
STALE_AFTER = timedelta(seconds=90)
"""Half a minute, and a minute by which clocks may differ."""

MOST_WAITING = 10_000
MOST_TOGETHER = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class EphemeralEvent:
    """An event `name` for the streams of some users or conversations; if both are given, for these
    users in these conversations. Its sender `but` does not get it.

    `data` is its JSON without the `type`. With `needs_exchange`, and the option
    `presence_requires_mutual_messages`, only users with whom the sender has exchanged messages get
    it. With `for_moderators` it is delivered only to the streams of moderators.
    """

    name: str
    data: Mapping[str, object]
    conversation_ids: Sequence[str] = ()
    user_ids: Sequence[str] = ()
    but: str | None = None
    needs_exchange: bool = False
    for_moderators: bool = False


class Signals:
    """Writes the ephemeral events of one process, coalescing those that arrive during a write."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        observers: tuple[Observer, ...] = (),
    ) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._observers = observers
        self._waiting: list[EphemeralEvent] = []
        self._flight: asyncio.Task[None] | None = None

    def publish(self, *notes: EphemeralEvent) -> None:
        """Queue events and return at once. They are lost if the database is out of reach."""
        self._waiting += notes
        # The oldest go first: of typing and presence, only the newest state matters.
        if (surplus := len(self._waiting) - MOST_WAITING) > 0:
            log.warning("more than %d ephemeral events wait: the oldest are lost", MOST_WAITING)
            del self._waiting[:surplus]
            notify(self._observers, Observer.ephemeral_events_lost, surplus)
        if self._waiting and self._flight is None:
            # A fresh context: the deadline of the first caller must not limit all callers' write.
            self._flight = asyncio.create_task(self._fly(), context=Context())

    async def close(self, *, seconds: float) -> None:
        """Wait up to `seconds` for the write in flight."""
        if self._flight is not None:
            _, late = await asyncio.wait({self._flight}, timeout=seconds)
            for flight in late:
                # This cancels only the waiting: the driver call runs in a separate task.
                flight.cancel()

    async def _fly(self) -> None:
        try:
            while self._waiting:
                taken = self._waiting[:MOST_TOGETHER]
                self._waiting = self._waiting[MOST_TOGETHER:]
                try:
                    await self.write(taken)
                    continue
                except StorageUnavailable:
                    log.warning(
                        "%d ephemeral events lost: the database is out of reach", len(taken)
                    )
                except Exception:
                    log.exception("%d ephemeral events lost", len(taken))
                # Lost for good: typing or presence of seconds ago would mislead.
                notify(self._observers, Observer.ephemeral_events_lost, len(taken))
        finally:
            self._flight = None

    async def write(self, notes: Sequence[EphemeralEvent], *, session: Session = None) -> None:
        """Write events as one signal, within a transaction or alone."""
        signal = {
            "_id": self._new_id(),
            "kind": KIND,
            "at": self._clock(),
            "notes": [document_from(note) for note in notes],
        }
        if session is not None:
            await self._database.signals.insert_one(signal, session=session)
            return
        # Not acknowledged at majority: the change stream shows only data that a majority has.
        quickly = self._database.signals.with_options(write_concern=WriteConcern(1))
        await self._database.write(lambda: quickly.insert_one(signal))

    async def end_streams(self, user_id: str) -> None:
        """Have every process end the streams of a user. Raises StorageUnavailable."""
        await self._signal(END, [user_id])

    async def forget_profiles(self, user_ids: Sequence[str]) -> None:
        """Have every process forget the profiles of users. Raises StorageUnavailable."""
        for start in range(0, len(user_ids), MOST_TOGETHER):
            await self._signal(PROFILES, user_ids[start : start + MOST_TOGETHER])

    async def note_own(
        self, user_id: str, conversation_id: str, *, hidden_up_to_seq: int = 0
    ) -> None:
        """Have every process notice that a user's own state in a conversation has changed, and with
        `hidden_up_to_seq` that they have cleared it. Raises StorageUnavailable."""
        hidden = {"hiddenUpToSeq": hidden_up_to_seq} if hidden_up_to_seq else {}
        await self._signal(OWN, [user_id], conversationId=conversation_id, **hidden)

    async def notify_plugins(self, name: str, data: Mapping[str, Any]) -> None:
        """Have every process pass data to its plugins. Raises StorageUnavailable."""
        await self._signal(PLUGINS, [], name=name, data=data)

    async def _signal(self, kind: str, user_ids: Sequence[str], **fields: object) -> None:
        at = self._clock()
        signal = {"_id": self._new_id(), "kind": kind, "at": at, "userIds": [*user_ids], **fields}
        # At majority, unlike events: an acknowledged logout must not be lost.
        await self._database.write(lambda: self._database.signals.insert_one(signal))


def document_from(note: EphemeralEvent) -> dict[str, Any]:
    """An event in its stored form."""
    return {
        "name": note.name,
        # As text: it is encoded once, and every process passes it on unchanged.
        "data": json_from({"type": note.name, **note.data}).decode(),
        "conversationIds": list(note.conversation_ids),
        "userIds": list(note.user_ids),
        "but": note.but,
        "needsExchange": note.needs_exchange,
        "forModerators": note.for_moderators,
    }


def users_in(signal: Mapping[str, Any], kind: str) -> list[str]:
    """The users whom a signal of this kind names: `END` ends their streams, `PROFILES` forgets
    their profiles, `OWN` has changed their own state in a conversation. Empty for a signal
    of another kind."""
    named = signal.get("userIds") if signal.get("kind") == kind else None
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []


def plugins_notified_by(signal: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """The name and the data that a signal has for plugins; None for one of another kind."""
    return (signal["name"], signal["data"]) if signal.get("kind") == PLUGINS else None


def is_deletion(signal: Mapping[str, Any]) -> bool:
    """Whether a signal is the deletion of a conversation (`store/deletion.py`)."""
    return signal.get("kind") == DELETED


def ephemeral_events_in(signal: Mapping[str, Any], *, now: datetime) -> Iterator[dict[str, Any]]:
    """The events of a signal; none if it is of another kind or stale."""
    if signal.get("kind") == KIND and now - signal["at"] < STALE_AFTER:
        yield from signal["notes"]
