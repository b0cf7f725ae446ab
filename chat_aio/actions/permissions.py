"""Who may read, write, manage and invite, and the roles in which users write: functions with
defaults, which a host may replace."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal

from chat_aio import hooks
from chat_aio.errors import (
    CreateNotAllowed,
    InternalError,
    KeyNotAllowed,
    RoleNotAllowed,
    SilentNotAllowed,
)
from chat_aio.hooks import (
    Answer,
    CreateContext,
    CreateRule,
    Hooks,
    KeyContext,
    PermissionContext,
    PermissionRule,
    RolesHook,
)
from chat_aio.schema.models import BareMessage, Conversation, Role

log = logging.getLogger(__name__)


def is_participant(asked: PermissionContext) -> bool:
    """The default of `can_read` and `can_write` (specification 5.4)."""
    return asked.user_id in asked.conversation.roles


def is_admin(asked: PermissionContext) -> bool:
    """The default of `can_manage` and `can_invite` (specification 5.4)."""
    return asked.conversation.roles.get(asked.user_id) == "admin"


DEFAULTS = (is_participant, is_admin)


@dataclass(frozen=True, kw_only=True)
class Permissions:
    """The rules in force, called with a PermissionContext. `limit` is in seconds. `in_process`, for
    the host's own code, every role and every key is allowed, and messages may be silent."""

    can_read: PermissionRule = is_participant
    can_read_messages: bool = False
    read_at_once: int = hooks.AT_ONCE
    can_write: PermissionRule = is_participant
    can_manage: PermissionRule = is_admin
    can_invite: PermissionRule = is_admin
    can_create: CreateRule | None = None
    can_leave: PermissionRule | None = None
    can_delete_message: PermissionRule | None = None
    can_delete: PermissionRule | None = None
    allowed_roles: RolesHook | None = None
    can_set_key: Callable[[KeyContext], Answer] | None = None
    can_set_metadata: PermissionRule | None = None
    can_send_silently: Callable[[str], Answer] | None = None
    in_process: bool = False
    limit: float = 5.0

    @classmethod
    def from_hooks(cls, hooks: Hooks, *, limit: float) -> "Permissions":
        return cls(
            can_read=hooks.can_read or is_participant,
            can_read_messages=hooks.can_read_messages,
            read_at_once=hooks.can_read_at_once,
            can_write=hooks.can_write or is_participant,
            can_manage=hooks.can_manage or is_admin,
            can_invite=hooks.can_invite or is_admin,
            can_create=hooks.can_create,
            can_leave=hooks.can_leave,
            can_delete_message=hooks.can_delete_message,
            can_delete=hooks.can_delete,
            allowed_roles=hooks.allowed_roles,
            can_set_key=hooks.can_set_key,
            can_set_metadata=hooks.can_set_metadata,
            can_send_silently=hooks.can_send_silently,
            limit=limit,
        )

    @property
    def asks_host(self) -> bool:
        """Whether the host has its own `can_read`."""
        return self.can_read is not is_participant

    @property
    def asks_for_messages(self) -> bool:
        """Whether the host's `can_read` is called for each message."""
        return self.asks_host and self.can_read_messages

    async def may_read(
        self, user_id: str, conversation: Conversation, message: BareMessage | None = None
    ) -> bool:
        """Whether a user may read a conversation, and this message in it."""
        if not await self._allows(self.can_read, user_id, conversation):
            return False
        return message is None or await self.may_read_message(user_id, conversation, message)

    async def may_read_message(
        self, user_id: str, conversation: Conversation, message: BareMessage
    ) -> bool:
        """Whether a user who may read the conversation may read this message in it."""
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

    async def may_leave(self, user_id: str, conversation: Conversation) -> bool:
        """Whether a participant may leave a group."""
        rule = self.can_leave
        return rule is None or await self._allows(rule, user_id, conversation)

    async def may_delete_message(
        self, user_id: str, conversation: Conversation, message: BareMessage
    ) -> bool:
        """Whether the sender of this message may delete it; write permission comes before."""
        rule = self.can_delete_message
        return rule is None or await self._allows(rule, user_id, conversation, message)

    async def may_set_metadata(self, user_id: str, conversation: Conversation) -> bool:
        """Whether a participant may change the metadata of a group that they need not manage."""
        rule = self.can_set_metadata
        if rule is None or user_id not in conversation.roles:
            return False
        return await self._allows(rule, user_id, conversation)

    async def require_create(
        self,
        user_id: str,
        kind: Literal["direct", "group"],
        user_ids: Sequence[str],
        metadata: Mapping[str, Any] | None,
    ) -> None:
        """Raise CreateNotAllowed for a conversation that a user may not create (specification
        5.6)."""
        if self.can_create is None:
            return
        asked = CreateContext(
            user_id=user_id,
            kind=kind,
            user_ids=tuple(user_ids),
            metadata=deepcopy(dict(metadata or {})),
        )
        if await hooks.call(self.can_create, asked, limit=self.limit) is not True:
            raise CreateNotAllowed

    async def may_delete(self, user_id: str, conversation: Conversation) -> bool:
        """Whether a user may delete a conversation: the host's own code always may, others if the
        host has a rule."""
        if self.in_process:
            return True
        rule = self.can_delete
        return rule is not None and await self._allows(rule, user_id, conversation)

    async def require_role(self, user_id: str, role: Role | None) -> None:
        """Raise RoleNotAllowed for a role that a user's messages must not have over HTTP; None is
        `user` (specification 4.16)."""
        if self.in_process or self.allowed_roles is None:
            return
        allowed = await hooks.call(self.allowed_roles, user_id, limit=self.limit)
        if not isinstance(allowed, Collection) or isinstance(allowed, str):
            log.error("allowed_roles must return a collection of roles, not %r", type(allowed))
            raise InternalError
        if (role or "user") not in allowed:
            raise RoleNotAllowed

    async def require_silent(self, user_id: str) -> None:
        """Raise SilentNotAllowed unless the user's messages may be silent (specification 4.17)."""
        if self.in_process:
            return
        rule = self.can_send_silently
        if rule is None or await hooks.call(rule, user_id, limit=self.limit) is not True:
            raise SilentNotAllowed

    async def require_key(self, user_id: str, key: str) -> None:
        """Raise KeyNotAllowed unless the user may use this key of a group (specification
        17.2)."""
        if self.in_process:
            return
        asked = KeyContext(user_id=user_id, key=key)
        rule = self.can_set_key
        if rule is None or await hooks.call(rule, asked, limit=self.limit) is not True:
            raise KeyNotAllowed

    async def _allows(
        self,
        rule: Callable[[PermissionContext], object],
        user_id: str,
        conversation: Conversation,
        message: BareMessage | None = None,
    ) -> bool:
        """Whether `rule` returns True; any other value, such as a truthy one, means no."""
        # Our own rules neither wait nor change anything, so no copy and no timeout is needed.
        if rule in DEFAULTS:
            asked = PermissionContext(user_id=user_id, conversation=conversation, message=message)
            return rule(asked) is True
        # A copy: the snapshot is shared by all requests, and a host's function might change it.
        lent = hooks.lent(conversation)
        asked = PermissionContext(user_id=user_id, conversation=lent, message=message)
        return await hooks.call(rule, asked, limit=self.limit) is True
