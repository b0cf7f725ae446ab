"""Warns of slow requests, and shows where their time went."""

import logging
import time

from aiohttp import web

from chat_aio.store.calls import Budget
from chat_aio.web.access_log import route_of
from chat_aio.web.app_keys import CONTEXT, REQUEST_ID

log = logging.getLogger(__name__)

BUDGET = web.RequestKey("budget", Budget)
TRANSFER = web.RequestKey("transfer", bool)
"""Set if a file comes or goes: how long that takes is said by its size and by the client."""


def warn_if_slow(request: web.Request, response: web.StreamResponse, *, began: float) -> None:
    """Log a request that has taken longer than `slow_request_seconds` since `began`. The time for
    which the primary was away does not count: `store/primary.py` logs that once.

    Calls of MongoDB at the same time add up. Pauses are those for async hooks and for the body.
    """
    context = request.app[CONTEXT]
    limit, seconds = context.options.slow_request_seconds, time.monotonic() - began
    if limit is None or seconds <= limit or TRANSFER in request:
        return
    if seconds - context.primary_watch.away_since(began) <= limit:
        return
    spent = request.get(BUDGET)
    fields = {
        "method": request.method,
        "route": route_of(request),
        "status": response.status,
        "milliseconds": round(seconds * 1_000),
        "database_milliseconds": round(spent.waited * 1_000) if spent else 0,
        "paused_milliseconds": round(spent.paused * 1_000) if spent else 0,
        "request_id": request[REQUEST_ID],
    }
    log.warning(
        "slow: %s %s %d took %d ms, %d in MongoDB, %d for hooks and the body (%s)",
        *fields.values(),
        extra=fields,
    )
