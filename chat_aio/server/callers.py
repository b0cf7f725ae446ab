"""Who moderates, in which roles users write, and what service users may do, in a chat that `serve`
makes. The user is named by a header (`header_auth.py`) or by a token (`token_auth.py`)."""

from collections.abc import Collection
from contextvars import ContextVar

from chat_aio.hooks import (
    EXEMPT,
    Exempt,
    Hooks,
    KeyContext,
    ModerationContext,
    PermissionContext,
    RateContext,
)
from chat_aio.schema.models import Role

OF_USERS: frozenset[Role] = frozenset({"user"})
OF_ASSISTANTS: frozenset[Role] = frozenset({"user", "assistant"})
OF_SERVICES: frozenset[Role] = frozenset({"user", "assistant", "system"})

_moderator: ContextVar[str | None] = ContextVar("moderator", default=None)
"""The user of this request, if the request makes them a moderator. It is set for each request:
requests of one connection may share their context."""


def remember_moderator(user_id: str | None) -> None:
    """Note which user this request makes a moderator, None for nobody."""
    _moderator.set(user_id)


class Callers:
    """The hooks about users. `service_users` are programs of the host, which act as themselves
    (specification 20.3)."""

    def __init__(
        self,
        *,
        moderators: Collection[str] = (),
        requests_name_moderators: bool = False,
        assistants: Collection[str] = (),
        service_users: Collection[str] = (),
    ) -> None:
        self._moderators = frozenset(moderators)
        self._requests_name_moderators = requests_name_moderators
        self._assistants = frozenset(assistants)
        self._services = frozenset(service_users)

    def hooks(self) -> Hooks:
        """Without service users, the routes and fields that only they may use do not exist."""
        moderate = bool(self._moderators) or self._requests_name_moderators
        hooks = Hooks(
            can_moderate=self.can_moderate if moderate else None,
            allowed_roles=self.allowed_roles,
        )
        # A route that nobody may use would only be documented and probed.
        if not self._services:
            return hooks
        return Hooks(
            can_moderate=hooks.can_moderate,
            allowed_roles=hooks.allowed_roles,
            rate_limit=self._exempted,
            can_set_key=self._is_service,
            can_set_metadata=self._is_service,
            can_delete=self._is_service,
            can_send_silently=self.is_service,
        )

    def is_service(self, user_id: str) -> bool:
        return user_id in self._services

    def can_moderate(self, asked: ModerationContext) -> bool:
        return asked.user_id in self._moderators or asked.user_id == _moderator.get()

    def allowed_roles(self, user_id: str) -> frozenset[Role]:
        """Assistants write drafts, whose messages have their role; so may their other messages."""
        if user_id in self._services:
            return OF_SERVICES
        return OF_ASSISTANTS if user_id in self._assistants else OF_USERS

    def _is_service(self, asked: KeyContext | PermissionContext) -> bool:
        return asked.user_id in self._services

    def _exempted(self, asked: RateContext) -> Exempt | None:
        return EXEMPT if asked.user_id in self._services else None
