"""Who calls, who moderates, and in which roles users write, in a chat that `serve` makes: a proxy
names the user in a header."""

from collections.abc import Collection
from contextvars import ContextVar

from aiohttp import web

from chat_aio.hooks import ModerationContext
from chat_aio.schema.models import Role

MODERATES = "true"

OF_USERS: frozenset[Role] = frozenset({"user"})
OF_ASSISTANTS: frozenset[Role] = frozenset({"user", "assistant"})

_moderator: ContextVar[str | None] = ContextVar("moderator", default=None)
"""The user of this request, if its header says that they may moderate. It is set for each request:
requests of one connection may share their context."""


class Callers:
    """The `auth` and `can_moderate` hooks over headers that a trusted proxy sets."""

    def __init__(
        self,
        header: str,
        *,
        moderator_header: str | None = None,
        moderators: Collection[str] = (),
        assistants: Collection[str] = (),
    ) -> None:
        self._header = header
        self._moderator_header = moderator_header
        self._moderators = frozenset(moderators)
        self._assistants = frozenset(assistants)

    @property
    def name_moderators(self) -> bool:
        """Whether anybody can be a moderator."""
        return bool(self._moderators) or self._moderator_header is not None

    def auth(self, request: web.Request) -> dict[str, str | None]:
        user_id = _only(request, self._header)
        says_so = self._moderator_header and _only(request, self._moderator_header) == MODERATES
        _moderator.set(user_id if says_so else None)
        return {"id": user_id}

    def can_moderate(self, asked: ModerationContext) -> bool:
        return asked.user_id in self._moderators or asked.user_id == _moderator.get()

    def allowed_roles(self, user_id: str) -> frozenset[Role]:
        """Assistants write drafts, whose messages have their role; so may their other messages."""
        return OF_ASSISTANTS if user_id in self._assistants else OF_USERS


def _only(request: web.Request, header: str) -> str | None:
    """The value of a header that a proxy sets. If there are two, one may come from the client, so
    neither counts."""
    values = request.headers.getall(header, ())
    return values[0] if len(values) == 1 else None
