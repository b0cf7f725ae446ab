"""Chat: builds the parts over a database, opens and closes them, and mounts them in an app."""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, Self

from aiohttp import web

from chat_aio.actions.admin_api import AdminAPI
from chat_aio.actions.api import (
    ConversationsAPI,
    HeldMessagesAPI,
    InboxAPI,
    ModerationAPI,
    ModerationToolsAPI,
    RoomsAPI,
    ServerAPI,
    methods_of,
)
from chat_aio.actions.context import Context, new_id
from chat_aio.actions.filed_reports import FiledReports
from chat_aio.actions.leases import HeldLease, Leases
from chat_aio.actions.permissions import Permissions
from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.actions.profiles import Profiles
from chat_aio.actions.rate_limits import Limits, RateLimits, rate_limits_from
from chat_aio.actions.unread_tallies import UnreadTallies
from chat_aio.capabilities import Capability, require
from chat_aio.errors import InvalidInput, SetupError, StorageUnavailable
from chat_aio.hooks import Hooks
from chat_aio.live.local_events import EventSubscription
from chat_aio.live.service import Live
from chat_aio.observability import process_wide
from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import Observer
from chat_aio.observability.timing import database_timer, timed_hook, timed_hooks
from chat_aio.options import Options
from chat_aio.plugin_types.base import Plugin
from chat_aio.schema.fields import ID_RULE, is_id
from chat_aio.store import indexes
from chat_aio.store.background_tasks import Upkeep
from chat_aio.store.bans import Bans
from chat_aio.store.calls import budget
from chat_aio.store.clock import Clock, PrimaryClock
from chat_aio.store.database import Database, database_over, is_unauthorized
from chat_aio.store.decoded import DecodedConversations
from chat_aio.store.leases import Lease
from chat_aio.store.maintenance import migrate
from chat_aio.store.membership import Membership
from chat_aio.store.primary import PrimaryWatch
from chat_aio.store.read_marks import ReadMarks
from chat_aio.store.removals import Removals
from chat_aio.store.sequencer import Sequencer
from chat_aio.store.settings import Settings
from chat_aio.store.signals import Signals
from chat_aio.store.snapshots import Snapshots
from chat_aio.web.app_keys import STREAMS
from chat_aio.web.application import Auth, make_application
from chat_aio.web.observing import observe_requests
from chat_aio.web.operations import Operation
from chat_aio.web.routes import ROUTES

log = logging.getLogger(__name__)

CLOSE_SECONDS = 3.0

APIS = (
    ServerAPI,
    ConversationsAPI,
    ModerationAPI,
    RoomsAPI,
    InboxAPI,
    ModerationToolsAPI,
    HeldMessagesAPI,
)
"""All APIs of actions, which rate limits and documents list."""

SEARCH_INDEXES = frozenset({"prefix_search", "search_filters"})
"""The options whose indexes are not needed with the hook `search_messages`."""


