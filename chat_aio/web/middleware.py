"""The middleware of every request: authentication, bans and quotas, and errors as JSON."""

import logging
import time
from collections.abc import Awaitable, Callable

from aiohttp import web

from chat_aio.actions.bans import require_unbanned
from chat_aio.actions.context import new_id
from chat_aio.errors import (
    ChatError,
    HostUnavailable,
    InternalError,
    NotFound,
    RateLimited,
    SlowMode,
    StorageUnavailable,
    UnsupportedEncoding,
)
from chat_aio.store.calls import budget
from chat_aio.web.access_log import route_of
from chat_aio.web.app_keys import CONTEXT, REQUEST_ID, USER_ID
from chat_aio.web.authentication import authenticated
from chat_aio.web.close_connection import PARTING, answer_and_part, stop_reading
from chat_aio.web.compression import compress
from chat_aio.web.origins import add_cors, preflight_reply, require_origin
from chat_aio.web.quotas import give_back, spend
from chat_aio.web.replies import reply_error
from chat_aio.web.security_headers import protect
from chat_aio.web.slow_requests import BUDGET, warn_if_slow
from chat_aio.web.sse import hung_up, is_stream

log = logging.getLogger(__name__)

ERROR_CODE = web.RequestKey("error_code", str)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def respond(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every request, and every exception as a response. The connection of a request whose body must
    not be read ends with the answer."""
    request[REQUEST_ID] = new_id()
    # Before anything is awaited: aiohttp may inflate what arrives.
    if "Content-Encoding" in request.headers and request.body_exists:
        encodings = ",".join(request.headers.getall("Content-Encoding")).strip().lower()
        if encodings not in ("", "identity"):
            stop_reading(request)
    began = time.monotonic()
    response = await _answered(request, handler)
    if not is_stream(request):  # That lasts as long as it is open.
        warn_if_slow(request, response, began=began)
    compress(request, response)
    if PARTING in request:
        await answer_and_part(request, response)
    return response


async def _answered(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await _admitted(request, handler)
    except (StorageUnavailable, HostUnavailable) as error:
        # Not served, so not counted; and EventSource gives up for good on any status but 200.
        give_back(request)
        return hung_up(request) if is_stream(request) else _refused(request, error)
    except RateLimited as error:
        # What slow mode refuses has been to the database, so it counts as a request.
        give_back(request, "messages" if isinstance(error, SlowMode) else None)
        return _refused(request, error)
    except ChatError as error:
        return _refused(request, error)
    except web.HTTPException as unrouted:
        # The contract has no 405: a known path with another method is 404 (specification 1.1).
        if unrouted.status in (404, 405):
            return _refused(request, NotFound())
        return _failed(request)
    except Exception:
        return _failed(request)


async def _admitted(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Authenticate; refuse foreign origins, banned users and excess requests; then let the route
    answer. One time budget covers all database calls of the request; a stream outlives it, and is
    therefore handled outside."""
    if request.method == "OPTIONS" and (reply := preflight_reply(request)):
        return reply
    request[USER_ID] = await authenticated(request)
    context = request.app[CONTEXT]
    if context.options.allowed_origins is not None:
        require_origin(request, context.options.allowed_origins)
    with budget(context.options.storage_timeout_seconds) as request[BUDGET]:
        await require_unbanned(context, request[USER_ID])
        await spend(request, "requests")
        if PARTING in request and request.match_info.http_exception is None:
            raise UnsupportedEncoding
        if not is_stream(request):
            return await handler(request)
    return await handler(request)


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Add the headers of every response. The request's id lets a caller refer to it, and find it
    in the log."""
    protect(response)
    if request_id := request.get(REQUEST_ID):
        response.headers["X-Request-Id"] = request_id
    add_cors(request, response)


def _failed(request: web.Request) -> web.Response:
    """An opaque 500; only the log has the details, under the request's id."""
    request_id, method, route = request[REQUEST_ID], request.method, route_of(request)
    named = {"request_id": request_id, "method": method, "route": route}
    log.exception("request %s failed: %s %s", request_id, method, route, extra=named)
    return _refused(request, InternalError())


def _refused(request: web.Request, error: ChatError) -> web.Response:
    request[ERROR_CODE] = error.code
    return reply_error(error)
