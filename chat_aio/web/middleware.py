"""The middleware of every request: authentication, bans and quotas, and errors as JSON."""

import logging
from collections.abc import Awaitable, Callable

from aiohttp import web

from chat_aio.actions.bans import require_unbanned
from chat_aio.actions.context import new_id
from chat_aio.errors import (
    ChatError,
    InternalError,
    NotFound,
    RateLimited,
    StorageUnavailable,
)
from chat_aio.store.calls import request_budget
from chat_aio.web.access_log import route_of
from chat_aio.web.authentication import authenticated
from chat_aio.web.keys import CONTEXT, REQUEST_ID, USER_ID
from chat_aio.web.origins import is_preflight, reply_preflight, require_origin
from chat_aio.web.parting import PARTING, answer_and_part, stop_reading
from chat_aio.web.replies import reply_error
from chat_aio.web.request_body import is_encoded, require_plain_body
from chat_aio.web.spending import give_back, spend
from chat_aio.web.sse import hung_up, is_stream

log = logging.getLogger(__name__)

ERROR_CODE = web.RequestKey("error_code", str)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def respond(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Authenticate, refuse foreign origins and banned users, then let the route answer. Every
    exception becomes a response here."""
    request[REQUEST_ID] = new_id()
    if is_encoded(request):  # Before anything is awaited: aiohttp may inflate what arrives.
        stop_reading(request)
    response = await _answer(request, handler)
    if PARTING in request:
        await answer_and_part(request, response)
    return response


async def _answer(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        if is_preflight(request):
            return reply_preflight(request)
        request[USER_ID] = user_id = await authenticated(request)
        require_origin(request)
        return await _answered(request, user_id, handler)
    except StorageUnavailable as error:
        # Not served, so not counted; and EventSource gives up for good on any status but 200.
        give_back(request)
        return hung_up(request) if is_stream(request) else _refused(request, error)
    except RateLimited as error:
        give_back(request)
        return _refused(request, error)
    except ChatError as error:
        return _refused(request, error)
    except web.HTTPException as unrouted:
        # The contract has no 405: a known path with another method is 404 (docs/behaviour.md 1.1).
        if unrouted.status in (404, 405):
            return _refused(request, NotFound())
        return _failed(request)
    except Exception:
        return _failed(request)


async def _answered(request: web.Request, user_id: str, handler: Handler) -> web.StreamResponse:
    """The route's response. One time budget covers all database calls of the request; a stream
    outlives it, and is therefore handled outside."""
    chat = request.config_dict[CONTEXT]
    with request_budget(chat.options.storage_timeout_seconds):
        await require_unbanned(chat, user_id)
        spend(request, "requests")
        require_plain_body(request)
        if not is_stream(request):
            return await handler(request)
    return await handler(request)


async def add_request_id(request: web.Request, response: web.StreamResponse) -> None:
    """Return the request's id, so that a caller can refer to it and it can be found in the log."""
    if request_id := request.get(REQUEST_ID):
        response.headers["X-Request-Id"] = request_id


def _failed(request: web.Request) -> web.Response:
    """An opaque 500; only the log has the details, under the request's id."""
    request_id, method, route = request[REQUEST_ID], request.method, route_of(request)
    named = {"request_id": request_id, "method": method, "route": route}
    log.exception("request %s failed: %s %s", request_id, method, route, extra=named)
    return _refused(request, InternalError())


def _refused(request: web.Request, error: ChatError) -> web.Response:
    request[ERROR_CODE] = error.code
    return reply_error(error)
