"""Users' notification settings: the requests and answers of the plugin's routes."""

import base64
import binascii
from typing import Annotated, Literal

from pydantic import AfterValidator, StrictStr, WithJsonSchema

from chat_aio.schema.fields import checked_text
from chat_aio.schema.inputs import Input
from chat_aio.schema.wire import Timestamp, Wire

NotificationLevel = Literal["all", "mentions", "none"]
MAX_ENDPOINT_LENGTH = 2_048


def _keys(value: dict[str, str]) -> dict[str, str]:
    """The keys of a browser's subscription: a point of P-256 and a secret of 16 bytes."""
    try:
        texts = [value[name] for name in ("p256dh", "auth")]
        # Before decoding: the JSON may have texts of any length here.
        if max(map(len, texts)) > 128:
            raise ValueError
        point, secret = (
            base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            for text in texts
        )
    except (KeyError, ValueError, binascii.Error):
        raise ValueError("must have p256dh and auth in base64url") from None
    # An uncompressed point, the only form that Web Push allows.
    if len(point) != 65 or point[0] != 4 or len(secret) != 16:
        raise ValueError("must have p256dh of 65 bytes and auth of 16 bytes")
    return {name: value[name] for name in ("p256dh", "auth")}


def _object_of(*names: str) -> WithJsonSchema:
    texts = {name: {"type": "string"} for name in names}
    return WithJsonSchema({"type": "object", "properties": texts, "required": [*names]})


PushKeys = Annotated[
    dict[StrictStr, StrictStr], AfterValidator(_keys), _object_of("p256dh", "auth")
]
Endpoint = Annotated[
    StrictStr,
    checked_text(
        lambda value: value.isascii() and 1 <= len(value) <= MAX_ENDPOINT_LENGTH,
        f"must be a URL of at most {MAX_ENDPOINT_LENGTH} characters",
    ),
]
Hours = Annotated[dict[StrictStr, StrictStr], _object_of("start", "end", "timeZone")]


class NewNotificationSettings(Input):
    quiet_hours: Hours | None = None


class NewNotificationLevel(Input):
    level: NotificationLevel | None = None


class NewSubscription(Input):
    endpoint: Endpoint
    keys: PushKeys


class SubscriptionChoice(Input):
    subscription_id: StrictStr


class QuietHours(Wire):
    """A span of each day in a time zone, such as `22:00` to `07:00` in `Europe/Berlin`."""

    start: str
    end: str
    time_zone: str


class NotificationSettings(Wire):
    quiet_hours: QuietHours | None


class ConversationNotifications(Wire):
    """A user's notification level in a conversation; `is_default` if they have not set it."""

    level: NotificationLevel
    is_default: bool


class PushSubscription(Wire):
    """A browser that gets Web Push; its endpoint is a secret, of which only the host is shown."""

    id: str
    host: str
    created_at: Timestamp


class SubscribedTo(Wire):
    subscription: PushSubscription


class PushSubscriptions(Wire):
    """The subscriptions of a user, and the key with which browsers subscribe
    (`applicationServerKey`)."""

    subscriptions: tuple[PushSubscription, ...]
    public_key: str
