"""What is stored about notifications: the documents of the plugin's collections."""

from datetime import datetime
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict


class NotificationMessageDocument(TypedDict):
    """A message whose recipients are decided at `due`. `_id` is its id. The row stays for a day, so
    that a message that is read again is not decided again."""

    _id: str
    conversationId: str
    seq: int
    due: datetime
    state: Literal["pending", "decided"]
    expiresAt: NotRequired[datetime]


class NotificationDocument(TypedDict):
    """One message and one user who is told of it; `_id` is `{userId, messageId}`. It is told
    together with other messages if `count` is larger than 1, or `merged` into one of these. `done`
    names where it was delivered; the other places are tried again at `notBefore`."""

    _id: dict[str, str]
    userId: str
    messageId: str
    conversationId: str
    seq: int
    at: datetime
    due: datetime
    state: Literal["waiting", "delivered", "dropped", "merged", "dead"]
    held: bool
    count: int
    tries: int
    notBefore: datetime
    done: list[str]
    error: str | None
    expiresAt: NotRequired[datetime]


class NotificationSettingDocument(TypedDict):
    """What a user wants to be told: `level`, of a conversation; or `quietHours`, where the
    conversation is None. `_id` is `{userId, conversationId}`."""

    _id: dict[str, Any]
    userId: str
    conversationId: str | None
    level: NotRequired[Literal["all", "mentions", "none"]]
    quietHours: NotRequired[dict[str, str]]


class ShownDocument(TypedDict):
    """Consecutive messages of a conversation, `first` to `last`, that a stream of a user has shown.
    `_id` is `{userId, conversationId, first}`."""

    _id: dict[str, Any]
    userId: str
    conversationId: str
    first: int
    last: int
    at: datetime


class PushSubscriptionDocument(TypedDict):
    """A browser's subscription to Web Push; `_id` is a hash of the endpoint."""

    _id: str
    userId: str
    endpoint: str
    p256dh: str
    auth: str
    createdAt: datetime
    failures: int
