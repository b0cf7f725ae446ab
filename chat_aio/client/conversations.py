"""Conversations and their participants, over HTTP."""

from collections.abc import Sequence
from typing import Any

from chat_aio.client.base import Calls, joined
from chat_aio.client.decoding import read
from chat_aio.schema.inputs import KEEP, Keep
from chat_aio.schema.models import (
    ConversationPage,
    JoinPolicy,
    ListPart,
    ParticipantRole,
    User,
    ViewedConversation,
    Visibility,
)


class Conversations(Calls):
    """The methods of `chat.api`, without the acting user."""

    async def get_or_create_conversation(
        self, other_user_id: str, *, metadata: dict[str, Any] | None = None
    ) -> ViewedConversation:
        """The direct conversation with another user; it is made if there is none."""
        given = {"other_user_id": other_user_id, "metadata": metadata}
        answer = await self._post("conversations", **given)
        return read(ViewedConversation, answer["conversation"])

    async def create_group_conversation(
        self,
        *,
        user_ids: Sequence[str] | None = None,
        name: str | None = None,
        visibility: Visibility | None = None,
        join_policy: JoinPolicy | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> ViewedConversation:
        answer = await self._post(
            *("conversations", "group"),
            user_ids=user_ids,
            name=name,
            visibility=visibility,
            join_policy=join_policy,
            metadata=metadata,
        )
        return read(ViewedConversation, answer["conversation"])

    async def list_conversations(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        include: Sequence[ListPart] | None = None,
        query: str | None = None,
        unread: bool = False,
    ) -> ConversationPage:
        """Most recently active first. `include` adds `last_messages`, `heads` and `users`; `query`
        is for names, and for ids and names of participants, `unread` for those with unread
        messages."""
        answer = await self._get(
            "conversations",
            limit=limit,
            cursor=cursor,
            include=joined(include),
            q=query,
            unread="true" if unread else None,
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

    async def get_conversation(self, conversation_id: str) -> ViewedConversation:
        answer = await self._get("conversations", conversation_id)
        return read(ViewedConversation, answer["conversation"])

    async def update_conversation(
        self,
        conversation_id: str,
        *,
        name: str | Keep | None = KEEP,
        visibility: Visibility | None = None,
        join_policy: JoinPolicy | None = None,
    ) -> ViewedConversation:
        """Rename a group (None clears the name), or change its visibility or join policy."""
        given = {"name": name, "visibility": visibility, "join_policy": join_policy}
        answer = await self._patch("conversations", conversation_id, **given)
        return read(ViewedConversation, answer["conversation"])

    async def add_participants(
        self, conversation_id: str, user_ids: Sequence[str]
    ) -> ViewedConversation:
        answer = await self._post(*_participants(conversation_id), user_ids=user_ids)
        return read(ViewedConversation, answer["conversation"])

    async def remove_participant(
        self, conversation_id: str, target_user_id: str
    ) -> ViewedConversation:
        """Remove a user from a group; with one's own id, leave it."""
        answer = await self._delete(*_participants(conversation_id), user_id=target_user_id)
        return read(ViewedConversation, answer["conversation"])

    async def set_participant_role(
        self, conversation_id: str, target_user_id: str, role: ParticipantRole
    ) -> ViewedConversation:
        given = {"user_id": target_user_id, "role": role}
        answer = await self._patch(*_participants(conversation_id), **given)
        return read(ViewedConversation, answer["conversation"])


def _participants(conversation_id: str) -> tuple[str, ...]:
    return "conversations", conversation_id, "participants"
