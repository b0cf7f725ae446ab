"""Pages of other origins: which may act for a user whose cookies they come with."""

from aiohttp import web

from chat_aio.errors import ForbiddenOrigin
from chat_aio.web.keys import CONTEXT
from chat_aio.web.sse import is_stream

READING = ("GET", "HEAD")
ELSEWHERE = ("cross-site", "same-site")
REMEMBERED_SECONDS = 600


def require_origin(request: web.Request) -> None:
    """Raise ForbiddenOrigin where a page that is not listed would change something, or listen.

    What comes without an `Origin` is no page of another one, unless the browser says so in another
    way, as for a stream that is opened as a picture (docs/behaviour.md 1.9).
    """
    allowed = request.config_dict[CONTEXT].options.allowed_origins
    if allowed is None or (request.method in READING and not is_stream(request)):
        return
    origin = request.headers.get("Origin")
    site = request.headers.get("Sec-Fetch-Site")
    if origin not in allowed if origin is not None else site in ELSEWHERE:
        raise ForbiddenOrigin


def is_preflight(request: web.Request) -> bool:
    """Whether a browser asks if a page of a listed origin may make a request."""
    asks = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
    return asks and _listed(request) is not None


def reply_preflight(request: web.Request) -> web.Response:
    """The page may; with whichever headers the host's login needs."""
    return web.Response(
        status=204,
        headers={
            "Access-Control-Allow-Methods": "GET, HEAD, POST, PATCH, DELETE",
            "Access-Control-Allow-Headers": request.headers.get(
                "Access-Control-Request-Headers", ""
            ),
            "Access-Control-Max-Age": str(REMEMBERED_SECONDS),
        },
    )


async def add_cors(request: web.Request, response: web.StreamResponse) -> None:
    """Let pages of listed origins read the answer."""
    if request.config_dict[CONTEXT].options.allowed_origins is None:
        return
    response.headers.add("Vary", "Origin")
    if (origin := _listed(request)) is not None:
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Allow-Credentials"] = "true"
        response.headers["Access-Control-Expose-Headers"] = "X-Request-Id, Retry-After"


def _listed(request: web.Request) -> str | None:
    """The origin of the page that asks, if it is listed."""
    allowed = request.config_dict[CONTEXT].options.allowed_origins
    origin = request.headers.get("Origin")
    return origin if allowed is not None and origin in allowed else None
