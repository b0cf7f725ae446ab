"""Keys of the values stored in the sub-application and in requests."""

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from chat_aio.actions.context import Context
from chat_aio.actions.rate_limits import Limits
from chat_aio.live.service import Live
from chat_aio.web.open_downloads import OpenDownloads
from chat_aio.web.stream_connection import StreamConnections

Auth = Callable[[web.Request], Awaitable[Any] | Any]

CONTEXT = web.AppKey("context", Context)
LIVE = web.AppKey("live", Live)
STREAMS = web.AppKey("streams", StreamConnections)
AUTH: web.AppKey[Auth] = web.AppKey("auth", object)  # type: ignore[arg-type]

USER_ID = web.RequestKey("user_id", str)
DOWNLOADS = web.AppKey("downloads", OpenDownloads)
QUOTAS = web.AppKey("quotas", Limits)
REQUEST_ID = web.RequestKey("request_id", str)
