"""An access log of routes instead of paths: a path may hold an invite's code, which is a secret.

Hosts can use it too: `web.run_app(app, access_log_class=RouteAccessLogger)`.
"""

import logging

from aiohttp.abc import AbstractAccessLogger
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.log import server_logger
from aiohttp.web import BaseRequest, RequestPayloadError, StreamResponse

from chat_aio.web.app_keys import REQUEST_ID


class RouteAccessLogger(AbstractAccessLogger):
    """Logs a line for each request: method, route, status, bytes, milliseconds and request id. The
    record has them as fields, too.

    Once it is in use, aiohttp's own log no longer quotes unreadable requests, because a quote may
    hold a cookie or a code.
    """

    def __init__(self, logger: logging.Logger, log_format: str) -> None:
        super().__init__(logger, log_format)
        # aiohttp makes a logger for each connection; the same filter is added only once.
        server_logger.addFilter(without_quotes)

    def log(self, request: BaseRequest, response: StreamResponse, time: float) -> None:
        fields = {
            "method": request.method,
            "route": route_of(request),
            "status": response.status,
            "bytes": response.body_length,
            "milliseconds": round(time * 1000),
            "request_id": request.get(REQUEST_ID, "-"),
        }
        self.logger.info("%s %s %d %dB %dms %s", *fields.values(), extra=fields)


def without_quotes(record: logging.LogRecord) -> bool:
    """A log filter that reduces the record of an unreadable request to the kind of error."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError | RequestPayloadError):
        record.msg = f"{record.getMessage()}: {type(error).__name__}"
        record.args = record.exc_info = None
    return True


def route_of(request: BaseRequest) -> str:
    """The route of a request, with the names of its parameters in place of their values."""
    try:
        matched = getattr(request, "match_info", None)
    except AssertionError:  # The request could not be read, so it has no route.
        matched = None
    resource = matched.route.resource if matched is not None else None
    # The chat's routes end in `{_slash}`, which is an optional slash.
    return resource.canonical.removesuffix("{_slash}") if resource else "(no route)"
