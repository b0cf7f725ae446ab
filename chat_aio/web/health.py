"""/healthz and /readyz, outside the mount: is the process healthy, and can it serve requests?"""

from aiohttp import web

from chat_aio.capabilities import Capability
from chat_aio.web.app_keys import CONTEXT, LIVE
from chat_aio.web.mounts import HEALTHZ, READYZ, add_beside, chats_in

LOOK_SECONDS = 2.0


def add_health(app: web.Application) -> None:
    """Add both routes to an app whose chats are mounted; a route of the app's own stays."""
    health = _Health(app)
    # First of all: load balancers see that it is not ready before anything is shut down.
    app.on_shutdown.insert(0, health.end)
    add_beside(app, HEALTHZ, health.answer_health)
    add_beside(app, READYZ, health.answer_readiness)


class _Health:
    """Health and readiness of an app's process. It is not ready from the start of its shutdown on,
    so that load balancers send nothing more."""

    def __init__(self, app: web.Application) -> None:
        self._chats = list(chats_in(app).values())
        self._ending = False

    async def end(self, _: web.Application) -> None:
        self._ending = True

    async def answer_health(self, _: web.Request) -> web.Response:
        """503 requests a restart. It is not given for an unreachable database: restarting would not
        help."""
        # A stuck client never recovers (decision 0009).
        if any(chat[CONTEXT].database.calls.is_stuck for chat in self._chats):
            reason = "the database client is stuck"
            return web.json_response({"status": "unavailable", "reason": reason}, status=503)
        return web.json_response({"status": "ok"})

    async def answer_readiness(self, _: web.Request) -> web.Response:
        if reason := await self._reason():
            return web.json_response({"status": "unavailable", "reason": reason}, status=503)
        return web.json_response({"status": "ok"})

    async def _reason(self) -> str | None:
        """Why the process is not ready, None if it is. Never names the database's address, because
        the route is open to anybody."""
        if self._ending:
            return "shutting down"
        for chat in self._chats:
            if Capability.STREAMS in chat[CONTEXT].capabilities and not chat[LIVE].feed.is_live:
                return "the feed is not live"
        for chat in self._chats:
            if not await chat[CONTEXT].database.answers(seconds=LOOK_SECONDS):
                return "the database does not answer"
        return None
