"""An access log that names routes: a path may hold an invite's code, which lets anybody in.

`web.run_app(app, access_log_class=RouteAccessLogger)` is for hosts as well.
"""

import logging

from aiohttp.abc import AbstractAccessLogger
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.log import server_logger
from aiohttp.web import BaseRequest, RequestPayloadError, StreamResponse

from chat_aio.web.keys import REQUEST_ID


class RouteAccessLogger(AbstractAccessLogger):
    """A line for each request: method, route, status, bytes, milliseconds and request id;
    the record has them as fields, too.

    Where it is used, aiohttp's own log does not quote requests that cannot be read, for what it
    would quote may be a cookie or a code.
    """

    def __init__(self, logger: logging.Logger, log_format: str) -> None:
        super().__init__(logger, log_format)
        server_logger.addFilter(without_quotes)

    def log(self, request: BaseRequest, response: StreamResponse, time: float) -> None:
        said = {
            "method": request.method,
            "route": route_of(request),
            "status": response.status,
            "bytes": response.body_length,
            "milliseconds": round(time * 1000),
            "request_id": request.get(REQUEST_ID, "-"),
        }
        self.logger.info("%s %s %d %dB %dms %s", *said.values(), extra=said)


def without_quotes(record: logging.LogRecord) -> bool:
    """A log filter that leaves of a request that could not be read only what kind of thing is wrong
    with it."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError | RequestPayloadError):
        record.msg = f"{record.getMessage()}: {type(error).__name__}"
        record.args = record.exc_info = None
    return True


def route_of(request: BaseRequest) -> str:
    """The route that a request took, with its parameters' names in place of their values."""
    try:
        matched = getattr(request, "match_info", None)
    except AssertionError:  # It could not be read, and was never looked up.
        matched = None
    resource = matched.route.resource if matched is not None else None
    return resource.canonical.removesuffix("{_slash}") if resource else "(no route)"
