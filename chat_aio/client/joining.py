"""Joining groups over HTTP: invites, join requests and the directory of channels."""

from typing import Any, Literal

from chat_aio.client.base import Calls
from chat_aio.client.decoding import read
from chat_aio.schema.models import (
    ChannelPage,
    Invite,
    InvitePreview,
    JoinRequest,
    JoinRequestDecisionResult,
    JoinRequestPage,
    JoinRequestStatus,
    JoinResult,
)


class GroupAccess(Calls):
    """The methods of `chat.api`, without the acting user."""

    async def create_invite(
        self,
        conversation_id: str,
        *,
        expires_in_seconds: int | None = None,
        max_uses: int | None = None,
        requires_approval: bool | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> Invite:
        answer = await self._post(
            "conversations",
            conversation_id,
            "invites",
            expires_in_seconds=expires_in_seconds,
            max_uses=max_uses,
            requires_approval=requires_approval,
            metadata=metadata,
        )
        return read(Invite, answer["invite"])

    async def list_invites(self, conversation_id: str) -> tuple[Invite, ...]:
        """Newest first, including spent ones."""
        answer = await self._get("conversations", conversation_id, "invites")
        return tuple(read(Invite, invite) for invite in answer["invites"])

    async def revoke_invite(self, conversation_id: str, code: str) -> None:
        """Remove an invite. Unlike the server API, the route needs the invite's group too."""
        await self._delete("conversations", conversation_id, "invites", code)

    async def get_invite_preview(self, code: str) -> InvitePreview:
        return read(InvitePreview, (await self._get("invites", code))["invite"])

    async def accept_invite(self, code: str, *, message: str | None = None) -> JoinResult:
        return read(JoinResult, await self._post("invites", code, "accept", message=message))

    async def request_to_join(
        self, conversation_id: str, *, message: str | None = None
    ) -> JoinRequest:
        answer = await self._post(*_requests(conversation_id), message=message)
        return read(JoinRequest, answer["joinRequest"])

    async def list_join_requests(
        self,
        conversation_id: str,
        *,
        status: JoinRequestStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> JoinRequestPage:
        """Newest first; only pending ones unless `status` is given."""
        path = _requests(conversation_id)
        answer = await self._get(*path, status=status, limit=limit, cursor=cursor)
        return read(JoinRequestPage, answer)

    async def resolve_join_request(
        self, conversation_id: str, target_user_id: str, decision: Literal["approve", "deny"]
    ) -> JoinRequestDecisionResult:
        given = {"user_id": target_user_id, "decision": decision}
        return read(
            JoinRequestDecisionResult, await self._patch(*_requests(conversation_id), **given)
        )

    async def list_public_conversations(
        self, *, limit: int | None = None, cursor: str | None = None, query: str | None = None
    ) -> ChannelPage:
        """The channels, most recently active first, or those with a text in their name or topic."""
        return read(ChannelPage, await self._get("channels", limit=limit, cursor=cursor, q=query))

    async def join_conversation(
        self, conversation_id: str, *, message: str | None = None
    ) -> JoinResult:
        """Join a channel, or make a join request if the channel needs approval."""
        path = ("conversations", conversation_id, "join")
        return read(JoinResult, await self._post(*path, message=message))


def _requests(conversation_id: str) -> tuple[str, ...]:
    return "conversations", conversation_id, "join-requests"
