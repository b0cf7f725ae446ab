"""The moderation tools over HTTP."""

from datetime import datetime

from chat_aio.client.base import Calls
from chat_aio.client.decoding import read
from chat_aio.schema.inputs import KEEP, Keep
from chat_aio.schema.models import (
    Message,
    MessagePage,
    ReportPage,
    ReportStatus,
    TargetType,
)
from chat_aio.schema.moderation_tools import (
    AROUND,
    MessageInContext,
    MessageVersion,
    Removed,
    ReportGroupPage,
    ReportsResolved,
    Standing,
)

TOOLS = ("moderation", "tools")
MESSAGES = (*TOOLS, "messages")
GROUPS = (*TOOLS, "report-groups")


class ModerationTools(Calls):
    """The methods of `chat.moderation_tools`, without the acting user; the service needs
    `moderation_tools`."""

    async def find_messages(
        self,
        *,
        sender_id: str | None = None,
        conversation_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        contains: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> MessagePage:
        """A page may be short, even empty: go on with its cursor."""
        answer = await self._get(
            *MESSAGES,
            user_id=sender_id,
            conversation_id=conversation_id,
            since=since,
            until=until,
            contains=contains,
            limit=limit,
            cursor=cursor,
        )
        return read(MessagePage, answer)

    async def look_at_message(
        self, message_id: str, *, before: int = AROUND, after: int = AROUND
    ) -> MessageInContext:
        answer = await self._get(*MESSAGES, message_id, before=before, after=after)
        return read(MessageInContext, answer)

    async def list_versions(self, message_id: str) -> tuple[MessageVersion, ...]:
        """Newest first."""
        answer = await self._get(*MESSAGES, message_id, "versions")
        return tuple(read(MessageVersion, version) for version in answer["versions"])

    async def remove_message(self, message_id: str, *, reason: str | None = None) -> Message:
        answer = await self._post(*MESSAGES, message_id, "remove", reason=reason)
        return read(Message, answer["message"])

    async def restore_message(self, message_id: str) -> Message:
        answer = await self._post(*MESSAGES, message_id, "restore")
        return read(Message, answer["message"])

    async def remove_messages(
        self,
        sender_id: str,
        *,
        conversation_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        contains: str | None = None,
        dry_run: bool | None = None,
        cursor: str | None = None,
    ) -> Removed:
        """Counts, unless `dry_run` is False. Go on with the cursor, as long as there is one."""
        answer = await self._post(
            *(*TOOLS, "removals"),
            user_id=sender_id,
            conversation_id=conversation_id,
            since=since,
            until=until,
            contains=contains,
            dry_run=dry_run,
            cursor=cursor,
        )
        return read(Removed, answer)

    async def get_standing(
        self, target_user_id: str, *, shared_with: str | None = None
    ) -> Standing:
        answer = await self._get(*TOOLS, "users", target_user_id, shared_with=shared_with)
        return read(Standing, answer["standing"])

    async def find_reports(
        self,
        *,
        status: ReportStatus | None = None,
        target_type: TargetType | None = None,
        target_id: str | None = None,
        reporter_id: str | None = None,
        moderator_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ReportPage:
        """Newest first."""
        answer = await self._get(
            *(*TOOLS, "reports"),
            status=status,
            target_type=target_type,
            target_id=target_id,
            reporter_user_id=reporter_id,
            moderator_user_id=moderator_id,
            limit=limit,
            cursor=cursor,
        )
        return read(ReportPage, answer)

    async def list_report_groups(
        self,
        *,
        status: ReportStatus | None = None,
        target_type: TargetType | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ReportGroupPage:
        """The latest reported first."""
        given = {"status": status, "target_type": target_type}
        answer = await self._get(*GROUPS, **given, limit=limit, cursor=cursor)
        return read(ReportGroupPage, answer)

    async def resolve_reports(
        self,
        target_type: TargetType,
        target_id: str,
        status: ReportStatus,
        *,
        until: datetime | None = None,
        moderator_note: str | Keep | None = KEEP,
    ) -> ReportsResolved:
        """A `moderator_note` of None clears the notes."""
        answer = await self._post(
            *(*GROUPS, "resolve"),
            target_type=target_type,
            target_id=target_id,
            status=status,
            until=until,
            moderator_note=moderator_note,
        )
        return read(ReportsResolved, answer)
