"""Blocks, mutes, reports and bans over HTTP."""

from datetime import datetime

from chat_aio.client.base import Calls
from chat_aio.client.decoding import read
from chat_aio.schema.inputs import KEEP, Keep
from chat_aio.schema.models import (
    Ban,
    BanPage,
    Block,
    BlockPage,
    Mute,
    MutePage,
    Report,
    ReportPage,
    ReportStatus,
    TargetType,
)

BLOCKS = ("moderation", "blocks")
MUTES = ("moderation", "mutes")
REPORTS = ("moderation", "reports")
BANS = ("moderation", "bans")


class Moderation(Calls):
    """The methods of `chat.api.moderation`, without the acting user."""

    async def block_user(self, target_user_id: str) -> Block:
        return read(Block, (await self._post(*BLOCKS, target_user_id=target_user_id))["block"])

    async def unblock_user(self, target_user_id: str) -> None:
        await self._delete(*BLOCKS, target_user_id=target_user_id)

    async def list_blocked_users(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> BlockPage:
        return read(BlockPage, await self._get(*BLOCKS, limit=limit, cursor=cursor))

    async def mute_conversation(self, conversation_id: str) -> Mute:
        return read(Mute, (await self._post(*MUTES, conversation_id=conversation_id))["mute"])

    async def unmute_conversation(self, conversation_id: str) -> None:
        await self._delete(*MUTES, conversation_id=conversation_id)

    async def list_muted_conversations(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> MutePage:
        return read(MutePage, await self._get(*MUTES, limit=limit, cursor=cursor))

    async def report(self, target_type: TargetType, target_id: str, reason: str) -> Report:
        given = {"target_type": target_type, "target_id": target_id, "reason": reason}
        return read(Report, (await self._post(*REPORTS, **given))["report"])

    async def list_reports(
        self,
        *,
        status: ReportStatus | None = None,
        target_type: TargetType | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ReportPage:
        """For moderators."""
        answer = await self._get(
            *REPORTS, status=status, target_type=target_type, limit=limit, cursor=cursor
        )
        return read(ReportPage, answer)

    async def get_report(self, report_id: str) -> Report:
        """For moderators."""
        return read(Report, (await self._get(*REPORTS, report_id))["report"])

    async def update_report(
        self,
        report_id: str,
        status: ReportStatus,
        *,
        moderator_note: str | Keep | None = KEEP,
    ) -> Report:
        """For moderators; a `moderator_note` of None clears the note."""
        given = {"status": status, "moderator_note": moderator_note}
        return read(Report, (await self._patch(*REPORTS, report_id, **given))["report"])

    async def list_bans(
        self, *, active_only: bool = True, limit: int | None = None, cursor: str | None = None
    ) -> BanPage:
        """For moderators."""
        answer = await self._get(*BANS, active_only=active_only, limit=limit, cursor=cursor)
        return read(BanPage, answer)

    async def ban_user(
        self,
        target_user_id: str,
        *,
        reason: str | None = None,
        expires_at: datetime | None = None,
    ) -> Ban:
        """For moderators."""
        given = {"target_user_id": target_user_id, "reason": reason, "expires_at": expires_at}
        return read(Ban, (await self._post(*BANS, **given))["ban"])

    async def unban_user(self, ban_id: str) -> Ban:
        """For moderators."""
        return read(Ban, (await self._delete(*BANS, ban_id))["ban"])
