"""A draft as it is stored."""

from datetime import datetime
from typing import Any


def a_draft(conversation_id: str, sender_id: str, at: datetime) -> dict[str, Any]:
    return {
        "_id": "draft",
        "conversationId": conversation_id,
        "senderId": sender_id,
        "askedByUserId": None,
        "replyToMessageId": None,
        "threadRootMessageId": None,
        "clientMessageId": "draft",
        "parts": ["so ", "far"],
        "count": 2,
        "length": 6,
        "stoppedBy": None,
        "isFinished": False,
        "startedAt": at,
        "expiresAt": at.replace(year=2100),
    }
