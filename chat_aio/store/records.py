"""Moderation documents as the shapes that go out."""

from datetime import datetime

from chat_aio.models import Ban, Block, Mute, Report
from chat_aio.store.bans import LONG_AGO
from chat_aio.store.documents import BanDocument, BlockDocument, MuteDocument, ReportDocument


def block_from(document: BlockDocument) -> Block:
    return Block(
        blocker_user_id=document["blockerUserId"],
        blocked_user_id=document["blockedUserId"],
        created_at=document["createdAt"],
    )


def mute_from(document: MuteDocument) -> Mute:
    return Mute(
        user_id=document["userId"],
        conversation_id=document["conversationId"],
        created_at=document["createdAt"],
    )


def report_from(document: ReportDocument) -> Report:
    return Report(
        id=document["_id"],
        reporter_user_id=document["reporterUserId"],
        target_type=document["targetType"],
        target_id=document["targetId"],
        reason=document["reason"],
        status=document["status"],
        moderator_note=document["moderatorNote"],
        evidence=document["evidence"],
        created_at=document["createdAt"],
        updated_at=document["updatedAt"],
        resolved_by=document["resolvedBy"],
    )


def ban_from(document: BanDocument) -> Ban:
    """A ban; the row may be another program's, with no more than it needs to be in force."""
    return Ban(
        id=str(document["_id"]),
        user_id=str(document["userId"]),
        created_by_user_id=_text(document.get("createdByUserId")) or "",
        reason=_text(document.get("reason")),
        created_at=_time(document.get("createdAt")) or LONG_AGO,
        expires_at=_time(document.get("expiresAt")),
        revoked_at=_time(document.get("revokedAt")),
        revoked_by_user_id=_text(document.get("revokedByUserId")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _time(value: object) -> datetime | None:
    return value if isinstance(value, datetime) else None
