"""An access log that names routes: a path may hold an invite's code, which lets anybody in.

`web.run_app(app, access_log_class=RouteAccessLogger)` is for hosts as well.
"""

from aiohttp.abc import AbstractAccessLogger
from aiohttp.web import BaseRequest, StreamResponse

from chat_aio.web.keys import REQUEST_ID


class RouteAccessLogger(AbstractAccessLogger):
    """A line for each request: method, route, status, bytes, milliseconds and request id."""

    def log(self, request: BaseRequest, response: StreamResponse, time: float) -> None:
        self.logger.info(
            "%s %s %d %dB %.0fms %s",
            request.method,
            route_of(request),
            response.status,
            response.body_length,
            time * 1000,
            request.get(REQUEST_ID, "-"),
        )


def route_of(request: BaseRequest) -> str:
    """The route that a request took, with its parameters' names in place of their values."""
    matched = getattr(request, "match_info", None)
    resource = matched.route.resource if matched is not None else None
    return resource.canonical.removesuffix("{_slash}") if resource else "(no route)"