class Chat:
    """A chat over one database.

    `database` is a PyMongo AsyncDatabase or a Motor database of a replica set. `auth` returns for a
    request a mapping or object that has a non-empty string `id`, or None; it is needed for mounting
    only. Mount the chat, or use it as `async with Chat(database) as chat`.

    Times are those of the primary, unless a `clock` is given (for tests). `database_factory`
    returns another handle of the same database over a new client; it is called if the present
    client is stuck for good. `admin` is a handle of the same database, over a client whose user of
    MongoDB may do what operators do; `chat.admin` needs it.
    """

    def __init__(
        self,
        database: Any,
        *,
        auth: Auth | None = None,
        hooks: Hooks | None = None,
        options: Options | None = None,
        plugins: Iterable[Plugin] = (),
        observers: Iterable[Observer] = (),
        clock: Clock | None = None,
        database_factory: Callable[[], Any] | None = None,
        admin: Any = None,
    ) -> None:
        self._options = options or Options()
        listening, asked = tuple(observers), hooks or Hooks()
        self._auth = timed_hook("auth", auth, listening) if listening and auth else auth
        self._mounted = self._opened = self._opening = self._closing = False
        self._leases = Leases()
        self._database = database_over(database, self._options)
        if asked.search_messages is not None:
            self._database.flags -= SEARCH_INDEXES
        if listening:
            self._database.calls.on_ended = database_timer(listening)
        primary = PrimaryClock()
        self._upkeep = Upkeep(self._database, primary if clock is None else None, database_factory)
        self._context = _assemble(
            self._database,
            timed_hooks(asked, listening) if listening else asked,
            self._options,
            tuple(plugins),
            listening,
            clock or primary,
        )
        # The host's own code sends with any role, uses any key and deletes any conversation
        # (specification 4.16, 17.2, 3.9).
        permissions = replace(self._context.permissions, in_process=True)
        in_process = replace(self._context, permissions=permissions)
        self._api = ServerAPI(in_process)
        self._conversations = ConversationsAPI(in_process)
        self._rooms = RoomsAPI(self._context)
        self._inbox = InboxAPI(self._context)
        self._moderation_tools = ModerationToolsAPI(self._context)
        self._live = Live(self._context)
        self._operators = None if admin is None else operators_chat(admin, self._options, clock)
        self._admin = AdminAPI(
            self._operators._context if self._operators else None, self._database, self.end_streams
        )
        for plugin in self._context.plugins:
            plugin.api = PluginAPI(in_process)

    @property
    def api(self) -> ServerAPI:
        """The server API. Raises RuntimeError unless the chat is open."""
        self._require_open()
        return self._api

    @property
    def conversations(self) -> ConversationsAPI:
        """Keys of groups, sets of participants, metadata and deletion, next to the server API.
        Some methods need an option. Raises RuntimeError unless the chat is open."""
        self._require_open()
        return self._conversations

    @property
    def rooms(self) -> RoomsAPI:
        """Room controls, next to the server API. Raises RuntimeError unless the chat is open and
        has the option `room_controls`."""
        self._require_open()
        if not self._options.room_controls:
            raise RuntimeError("chat.rooms needs Options(room_controls=True)")
        return self._rooms

    @property
    def inbox(self) -> InboxAPI:
        """The inbox, next to the server API. Raises RuntimeError unless the chat is open and has
        the option `inbox`."""
        self._require_open()
        if not self._options.inbox:
            raise RuntimeError("chat.inbox needs Options(inbox=True)")
        return self._inbox

    @property
    def moderation_tools(self) -> ModerationToolsAPI:
        """The moderation tools, next to the server API. Raises RuntimeError unless the chat is open
        and has the option `moderation_tools`."""
        self._require_open()
        if not self._options.moderation_tools:
            raise RuntimeError("chat.moderation_tools needs Options(moderation_tools=True)")
        return self._moderation_tools

    @property
    def admin(self) -> AdminAPI:
        """The tasks of operators: erase and export users, place legal holds. Its methods raise
        AdminUnavailable without `Chat(admin=...)`. Raises RuntimeError unless the chat is open."""
        self._require_open()
        return self._admin

    def _require_open(self) -> None:
        if not self._opened:
            raise RuntimeError("the chat is not open: mount it, or use `async with chat`")

    def events(
        self,
        conversation_ids: Collection[str] | None = None,
        user_id: str | None = None,
        after: str | None = None,
    ) -> EventSubscription:
        """The live events within this process, for `async for`: with `user_id` those of this user's
        stream, else all of the host, without permissions; with `conversation_ids` only those of
        these conversations. `after` is a stored `position` to resume from (docs/guides/bots.md).

        Raises RuntimeError unless the chat is open, InvalidInput for a `user_id` that cannot be
        one, and StreamUnsupported without streams.
        """
        self._require_open()
        require(self._context, Capability.STREAMS)
        return EventSubscription(
            self._live, conversation_ids=conversation_ids, user_id=user_id, after=after
        )

    def mount(self, app: web.Application, path: str = "/api/chat") -> None:
        """Serve the chat below `path`; it opens and closes with `app`. Raises RuntimeError without
        `auth`, if `app` has started or if the chat is mounted already, and ValueError for a path
        such as `/`."""
        if self._auth is None:
            raise RuntimeError("Chat(..., auth=...) is needed for mounting")
        if self._mounted:
            raise RuntimeError("this chat is mounted already; make another Chat for another place")
        if app.frozen:
            raise RuntimeError("the app has started: mount the chat before running it")
        if not path.startswith("/") or not path.strip("/"):
            raise ValueError(f"mount the chat below a path such as /api/chat, not {path!r}")
        sub = make_application(self._context, self._live, self._auth)
        if self._context.observers:
            observe_requests(sub)
        sub.on_startup.append(self._on_startup)
        # Not `on_cleanup`: the host may have closed its database client by then.
        sub.on_shutdown.append(self._on_shutdown)
        # `add_subapp` freezes the sub-application: nothing can be added to it afterwards.
        app.add_subapp(path.rstrip("/"), sub)
        self._mounted = True

    async def open(self) -> None:
        """Check the database, create or verify its indexes, and start following it.

        Raises SetupError, which names the remedy, if the chat cannot work, and RuntimeError if it
        is already open.
        """
        if self._opened or self._opening:
            raise RuntimeError("the chat is open already")
        self._opening = True
        try:
            await self._open()
        except BaseException as error:
            await self._live.close()
            await self._context.primary_watch.close()
            await self._upkeep.close()
            if isinstance(error, StorageUnavailable):
                raise SetupError("MongoDB was reached, and then did not answer.") from error
            if is_unauthorized(error):
                raise SetupError(
                    "this user of MongoDB lacks rights that the chat needs: give it the role of "
                    "docs/operations/mongodb.md (chat-aio doctor names what is missing)"
                ) from error
            raise
        finally:
            self._opening = False

    async def _open(self) -> None:
        await self._database.require_replica_set()
        await self._upkeep.open()
        self._context.primary_watch.open()
        # Before the indexes: those of a database of a newer version must stay as they are.
        await migrate.require_current(self._database)
        await self._context.settings.require_key()
        # Without a timeout: creating an index on a large collection can take minutes.
        verifying = indexes.require(self._database, manage=self._options.manage_indexes)
        await self._database.calls.to_the_end(verifying)
        if self._options.manage_indexes:
            await migrate.note_version(self._database)
        if Capability.STREAMS in self._context.capabilities:
            await self._live.open()
        # If one fails, those before it are closed again.
        async with AsyncExitStack() as opened:
            for plugin in self._context.plugins:
                await plugin.open()
                opened.push_async_callback(plugin.close)
            if self._operators is not None:
                await self._operators.open()
            opened.pop_all()
        self._context.removals.open()
        process_wide.add(self._context.observers)
        notify(self._context.observers, Observer.chat_opened, self._live.state)
        self._opened = True

    async def close(self) -> None:
        """End streams, stop following, and finish writes that are under way. Closing twice is
        harmless.

        Writes that MongoDB does not answer within three seconds are no longer waited for; their
        callers get an error by themselves.
        """
        if not self._opened:
            return
        self._closing = True
        process_wide.remove(self._context.observers)
        notify(self._context.observers, Observer.chat_closed, self._live.state)
        # Streams first, since plugins may close only after them; what plugins publish at the end
        # then still goes out with the signals.
        with budget(CLOSE_SECONDS) as left:
            await self._leases.close(seconds=left.remaining)
            await self._live.close()
            for plugin in self._context.plugins:
                try:
                    await plugin.close()
                except Exception:  # The others are closed all the same.
                    log.exception("a plugin could not be closed: %r", plugin)
            await self._context.removals.close()
            await self._context.filed_reports.close()
            await asyncio.gather(
                self._context.signals.close(seconds=left.remaining),
                self._context.membership.close(seconds=left.remaining),
                self._context.sequencer.close(seconds=left.remaining),
                self._context.read_marks.close(seconds=left.remaining),
            )
            if self._operators is not None:
                await self._operators.close()
            await self._context.primary_watch.close()
            await self._upkeep.close()
            await self._database.close(seconds=left.remaining)
        self._opened = self._closing = False

    @property
    def is_open(self) -> bool:
        """Whether the chat is open and does not close."""
        return self._opened and not self._closing

    def lease(self, name: str, *, seconds: float = 5.0) -> HeldLease:
        """Work for one process at a time: `async with chat.lease("bot") as lease` waits until this
        process has the lease `name`. If the process dies, another one gets it within `seconds` and
        a third of them (docs/guides/bots.md).

        `async with` raises LeaseLost in place of the block's cancellation if the lease is lost or
        the chat closes. Raises RuntimeError unless the chat is open, and ValueError for a name that
        is no id and for `seconds` that are not positive.
        """
        if not self.is_open:
            self._require_open()
            raise RuntimeError("the chat closes")
        if not is_id(name) or seconds <= 0:
            raise ValueError(f"chat.lease({name!r}, seconds={seconds!r}): name {ID_RULE}")
        # With a prefix: other documents of `settings` have ids without one.
        named = f"lease:{name}"
        context = self._context
        lease = Lease(context.database, named, holder=context.new_id(), seconds=seconds)
        return HeldLease(lease, self._leases)

    async def end_streams(self, user_id: str) -> None:
        """End the streams of a user whose login is over, on every process. Their clients reconnect,
        and your `auth` hook decides about them.

        Raises StorageUnavailable if other processes cannot be notified; the streams of this process
        have ended even then.
        """
        self._live.hub.end_user(user_id, "ended")
        await self._context.signals.end_streams(user_id)

    async def invalidate_profiles(self, user_ids: Iterable[str]) -> None:
        """Forget what the `profiles` hook has returned about users, on every process: it is called
        again when they are next shown.

        Raises InvalidInput for an id that cannot be one, and StorageUnavailable if other processes
        cannot be notified; this process has forgotten them even then.
        """
        self._require_open()
        ids = list(dict.fromkeys(user_ids))
        # A single id would be taken for many of one letter.
        if isinstance(user_ids, str) or not all(map(is_id, ids)):
            raise InvalidInput(f"user_ids: each {ID_RULE}")
        self._context.profiles.forget(ids)
        await self._context.signals.forget_profiles(ids)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _on_startup(self, _: web.Application) -> None:
        await self.open()

    async def _on_shutdown(self, sub: web.Application) -> None:
        await self.close()
        await sub[STREAMS].wait_closed()


