"""Presence: which users have a stream open, on any process."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context

from chat_aio.errors import InvalidInput, StorageUnavailable
from chat_aio.plugin_types.base import Plugin, PluginRequest, PluginRoute
from chat_aio.plugins.presence_store import Attendance
from chat_aio.schema.events import Attending, PresenceEvent
from chat_aio.schema.fields import is_id
from chat_aio.schema.inputs import Input
from chat_aio.schema.wire import Wire
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

MOST_ASKED = 50


class AskedFor(Input):
    user_ids: str | None = None


class PresenceOfUsers(Wire):
    presence: dict[str, Attending]


class Presence(Plugin):
    """Publishes presence.online and presence.offline to everyone who shares a conversation with a
    user, and answers `GET /presence?userIds=` (specification 12.3).

    A user is online while they have a stream, in any tab and on any process, and offline once they
    have had none for `offline_delay_ms`. A process without a sign of life for `lease_seconds`
    counts as dead, and its streams with it.
    """

    events = (PresenceEvent,)

    def __init__(self, *, offline_delay_ms: int = 5_000, lease_seconds: float = 15.0) -> None:
        if offline_delay_ms < 0 or lease_seconds <= 0:
            raise ValueError("Presence: delays cannot be negative, nor a lease be nothing")
        self.routes = (
            PluginRoute(
                method="GET",
                path="/presence",
                handler=self._show,
                request_model=AskedFor,
                response_model=PresenceOfUsers,
                errors=(InvalidInput,),
            ),
        )
        self._delay = offline_delay_ms / 1000
        self._lease = lease_seconds
        self._streams: Counter[str] = Counter()
        self._leaving: dict[str, asyncio.TimerHandle] = {}
        self._present: set[str] = set()
        self._publishing: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        self._attendance = Attendance(self.api, lease=self._lease)
        await self._attendance.open()
        self._tasks = {
            asyncio.create_task(self._repeat(step), context=Context())
            for step in (self._renew, self._attendance.sweep)
        }

    async def close(self) -> None:
        """Stop, and leave the users of this process to the other processes: within the delay they
        may reconnect there without going offline."""
        for departure in self._leaving.values():
            departure.cancel()
        await cancel_and_wait(*self._publishing.values(), *self._tasks)
        # After the tasks, which would renew the lease that is to expire.
        await self._attendance.close(delay=self._delay)

    def stream_opened(self, user_id: str) -> None:
        self._streams[user_id] += 1
        if leaving := self._leaving.pop(user_id, None):
            leaving.cancel()
        self._publish_later(user_id)

    async def stream_opening(self, user_id: str) -> None:
        """Wait until the user's presence is written: a client that has the stream's headers is
        online on every process (specification 12.3)."""
        if settling := self._publishing.get(user_id):
            # `wait` does not cancel the write if this client leaves: other streams need it, too.
            await asyncio.wait({settling})

    def stream_closed(self, user_id: str) -> None:
        def leave() -> None:
            del self._leaving[user_id]
            self._publish_later(user_id)

        self._streams[user_id] -= 1
        if self._streams[user_id] <= 0:
            del self._streams[user_id]
            # Delayed: a client that reconnects at once, here or elsewhere, never goes offline.
            later = asyncio.get_running_loop().call_later
            self._leaving[user_id] = later(self._delay, leave)

    def _is_here(self, user_id: str) -> bool:
        return user_id in self._streams or user_id in self._leaving

    def _publish_later(self, user_id: str) -> None:
        """Write a user's presence in the background, unless it is up to date or being written."""
        if self._is_here(user_id) != (user_id in self._present) and user_id not in self._publishing:
            # A fresh context: the time budget of the stream's request must not limit the write.
            self._publishing[user_id] = asyncio.create_task(
                self._publish(user_id), context=Context()
            )

    async def _publish(self, user_id: str) -> None:
        """Write until the stored presence matches the streams. What fails is tried again with the
        next renewal of the lease."""
        # A loop: the user may come or go while a write is under way.
        try:
            while (here := self._is_here(user_id)) != (user_id in self._present):
                if here:
                    name = self._attendance.id
                    await self._attendance.enter(user_id)
                    # Else this process was taken for dead in the meantime: the entry is under a
                    # name that no longer counts, and must be written again.
                    if name == self._attendance.id:
                        self._present.add(user_id)
                else:
                    await self._attendance.leave(user_id, self._attendance.id, self.api.now())
                    self._present.discard(user_id)
        except StorageUnavailable:
            return
        except Exception:
            log.exception("the presence of %r could not be written", user_id)
        finally:
            del self._publishing[user_id]

    async def _renew(self) -> None:
        if not await self._attendance.renew():
            # Entries under the old id do not count: all users are entered again under the new one.
            self._present.clear()
        for user_id in {*self._streams, *self._leaving, *self._present}:
            self._publish_later(user_id)

    async def _repeat(self, act: Callable[[], Awaitable[None]]) -> None:
        """Call `act` three times per lease, whatever happens. Renewing has a separate task, so
        that a long sweep cannot make the lease expire."""
        while True:
            await asyncio.sleep(self._lease / 3)
            try:
                await act()
            except StorageUnavailable:
                continue
            except Exception:
                log.exception("presence could not be renewed or swept")

    async def _show(self, request: PluginRequest) -> Mapping[str, object]:
        """Presence of up to 50 comma-separated user ids. Users who share no conversation with the
        caller, or whom an option keeps apart from the caller, are left out.

        Raises InvalidInput.
        """
        ids = [user_id for user_id in request.query.get("userIds", "").split(",") if user_id]
        if len(ids) > MOST_ASKED:
            raise InvalidInput(f"userIds may have at most {MOST_ASKED} entries")
        others = {user_id for user_id in ids if user_id != request.user_id and is_id(user_id)}
        known = await self.api.users_visible_to(request.user_id, others)
        shown = [
            user_id
            for user_id in dict.fromkeys(ids)
            if user_id in known or user_id == request.user_id
        ]
        return {"presence": await self._attendance.look_up(shown)}
