"""The user of a request, in a chat that `serve` makes: a trusted proxy names them in a header."""

from aiohttp import web

from chat_aio.server.callers import remember_moderator

MODERATES = "true"


class HeaderAuth:
    """The `auth` hook over headers that a trusted proxy sets."""

    def __init__(self, header: str, *, moderator_header: str | None = None) -> None:
        self._header = header
        self._moderator_header = moderator_header

    def auth(self, request: web.Request) -> dict[str, str | None]:
        user_id = _only(request, self._header)
        says_so = self._moderator_header and _only(request, self._moderator_header) == MODERATES
        remember_moderator(user_id if says_so else None)
        return {"id": user_id}


def _only(request: web.Request, header: str) -> str | None:
    """The value of a header that a proxy sets. If there are two, one may come from the client, so
    neither counts."""
    values = request.headers.getall(header, ())
    return values[0] if len(values) == 1 else None