def operators_chat(database: Any, options: Options, clock: Clock | None = None) -> Chat:
    """The chat as operators' commands and `chat.admin` open it, without the host's hooks."""
    chat = Chat(
        database,
        clock=clock,
        # Everyone with this database may moderate.
        hooks=Hooks(can_moderate=lambda _: True),
        options=replace(
            options,
            # A command must not create indexes on the side.
            manage_indexes=False,
            # Nor does it need those of events: it delivers none.
            extra_events=False,
            # No streams, so no feed: it would first read minutes of the past.
            disabled_capabilities=frozenset({*options.disabled_capabilities, Capability.STREAMS}),
            rate_limits={},
        ),
    )
    # An operator does not know whether the service has `extra_events`.
    chat._database.dates_changes = True
    return chat


def _assemble(
    kept: Database,
    hooks: Hooks,
    options: Options,
    plugins: tuple[Plugin, ...],
    observers: tuple[Observer, ...],
    clock: Clock,
) -> Context:
    """The context of one chat: its parts over one database."""
    used, patience = asyncio.Event(), options.hook_timeout_seconds
    kept.unread_marks = options.inbox
    sequencer = Sequencer(kept, clock=clock, observers=observers)
    snapshots = Snapshots(kept, used=used)
    return Context(
        database=kept,
        snapshots=snapshots,
        primary_watch=PrimaryWatch(kept),
        decoded=DecodedConversations(kept),
        sequencer=sequencer,
        membership=Membership(kept, sequencer, snapshots),
        # Comparing costs a query, so it is done only for an event or a plugin.
        read_marks=ReadMarks(
            kept,
            compares=options.extra_events
            or any(plugin.overrides("message_read") for plugin in plugins),
            clock=clock if options.extra_events else None,
        ),
        removals=Removals(kept, clock=clock),
        bans=Bans(kept, clock=clock, used=used),
        caches_used=used,
        settings=Settings(kept),
        signals=Signals(kept, clock=clock, new_id=new_id, observers=observers),
        rate_limits=RateLimits(
            Limits(rate_limits_from(options.rate_limits, methods=set(limited_methods(plugins)))),
            hook=hooks.rate_limit,
            patience=patience,
        ),
        plugins=plugins,
        unread_tallies=UnreadTallies(follows=options.sends_unread),
        filed_reports=FiledReports(kept, clock=clock, new_id=new_id),
        observers=observers,
        hooks=hooks,
        profiles=Profiles(
            hooks.profiles, patience=patience, kept_seconds=options.profile_cache_seconds
        ),
        permissions=Permissions.from_hooks(hooks, limit=patience),
        options=options,
        capabilities=frozenset(Capability) - options.disabled_capabilities,
        clock=clock,
        new_id=new_id,
    )


def limited_methods(plugins: Iterable[Plugin]) -> Iterator[str]:
    """The names under which rate limits count calls: the methods of the server API, what only a
    route has, and the routes of plugins."""
    for api in APIS:
        yield from methods_of(api)
    yield from (route.documented.__name__ for route in ROUTES if isinstance(route, Operation))
    for plugin in plugins:
        yield from (route.name for route in plugin.routes)
