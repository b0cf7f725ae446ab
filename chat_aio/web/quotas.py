"""Counts requests in their user's quotas, and gives back unserved ones."""

from aiohttp import web

from chat_aio.actions.rate_limits import Kind
from chat_aio.errors import RateLimited
from chat_aio.web.app_keys import CONTEXT, QUOTAS, USER_ID

_SPENT = web.RequestKey("spent", list[tuple[str, int]])


async def spend(request: web.Request, kind: Kind, amount: int = 1) -> None:
    """Use `amount` of the acting user's quota. Raises RateLimited, unless the host exempts the user
    (specification 1.12)."""
    quotas = request.app.get(QUOTAS)
    if quotas is None:
        return
    try:
        quotas.count(request[USER_ID], kind, amount)
    except RateLimited:
        # Only now: most requests are within their quotas, and need no call of the host.
        if not await request.app[CONTEXT].rate_limits.is_exempt(request[USER_ID], kind):
            raise
    else:
        request.setdefault(_SPENT, []).append((kind, amount))


def keep_spent(request: web.Request) -> None:
    """A refusal that took work in the database is counted like an answer."""
    request.pop(_SPENT, None)


def give_back(request: web.Request, kind: Kind | None = None) -> None:
    """Give back what a request has used, of one kind or of all."""
    for quota, amount in request.get(_SPENT, ()):
        if kind in (None, quota):
            request.app[QUOTAS].give_back(request[USER_ID], quota, amount)
