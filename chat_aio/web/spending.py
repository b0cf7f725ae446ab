"""What a request takes of its user's quotas, and gets back where it was not served."""

from aiohttp import web

from chat_aio.actions.rate_limits import Kind
from chat_aio.web.keys import QUOTAS, USER_ID

_SPENT = web.RequestKey("spent", list[tuple[str, int]])


def spend(request: web.Request, kind: Kind, amount: int = 1) -> None:
    """Count so many of a kind for the acting user. Raises RateLimited (docs/behaviour.md 1.12)."""
    quotas = request.config_dict.get(QUOTAS)
    if quotas is not None:
        quotas.count(request[USER_ID], kind, amount)
        request.setdefault(_SPENT, []).append((kind, amount))


def give_back(request: web.Request, kind: Kind | None = None) -> None:
    """Take back what a request has counted, or that of one kind."""
    for each, amount in request.get(_SPENT, ()):
        if kind in (None, each):
            request.config_dict[QUOTAS].give_back(request[USER_ID], each, amount)
