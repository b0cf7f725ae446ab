"""Moderation documents as the shapes that go out."""

from chat_aio.models import Ban, Block, Mute, Report
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
    return Ban(
        id=document["_id"],
        user_id=document["userId"],
        created_by_user_id=document["createdByUserId"],
        reason=document["reason"],
        created_at=document["createdAt"],
        expires_at=document["expiresAt"],
        revoked_at=document["revokedAt"],
        revoked_by_user_id=document["revokedByUserId"],
    )
