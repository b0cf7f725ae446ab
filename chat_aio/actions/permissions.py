"""Who may read, write, manage and invite, and in which roles users write: functions with defaults,
which a host may replace."""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass

from chat_aio import hooks
from chat_aio.errors import InternalError, RoleNotAllowed
from chat_aio.hooks import Hooks, PermissionContext, PermissionRule, RolesHook
from chat_aio.schema.models import BareMessage, Conversation, Role

log = logging.getLogger(__name__)


def is_participant(asked: PermissionContext) -> bool:
    """The default of `can_read` and `can_write` (docs/behaviour.md 5.4)."""
    return asked.user_id in asked.conversation.roles


def is_admin(asked: PermissionContext) -> bool:
    """The default of `can_manage` and `can_invite` (docs/behaviour.md 5.4)."""
    return asked.conversation.roles.get(asked.user_id) == "admin"


DEFAULTS = (is_participant, is_admin)


@dataclass(frozen=True, kw_only=True)
class Permissions:
    """The rules in force; each is called with a PermissionContext. `limit` is in seconds."""

    can_read: PermissionRule = is_participant
    can_read_messages: bool = False
    can_write: PermissionRule = is_participant
    can_manage: PermissionRule = is_admin
    can_invite: PermissionRule = is_admin
    allowed_roles: RolesHook | None = None
    limit: float = 5.0

    @classmethod
    def from_hooks(cls, hooks: Hooks, *, limit: float) -> "Permissions":
        return cls(
            can_read=hooks.can_read or is_participant,
            can_read_messages=hooks.can_read_messages,
            can_write=hooks.can_write or is_participant,
            can_manage=hooks.can_manage or is_admin,
            can_invite=hooks.can_invite or is_admin,
            allowed_roles=hooks.allowed_roles,
            limit=limit,
        )

    @property
    def asks_host(self) -> bool:
        """Whether the host has its own `can_read`."""
        return self.can_read is not is_participant

    @property
    def asks_for_messages(self) -> bool:
        """Whether the host's `can_read` is asked about each message."""
        return self.asks_host and self.can_read_messages

    async def may_read(
        self, user_id: str, conversation: Conversation, message: BareMessage | None = None
    ) -> bool:
        """Whether a user may read a conversation, and this message of it."""
        if not await self._allows(self.can_read, user_id, conversation):
            return False
        return message is None or await self.may_read_message(user_id, conversation, message)

    async def may_read_message(
        self, user_id: str, conversation: Conversation, message: BareMessage
    ) -> bool:
        """Whether a user who may read the conversation may read this message of it."""
        if not self.asks_for_messages:
            return True
        return await self._allows(self.can_read, user_id, conversation, message)

    async def may_write(
        self, user_id: str, conversation: Conversation, message: BareMessage | None = None
    ) -> bool:
        """Whether a user may write into a conversation, or change this message of it."""
        return await self._allows(self.can_write, user_id, conversation, message)

    async def may_manage(self, user_id: str, conversation: Conversation) -> bool:
        return await self._allows(self.can_manage, user_id, conversation)

    async def may_invite(self, user_id: str, conversation: Conversation) -> bool:
        return await self._allows(self.can_invite, user_id, conversation)

    async def require_role(self, user_id: str, role: Role | None) -> None:
        """Raise RoleNotAllowed for a role that a user's messages may not have over HTTP; None is
        `user` (docs/behaviour.md 4.16)."""
        if self.allowed_roles is None:
            return
        allowed = await hooks.call(self.allowed_roles, user_id, limit=self.limit)
        if not isinstance(allowed, Collection) or isinstance(allowed, str):
            log.error("allowed_roles must return a collection of roles, not %r", type(allowed))
            raise InternalError
        if (role or "user") not in allowed:
            raise RoleNotAllowed

    async def _allows(
        self,
        rule: Callable[[PermissionContext], object],
        user_id: str,
        conversation: Conversation,
        message: BareMessage | None = None,
    ) -> bool:
        """Whether `rule` returns True; any other value, such as a truthy one, means no."""
        if rule in DEFAULTS:
            asked = PermissionContext(user_id=user_id, conversation=conversation, message=message)
            return rule(asked) is True
        lent = hooks.lent(conversation)
        asked = PermissionContext(user_id=user_id, conversation=lent, message=message)
        return await hooks.call(rule, asked, limit=self.limit) is True
