"""Reports requests to observers: each one when it begins, and once when it is answered."""

import asyncio
import time

from aiohttp import web

from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import Answer, Observer, Request
from chat_aio.web.access_log import route_of
from chat_aio.web.app_keys import CONTEXT, REQUEST_ID, USER_ID
from chat_aio.web.middleware import ERROR_CODE, Handler

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
NOBODY_WAITS = 499

_ASKED = web.RequestKey("asked", tuple[Request, float])


def observe_requests(app: web.Application) -> None:
    """Report every request of a chat's application to the chat's observers."""
    # Outermost, so that it reports what the client gets, also from other middlewares.
    app.middlewares.insert(0, _observed)
    app.on_response_prepare.append(_answered)


@web.middleware
async def _observed(request: web.Request, handler: Handler) -> web.StreamResponse:
    asked = Request(
        # Any client can make up methods; each would be another time series of the metrics.
        method=request.method if request.method in METHODS else "other",
        route=route_of(request),
        scheme=request.scheme,
        headers=request.headers,
    )
    request[_ASKED] = asked, time.perf_counter()
    notify(request.app[CONTEXT].observers, Observer.request_begun, asked)
    try:
        response = await handler(request)
    except asyncio.CancelledError:  # The connection is gone; nobody waits for the answer.
        _report(request, NOBODY_WAITS)
        raise
    _report(request, response.status)
    return response


async def _answered(request: web.Request, response: web.StreamResponse) -> None:
    """Report a stream when it opens: its handler may return later, and where the connection cannot
    be taken only at its end. Other requests are reported already."""
    _report(request, response.status)


def _report(request: web.Request, status: int) -> None:
    if _ASKED not in request:
        return
    asked, began = request.pop(_ASKED)
    answer = Answer(
        status=status,
        seconds=time.perf_counter() - began,
        code=request.get(ERROR_CODE),
        user_id=request.get(USER_ID),
        request_id=request.get(REQUEST_ID),
    )
    notify(request.app[CONTEXT].observers, Observer.request_answered, asked, answer)
