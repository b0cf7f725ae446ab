"""Pages of other origins: which ones may use the chat with a user's cookies (CSRF, CORS)."""

from collections.abc import Collection

from aiohttp import web

from chat_aio.errors import ForbiddenOrigin
from chat_aio.web.app_keys import CONTEXT
from chat_aio.web.sse import is_stream

READING = ("GET", "HEAD")
ELSEWHERE = ("cross-site", "same-site")
REMEMBERED_SECONDS = 600


def require_origin(request: web.Request, allowed: Collection[str]) -> None:
    """Raise ForbiddenOrigin if a page of another origin than `allowed` wants to change something or
    to open a stream (specification 1.9).

    A request without `Origin` passes, unless its `Sec-Fetch-Site` names another site. Browsers send
    only that when a page opens the stream as, for example, an image.
    """
    if request.method in READING and not is_stream(request):
        return
    origin = request.headers.get("Origin")
    site = request.headers.get("Sec-Fetch-Site")
    if origin not in allowed if origin is not None else site in ELSEWHERE:
        raise ForbiddenOrigin


def is_of_another_site(request: web.Request) -> bool:
    """Whether a page of another site has made this request, and its origin is not listed."""
    return request.headers.get("Sec-Fetch-Site") in ELSEWHERE and _listed(request) is None


def preflight_reply(request: web.Request) -> web.Response | None:
    """The answer to an OPTIONS request, if it is the preflight of a browser for a page of a listed
    origin. Any headers are allowed: the host's login may need others."""
    if "Access-Control-Request-Method" not in request.headers or _listed(request) is None:
        return None
    return web.Response(
        status=204,
        headers={
            "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
            "Access-Control-Allow-Headers": request.headers.get(
                "Access-Control-Request-Headers", ""
            ),
            "Access-Control-Max-Age": str(REMEMBERED_SECONDS),
        },
    )


def add_cors(request: web.Request, response: web.StreamResponse) -> None:
    """Allow pages of listed origins to read the answer."""
    if request.app[CONTEXT].options.allowed_origins is None:
        return
    response.headers.add("Vary", "Origin")
    if (origin := _listed(request)) is not None:
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Allow-Credentials"] = "true"
        response.headers["Access-Control-Expose-Headers"] = "X-Request-Id, Retry-After"


def _listed(request: web.Request) -> str | None:
    """The request's origin, if it is listed."""
    allowed = request.app[CONTEXT].options.allowed_origins
    origin = request.headers.get("Origin")
    return origin if allowed is not None and origin in allowed else None
