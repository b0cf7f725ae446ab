"""The field types of inputs, checked strictly and without coercion.

The text of each ValueError follows the field's name in the answer: `body must not be blank`.
"""

from datetime import UTC, datetime
from math import isfinite
from typing import Annotated, Any

import orjson
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    StrictInt,
    StrictStr,
    ValidationInfo,
    WithJsonSchema,
)

from chat_aio.errors import GroupLimitExceeded
from chat_aio.schema.models import ListPart, PagePart
from chat_aio.schema.pagination import DEFAULT_LIMIT

MAX_ID_LENGTH = 256
MAX_NAME_LENGTH = 200
MAX_CLIENT_ID_LENGTH = 128
MAX_METADATA_LEVELS = 64
MAX_MENTIONS = 256
MAX_PARTICIPANTS = 256
MAX_USER_IDS = 4_096
MAX_NOTE_LENGTH = 500
MAX_REASON_LENGTH = 1_000
MAX_MODERATOR_NOTE_LENGTH = 2_000
MAX_EMOJI_LENGTH = 32
MAX_QUERY_LENGTH = 2_048
MAX_INVITE_SECONDS = 10 * 365 * 24 * 3600
MAX_INVITE_USES = 1_000_000
MAX_SLOW_SECONDS = 3_600
MAX_TOPIC_LENGTH = 500
MAX_PINS = 50
MAX_LOOKED_UP = 100
MAX_ATTACHMENTS = 10


ID_RULE = f"must be an id of 1 to {MAX_ID_LENGTH} characters, not blank, without NUL"


def is_text(value: str) -> bool:
    """Whether every code point can be written as UTF-8 (no lone surrogate)."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_id(value: object) -> bool:
    """Whether `value` could be an id: a string of 1-256 characters, not blank, without NUL."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= MAX_ID_LENGTH
        and not value.isspace()
        and "\0" not in value
        and (value.isascii() or is_text(value))
    )


def _id(value: str) -> str:
    if not is_id(value):
        raise ValueError(ID_RULE)
    return value


def _text(value: str) -> str:
    if not (value.isascii() or is_text(value)):
        raise ValueError("must be valid Unicode")
    return value


