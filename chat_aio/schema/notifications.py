"""Users' notification settings: the requests and answers of the plugin's routes."""

import base64
import binascii
from typing import Annotated, Literal

from pydantic import AfterValidator, StrictStr, WithJsonSchema

from chat_aio.schema.fields import checked_text
from chat_aio.schema.inputs import Input
from chat_aio.schema.wire import Timestamp, Wire

NotificationLevel = Literal["all", "mentions", "none"]
MAX_TOKEN_LENGTH = 2_048


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
DeviceToken = Annotated[
    StrictStr,
    checked_text(
        lambda value: value.isascii() and 1 <= len(value) <= MAX_TOKEN_LENGTH,
        f"must be of 1 to {MAX_TOKEN_LENGTH} characters of ASCII",
    ),
]
Hours = Annotated[dict[StrictStr, StrictStr], _object_of("start", "end", "timeZone")]


class NewNotificationSettings(Input):
    quiet_hours: Hours | None = None


class NewNotificationLevel(Input):
    level: NotificationLevel | None = None


class NewDevice(Input):
    """A device of a kind that the service has a channel for. The token of a browser (`web`) is the
    endpoint of its subscription, and `keys` are the subscription's."""

    kind: StrictStr
    token: DeviceToken
    keys: PushKeys | None = None


class DeviceChoice(Input):
    device_id: StrictStr


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


class RegisteredDevice(Wire):
    """A browser or a phone that is notified; its token is a secret, and not shown."""

    id: str
    kind: str
    created_at: Timestamp


class DeviceRegistered(Wire):
    device: RegisteredDevice


class RegisteredDevices(Wire):
    """The devices of a user, the kinds that may be registered, and the key with which browsers
    subscribe (`applicationServerKey`), if `web` is among them."""

    devices: tuple[RegisteredDevice, ...]
    kinds: tuple[str, ...]
    public_key: str | None
