"""Filters of a search, and the newest messages that they select (specification 6.7).

Without words there is no rank: the newest messages come first, in the order of an index for each
filter, so that a page reads only its own rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

CONVERSATIONS_AT_ONCE = 200
"""MongoDB merges up to 200 spans of an index in order; for more it would read and sort everything
(`internalQueryMaxScansToExplode`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilters:
    """Conditions for messages besides words; `since` is included and `until` is not."""

    sender_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    has_attachments: bool = False
    mentioned_user_id: str | None = None

    def __bool__(self) -> bool:
        return self != NO_FILTERS

    @property
    def index(self) -> str:
        """The index in whose order these messages are read: that of the rarest condition."""
        if self.mentioned_user_id is not None:
            return "conversation_mentioned_newest"
        if self.has_attachments:
            return "conversation_attached_newest"
        if self.sender_id is not None:
            return "conversation_sender_newest"
        return "conversation_newest"

    def conditions(self) -> list[dict[str, Any]]:
        """The conditions of a query."""
        # In the words of the partial indexes, or MongoDB does not use them.
        exact: Mapping[str, Any] = {
            "senderId": self.sender_id,
            "mentions.userId": self.mentioned_user_id,
            "attachments.id": {"$exists": True} if self.has_attachments else None,
        }
        parts: list[dict[str, Any]] = [
            {path: wanted} for path, wanted in exact.items() if wanted is not None
        ]
        if self.since is not None:
            parts.append({"createdAt": {"$gte": self.since}})
        if self.until is not None:
            parts.append({"createdAt": {"$lt": self.until}})
        return parts


NO_FILTERS = SearchFilters()
