"""The context: one frozen object with everything that actions use, the first parameter of all."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from chat_aio.actions.filed_reports import FiledReports
from chat_aio.actions.permissions import Permissions
from chat_aio.actions.profiles import Profiles
from chat_aio.actions.rate_limits import RateLimits
from chat_aio.actions.unread_tallies import UnreadTallies
from chat_aio.capabilities import Capability
from chat_aio.hooks import Hooks
from chat_aio.observability.observer import Observer
from chat_aio.options import Options
from chat_aio.plugin_types.base import Plugin
from chat_aio.store.bans import Bans
from chat_aio.store.clock import Clock
from chat_aio.store.database import Database
from chat_aio.store.decoded import DecodedConversations
from chat_aio.store.membership import Membership
from chat_aio.store.primary import PrimaryWatch
from chat_aio.store.read_marks import ReadMarks
from chat_aio.store.removals import Removals
from chat_aio.store.sequencer import Sequencer
from chat_aio.store.settings import Settings
from chat_aio.store.signals import Signals
from chat_aio.store.snapshots import Snapshots


def utc_now() -> datetime:
    """The current time in aware UTC, in whole milliseconds as MongoDB stores it."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def new_id() -> str:
    """A random opaque id of 96 bits. It has no `:`, which separates the parts of an event id."""
    # Random and not a counter: an id must not reveal how much a chat is used.
    return os.urandom(12).hex()


@dataclass(frozen=True, kw_only=True)
class Context:
    """The store, the rules and the settings of one chat."""

    database: Database
    primary_watch: PrimaryWatch
    snapshots: Snapshots
    decoded: DecodedConversations
    sequencer: Sequencer
    membership: Membership
    read_marks: ReadMarks
    removals: Removals
    bans: Bans
    caches_used: asyncio.Event
    settings: Settings
    signals: Signals
    rate_limits: RateLimits
    plugins: tuple[Plugin, ...]
    filed_reports: FiledReports
    unread_tallies: UnreadTallies
    observers: tuple[Observer, ...] = ()
    hooks: Hooks
    permissions: Permissions
    profiles: Profiles
    options: Options
    capabilities: frozenset[Capability]
    clock: Clock
    new_id: Callable[[], str]
    lease_owners: dict[str, object] = field(default_factory=dict)
    """The plugin that uses a lease, by the lease's name."""

    @property
    def history(self) -> timedelta | None:
        """How long earlier versions of messages are kept for moderators; None if they are not
        kept."""
        days = self.options.message_version_days if self.options.moderation_tools else 0
        return timedelta(days=days) if days else None
