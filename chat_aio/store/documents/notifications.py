"""Stored notifications and webhooks: the documents of the plugins' collections."""

from datetime import datetime
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict


class NotificationMessageDocument(TypedDict):
    """A message whose recipients are decided at `due`. `_id` is its id. The row is kept for a day,
    so that the recipients are not decided again if the message is read again."""

    _id: str
    conversationId: str
    seq: int
    dueAt: datetime
    state: Literal["pending", "decided"]
    expiresAt: NotRequired[datetime]


class NotificationDocument(TypedDict):
    """One message and one user who is notified of it; `_id` is `{userId, messageId}`. It is
    delivered together with other messages if `count` is larger than 1, or `merged` into one of
    these. `done` names the places that have received it; the others are tried again at
    `notBefore`."""

    _id: dict[str, str]
    userId: str
    messageId: str
    conversationId: str
    seq: int
    at: datetime
    dueAt: datetime
    state: Literal["waiting", "delivered", "dropped", "merged", "dead"]
    held: bool
    count: int
    tries: int
    notBefore: datetime
    done: list[str]
    error: str | None
    expiresAt: NotRequired[datetime]


class NotificationSettingDocument(TypedDict):
    """A user's setting: `level`, of a conversation; or `quietHours`, if the conversation is None.
    `_id` is `{userId, conversationId}`."""

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


class DeviceDocument(TypedDict):
    """A browser or a phone that a user has registered; `_id` is a hash of kind and token. `token`
    is its address in the push service of its `kind`; `keys` are those of a browser (`web`), else
    empty. `failures` counts failed deliveries in a row."""

    _id: str
    userId: str
    kind: str
    token: str
    keys: dict[str, str]
    createdAt: datetime
    failures: int


class WebhookDeliveryDocument(TypedDict):
    """An event that the webhook of this name posts: a reference, without content. `_id` is
    `{webhook, id}`; `id` and `eventId` are the `webhook-id` that receivers get. `order` is larger
    for a later event. `messageId` is None for an event about a conversation; `conversationId` is
    empty for `webhook.gap`. It is tried again at `notBefore`."""

    _id: dict[str, str]
    webhook: str
    eventId: str
    type: str
    conversationId: str
    messageId: str | None
    actorId: str | None
    affectedUserIds: list[str]
    emoji: str | None
    at: datetime
    order: str
    state: Literal["waiting", "delivered", "dropped", "dead"]
    dueAt: datetime
    tries: int
    notBefore: datetime
    error: str | None
    expiresAt: NotRequired[datetime]
