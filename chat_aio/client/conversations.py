"""Conversations and their participants, over HTTP."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from chat_aio.client.base import Calls, joined
from chat_aio.client.decoding import read
from chat_aio.schema.fields import Scalar
from chat_aio.schema.inputs import KEEP, METADATA_PREFIX, Keep
from chat_aio.schema.models import (
    ConversationPage,
    ConversationWithUnread,
    JoinPolicy,
    ListPart,
    ParticipantRole,
    User,
    Visibility,
)


class Conversations(Calls):
    """The methods of `chat.api`, without the acting user."""

    async def get_or_create_conversation(
        self, other_user_id: str, *, metadata: dict[str, Any] | None = None
    ) -> ConversationWithUnread:
        """The direct conversation with another user; it is made if there is none."""
        given = {"other_user_id": other_user_id, "metadata": metadata}
        answer = await self._post("conversations", **given)
        return read(ConversationWithUnread, answer["conversation"])

    async def create_group_conversation(
        self,
        *,
        user_ids: Sequence[str] | None = None,
        name: str | None = None,
        visibility: Visibility | None = None,
        join_policy: JoinPolicy | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> ConversationWithUnread:
        answer = await self._post(
            "conversations",
            "group",
            user_ids=user_ids,
            name=name,
            visibility=visibility,
            join_policy=join_policy,
            metadata=metadata,
        )
        return read(ConversationWithUnread, answer["conversation"])

    async def list_conversations(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        include: Sequence[ListPart] | None = None,
        query: str | None = None,
        unread: bool = False,
        ids: Sequence[str] | None = None,
        key: str | None = None,
        metadata: Mapping[str, Scalar] | None = None,
        archived: bool | None = None,
        favourite: bool | None = None,
    ) -> ConversationPage:
        """Most recently active first. `include` adds `last_messages`, `unread_summaries` and
        `users`; `query` is for names, and for ids and names of participants, `unread` for those
        with unread messages, `ids` for up to 100 conversations, `key` for a group, `metadata` for
        values of indexed fields, where a number is also found as text, `archived` and `favourite`
        for those that are or are not (with `inbox`)."""
        answer = await self._get(
            "conversations",
            limit=limit,
            cursor=cursor,
            include=joined(include),
            q=query,
            unread=_flag(unread or None),
            ids=None if ids is None else ",".join(ids),
            key=key,
            archived=_flag(archived),
            favourite=_flag(favourite),
            **metadata_query(metadata),
        )
        return read(ConversationPage, answer)

    async def find_users(
        self,
        *,
        ids: Sequence[str] | None = None,
        query: str | None = None,
        limit: int | None = None,
    ) -> tuple[User, ...]:
        """Users by their ids, at most 100, or those that the host finds with `query`."""
        answer = await self._get("users", ids=joined(ids), q=query, limit=limit)
        return tuple(read(User, user) for user in answer["users"])

    async def get_conversation(self, conversation_id: str) -> ConversationWithUnread:
        answer = await self._get("conversations", conversation_id)
        return read(ConversationWithUnread, answer["conversation"])

    async def update_conversation(
        self,
        conversation_id: str,
        *,
        name: str | Keep | None = KEEP,
        visibility: Visibility | None = None,
        join_policy: JoinPolicy | None = None,
        metadata: dict[str, Any] | None = None,
        metadata_version: int | None = None,
    ) -> ConversationWithUnread:
        """Rename a group (None clears the name), change its visibility or join policy, or replace
        its metadata, if they have this version (with `editable_metadata`)."""
        answer = await self._patch(
            "conversations",
            conversation_id,
            name=name,
            visibility=visibility,
            join_policy=join_policy,
            metadata=metadata,
            metadata_version=metadata_version,
        )
        return read(ConversationWithUnread, answer["conversation"])

    async def add_participants(
        self, conversation_id: str, user_ids: Sequence[str]
    ) -> ConversationWithUnread:
        answer = await self._post(*_participants(conversation_id), user_ids=user_ids)
        return read(ConversationWithUnread, answer["conversation"])

    async def remove_participant(
        self, conversation_id: str, target_user_id: str
    ) -> ConversationWithUnread:
        """Remove a user from a group; with one's own id, leave it."""
        answer = await self._delete(*_participants(conversation_id), user_id=target_user_id)
        return read(ConversationWithUnread, answer["conversation"])

    async def set_participant_role(
        self, conversation_id: str, target_user_id: str, role: ParticipantRole
    ) -> ConversationWithUnread:
        given = {"user_id": target_user_id, "role": role}
        answer = await self._patch(*_participants(conversation_id), **given)
        return read(ConversationWithUnread, answer["conversation"])


class ConversationRoutes(Calls):
    """The methods of `chat.conversations`, without the acting user: groups with keys of the host,
    for users whom its hook `can_set_key` allows them (the service needs `conversation_keys`), and
    deletion."""

    async def delete_conversation(self, conversation_id: str, *, reason: str | None = None) -> None:
        """Delete a conversation for everybody and for good; the host's `can_delete` must allow it.
        The audit log keeps the reason."""
        await self._delete("conversations", conversation_id, reason=reason)

    async def get_or_create_group(
        self,
        *,
        key: str,
        user_ids: Sequence[str] | None = None,
        name: str | None = None,
        visibility: Visibility | None = None,
        join_policy: JoinPolicy | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> ConversationWithUnread:
        """The group that has a key. If there is none, it is created, with the caller as its admin;
        the other parameters are used only then."""
        answer = await self._post_keyed(
            "conversations",
            "group",
            key=key,
            user_ids=user_ids,
            name=name,
            visibility=visibility,
            join_policy=join_policy,
            metadata=metadata,
        )
        return read(ConversationWithUnread, answer["conversation"])

    async def find_conversation(self, *, key: str) -> ConversationWithUnread | None:
        """The caller's group that has a key; None if there is none."""
        answer = await self._get("conversations", key=key)
        return next(iter(read(ConversationPage, answer).conversations), None)

    async def set_participants(
        self, conversation_id: str, participants: Mapping[str, ParticipantRole]
    ) -> ConversationWithUnread:
        """Set all participants of a group with their roles; others are removed."""
        answer = await self._put(*_participants(conversation_id), participants=participants)
        return read(ConversationWithUnread, answer["conversation"])


def metadata_query(metadata: Mapping[str, Scalar] | None) -> dict[str, str]:
    """The parameters of a query that select conversations by their metadata."""
    return {
        f"{METADATA_PREFIX}{name}": value if isinstance(value, str) else json.dumps(value)
        for name, value in (metadata or {}).items()
    }


def _participants(conversation_id: str) -> tuple[str, ...]:
    return "conversations", conversation_id, "participants"


def _flag(value: bool | None) -> str | None:
    """A flag of a query string, which has it as text."""
    return None if value is None else str(value).lower()