def _body(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return _text(value)


def _name(value: str) -> str:
    name = _text(value).strip()
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        raise ValueError(f"must be 1 to {MAX_NAME_LENGTH} characters after trimming")
    return name


def _client_id(value: str) -> str:
    if not 1 <= len(value) <= MAX_CLIENT_ID_LENGTH or "\0" in value:
        raise ValueError(f"must be 1 to {MAX_CLIENT_ID_LENGTH} characters without NUL")
    return _text(value)


def _json_object(value: object, info: ValidationInfo) -> object:
    """Check metadata. `info.context` is the limit in bytes of JSON, None for no limit."""
    if isinstance(value, dict):
        # First: orjson refuses what is not JSON with errors of its own.
        _check_json(value, most=info.context)
        _check_size(value, most=info.context)
    return value


def _check_size(value: object, *, most: int | None) -> None:
    if most is not None and len(orjson.dumps(value)) > most:
        raise ValueError(f"must be at most {most} bytes of JSON")


def _check_json(value: object, *, most: int | None) -> None:
    """Raise ValueError unless `value` is JSON that comes back exactly as it went in."""
    # By layers, so that depth and size are bounded while the value is walked.
    layer, seen = [value], 0
    for _ in range(MAX_METADATA_LEVELS + 1):
        containers = [element for element in layer if isinstance(element, dict | list)]
        seen += sum(map(len, containers))
        # Each value is at least one byte of JSON, so a value that is too large is refused before
        # the rest of it is walked.
        if most is not None and seen > most:
            raise ValueError(f"must be at most {most} bytes of JSON")
        inner: list[object] = []
        for element in layer:
            if isinstance(element, dict):
                _check_keys(element)
                inner += element.values()
            elif isinstance(element, list):
                inner += element
            else:
                _check_scalar(element)
        if not containers:
            return
        layer = inner
    raise ValueError(f"must be at most {MAX_METADATA_LEVELS} levels deep")


def _check_keys(value: dict[Any, object]) -> None:
    for key in value:
        if not isinstance(key, str):
            raise ValueError("must have strings as keys")
        _text(key)


def _check_scalar(value: object) -> None:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        _text(value)
    elif isinstance(value, int):
        # BSON has no larger integers.
        if not -(2**63) <= value < 2**63:
            raise ValueError("must have no integer of more than 64 bits")
    elif type(value) is float:
        if not isfinite(value):
            raise ValueError("must have no infinite number and no NaN")
    else:
        raise ValueError(f"must be JSON, which has no {type(value).__name__}")


def _list(value: object) -> object:
    # In-process callers may give any collection; over HTTP it is always a list.
    return list(value) if isinstance(value, tuple | set | frozenset) else value


def _users(value: object) -> object:
    """The users of a group, who may be named repeatedly. The length is checked before the entries;
    the participants are counted by the actions."""
    if isinstance(value, list | tuple | set | frozenset) and len(value) > MAX_USER_IDS:
        # Not a ValueError: pydantic lets it pass, so it is not reported as an invalid field.
        raise GroupLimitExceeded
    return _list(value)


def _mentioned(value: object) -> object:
    if isinstance(value, list | tuple | set | frozenset) and len(value) > MAX_MENTIONS:
        raise ValueError(f"must be at most {MAX_MENTIONS} users")
    return _list(value)


def _looked_up(value: object) -> object:
    if isinstance(value, list | tuple | set | frozenset) and len(value) > MAX_LOOKED_UP:
        raise ValueError(f"must be at most {MAX_LOOKED_UP} users")
    return _list(value)


def _attached(value: object) -> object:
    if isinstance(value, list | tuple | set | frozenset) and len(value) > MAX_ATTACHMENTS:
        raise ValueError(f"must be at most {MAX_ATTACHMENTS} ids")
    return _list(value)


def _note(value: str) -> str | None:
    return _at_most(MAX_NOTE_LENGTH, value) or None


def _reason(value: str) -> str:
    reason = _at_most(MAX_REASON_LENGTH, value)
    if not reason:
        raise ValueError("must not be blank")
    return reason


def _ban_reason(value: str) -> str | None:
    return _at_most(MAX_REASON_LENGTH, value) or None


def _moderator_note(value: str) -> str | None:
    return _at_most(MAX_MODERATOR_NOTE_LENGTH, value) or None


def _at_most(length: int, value: str) -> str:
    """The text, trimmed; ValueError if it is longer than `length` code points."""
    text = _text(value).strip()
    if len(text) > length:
        raise ValueError(f"must be at most {length} characters")
    return text


def _moment(value: object) -> datetime:
    """ISO 8601 with a date, a time and an offset; truncated to whole milliseconds."""
    try:
        moment = value if isinstance(value, datetime) else _parsed(value)
    except ValueError:
        raise ValueError("must be a time in ISO 8601, such as 2026-01-31T09:30:00Z") from None
    if moment.tzinfo is None:
        raise ValueError("must be a time with an offset, such as 2026-01-31T09:30:00Z")
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("must be a time between the years 1 and 9999 in UTC") from None
    # As MongoDB stores it; otherwise an answer could differ from the stored time.
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _parsed(value: object) -> datetime:
    # `fromisoformat` takes a date alone, too, which would silently mean midnight.
    if not isinstance(value, str) or "T" not in value.upper():
        raise ValueError
    return datetime.fromisoformat(value)


def _distinct(value: list[str]) -> list[str]:
    return list(dict.fromkeys(value))


def _emoji(value: str) -> str:
    emoji = _text(value).strip()
    if not 1 <= len(emoji) <= MAX_EMOJI_LENGTH:
        raise ValueError(f"must be 1 to {MAX_EMOJI_LENGTH} characters after trimming")
    return emoji


def _topic(value: str) -> str:
    topic = _text(value).strip()
    if len(topic) > MAX_TOPIC_LENGTH:
        raise ValueError(f"must be at most {MAX_TOPIC_LENGTH} characters after trimming")
    return topic


def _query(value: str) -> str:
    if not value.strip() or len(value) > MAX_QUERY_LENGTH:
        raise ValueError(f"must be 1 to {MAX_QUERY_LENGTH} characters, not blank")
    return _text(value)


def _text_of(**schema: object) -> WithJsonSchema:
    """The constraints of a text field as JSON Schema, for the OpenAPI description."""
    return WithJsonSchema({"type": "string", **schema})


# Python counts U+001C to U+001F as white space; `\s` in JSON Schema does not contain them.
NOT_BLANK = r"[^\s\x1c-\x1f]"
NOT_BLANK_NOR_NUL = r"^[^\x00]*[^\s\x00\x1c-\x1f][^\x00]*$"
WITHOUT_NUL = r"^[^\x00]*$"

Id = Annotated[
    StrictStr,
    AfterValidator(_id),
    _text_of(minLength=1, maxLength=MAX_ID_LENGTH, pattern=NOT_BLANK_NOR_NUL),
]
Ids = Annotated[list[Id], Field(fail_fast=True), BeforeValidator(_users), AfterValidator(_distinct)]
"""`fail_fast` names only the first wrong entry: naming all of them took seconds for a megabyte."""
WithConversations = Annotated[list[ListPart], BeforeValidator(_list)]
WithMessages = Annotated[list[PagePart], BeforeValidator(_list)]
"""What is to come with a page of a list."""
LookedUp = Annotated[list[Id], Field(fail_fast=True), BeforeValidator(_looked_up)]
Reason = Annotated[
    StrictStr, AfterValidator(_reason), _text_of(maxLength=MAX_REASON_LENGTH, pattern=NOT_BLANK)
]
BanReason = Annotated[StrictStr, AfterValidator(_ban_reason), _text_of(maxLength=MAX_REASON_LENGTH)]
ModeratorNote = Annotated[
    StrictStr, AfterValidator(_moderator_note), _text_of(maxLength=MAX_MODERATOR_NOTE_LENGTH)
]
Moment = Annotated[datetime, PlainValidator(_moment), _text_of(format="date-time")]
Note = Annotated[StrictStr, AfterValidator(_note), _text_of(maxLength=MAX_NOTE_LENGTH)]
Mentions = Annotated[
    list[Id], Field(fail_fast=True), BeforeValidator(_mentioned), AfterValidator(_distinct)
]
AttachmentIds = Annotated[
    list[Id], Field(fail_fast=True), BeforeValidator(_attached), AfterValidator(_distinct)
]
Emoji = Annotated[
    StrictStr, AfterValidator(_emoji), _text_of(maxLength=MAX_EMOJI_LENGTH, pattern=NOT_BLANK)
]
Query = Annotated[
    StrictStr, AfterValidator(_query), _text_of(maxLength=MAX_QUERY_LENGTH, pattern=NOT_BLANK)
]
Body = Annotated[StrictStr, AfterValidator(_body), _text_of(pattern=NOT_BLANK)]
Name = Annotated[
    StrictStr, AfterValidator(_name), _text_of(maxLength=MAX_NAME_LENGTH, pattern=NOT_BLANK)
]
ClientId = Annotated[
    StrictStr,
    AfterValidator(_client_id),
    _text_of(minLength=1, maxLength=MAX_CLIENT_ID_LENGTH, pattern=WITHOUT_NUL),
]
Metadata = Annotated[dict[str, Any], BeforeValidator(_json_object)]
# No upper limit: a larger `limit` counts as 200 (docs/behaviour.md 1.5).
PageSize = Annotated[StrictInt, Field(ge=1, json_schema_extra={"default": DEFAULT_LIMIT})]
# The action checks the bounds, after the permission. Here OpenAPI's description gets them.
Seconds = Annotated[
    StrictInt, Field(json_schema_extra={"minimum": 1, "maximum": MAX_INVITE_SECONDS})
]
SlowSeconds = Annotated[
    StrictInt, Field(json_schema_extra={"minimum": 0, "maximum": MAX_SLOW_SECONDS})
]
Topic = Annotated[StrictStr, AfterValidator(_topic), _text_of(maxLength=MAX_TOPIC_LENGTH)]
Uses = Annotated[StrictInt, Field(json_schema_extra={"minimum": 1, "maximum": MAX_INVITE_USES})]
