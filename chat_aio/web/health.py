"""/healthz and /readyz, outside the mount: whether the process answers, whether it can serve."""

import asyncio

from aiohttp import web

from chat_aio.capabilities import Capability
from chat_aio.errors import SetupError
from chat_aio.web.keys import API, LIVE
from chat_aio.web.mounted import HEALTHZ, READYZ, add_beside, chats_in

LOOK_SECONDS = 2.0


def add_health(app: web.Application) -> None:
    """Add both routes to an app that has its chats mounted; a route of the app's own stays."""
    readiness = _Readiness(app)
    app.on_shutdown.insert(0, readiness.end)
    add_beside(app, HEALTHZ, _healthz)
    add_beside(app, READYZ, readiness.answer)


async def _healthz(_: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


class _Readiness:
    """Whether an app can serve now; not any more from the first moment of its shutdown."""

    def __init__(self, app: web.Application) -> None:
        self._chats = list(chats_in(app).values())
        self._ending = False

    async def end(self, _: web.Application) -> None:
        self._ending = True

    async def answer(self, _: web.Request) -> web.Response:
        if reason := await self._reason():
            return web.json_response({"status": "unavailable", "reason": reason}, status=503)
        return web.json_response({"status": "ok"})

    async def _reason(self) -> str | None:
        """Why not; it says nothing of the database's whereabouts, for anybody may ask."""
        if self._ending:
            return "shutting down"
        for chat in self._chats:
            if Capability.STREAMS in chat[API].capabilities and not chat[LIVE].feed.is_live:
                return "the feed is not live"
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                for chat in self._chats:
                    await chat[API].database.require_replica_set()
        except (SetupError, TimeoutError):
            return "the database does not answer"
        return None
