"""The field types of inputs, checked strictly and without coercion.

The text of each ValueError follows the field's name in the answer: `body must not be blank`.
"""

import re
from collections.abc import Callable
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
from chat_aio.schema.models import ListPart, PagePart, ParticipantRole
from chat_aio.schema.pagination import DEFAULT_LIMIT

MAX_ID_LENGTH = 256
MAX_NAME_LENGTH = 200
MAX_CLIENT_ID_LENGTH = 128
MAX_KEY_LENGTH = 200
# MongoDB refuses documents of more than 100 levels, and those of a message are added.
MAX_METADATA_LEVELS = 64
MAX_MENTIONS = 256
MAX_PARTICIPANTS = 256
# More than a group may have: a request may name users repeatedly.
MAX_USER_IDS = 4_096
MAX_NOTE_LENGTH = 500
MAX_REASON_LENGTH = 1_000
MAX_MODERATOR_NOTE_LENGTH = 2_000
MAX_EMOJI_LENGTH = 32
MAX_QUERY_LENGTH = 2_048
# Ten years: a time that is added to the present must stay before the year 9999.
MAX_INVITE_SECONDS = 10 * 365 * 24 * 3600
MAX_INVITE_USES = 1_000_000
MAX_SLOW_SECONDS = 3_600
MAX_TOPIC_LENGTH = 500
MAX_PINS = 50
MAX_LOOKED_UP = 100
MAX_FOLLOWED = 20
MAX_ATTACHMENTS = 10


ID_RULE = f"must be an id of 1 to {MAX_ID_LENGTH} characters, not blank, without NUL"


_NUMBER = re.compile(r"-?[0-9]{1,19}(\.[0-9]{1,19})?")


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
        # Most ids are ASCII, and then need not be encoded to be sure.
        and (value.isascii() or is_text(value))
    )


def _text(value: str) -> str:
    if not (value.isascii() or is_text(value)):
        raise ValueError("must be valid Unicode")
    return value


def checked_text(fits: Callable[[str], bool], rule: str) -> AfterValidator:
    """A text for which `fits` is true; `rule` is the text of the error."""

    def check(value: str) -> str:
        if not fits(value):
            raise ValueError(rule)
        return _text(value)

    return AfterValidator(check)


class QueryText(str):
    """A value in a query string, which does not show its type: `7` may be a number or a text."""

    __slots__ = ()


Scalar = str | int | float | bool


def meanings_of(value: Scalar) -> list[Scalar]:
    """The values that a filter on metadata may mean: one, but several for text of a query."""
    if not isinstance(value, QueryText):
        return [value]
    text = str(value)
    if text in ("true", "false"):
        return [text, text == "true"]
    if _NUMBER.fullmatch(text):
        number = float(text) if "." in text else int(text)
        return [text, number] if -(2**63) <= number < 2**63 else [text]
    return [text]


def _wanted_metadata(value: object) -> object:
    """Check the values of a filter on metadata: scalars that are not null."""
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")
    for name, element in value.items():
        if not isinstance(name, str) or not isinstance(element, Scalar):
            raise ValueError("must have texts, numbers, true or false as values")
        _check_scalar(element)
    return value


def _roles(value: object) -> object:
    """Check the number of participants before the entries, as for lists of user ids."""
    if isinstance(value, dict) and len(value) > MAX_USER_IDS:
        # Not a ValueError, as for lists of users: the answer is not that of an invalid field.
        raise GroupLimitExceeded
    return value


def _json_object(value: object, info: ValidationInfo) -> object:
    """Check metadata. `info.context` is the limit in bytes of JSON, None for no limit."""
    if isinstance(value, dict):
        # First: orjson refuses invalid JSON with its own errors.
        _check_json(value, most=info.context)
        if info.context is not None and len(orjson.dumps(value)) > info.context:
            raise ValueError(f"must be at most {info.context} bytes of JSON")
    return value


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
                for key in element:
                    if not isinstance(key, str):
                        raise ValueError("must have strings as keys")
                    _text(key)
                inner += element.values()
            elif isinstance(element, list):
                inner += element
            else:
                _check_scalar(element)
        if not containers:
            return
        layer = inner
    raise ValueError(f"must be at most {MAX_METADATA_LEVELS} levels deep")


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


def _trimmed(most: int, *, least: int = 1) -> AfterValidator:
    """A text of `least` to `most` characters, without white space around it."""
    allowed = f"{least} to {most}" if least else f"at most {most}"

    def trim(value: str) -> str:
        text = _text(value).strip()
        if not least <= len(text) <= most:
            raise ValueError(f"must be {allowed} characters after trimming")
        return text

    return AfterValidator(trim)


def _optional(most: int) -> AfterValidator:
    """A text of up to `most` characters, trimmed; a blank one is none."""
    return AfterValidator(lambda value: _at_most(most, value) or None)


def _up_to(most: int, entries: str) -> BeforeValidator:
    """A list of up to `most` entries. Before they are checked: a request may name thousands."""

    def check(value: object) -> object:
        if isinstance(value, list | tuple | set | frozenset) and len(value) > most:
            raise ValueError(f"must be at most {most} {entries}")
        return _list(value)

    return BeforeValidator(check)


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


def _reason(value: str) -> str:
    reason = _at_most(MAX_REASON_LENGTH, value)
    if not reason:
        raise ValueError("must not be blank")
    return reason


def _at_most(length: int, value: str) -> str:
    """The text, trimmed; ValueError if it is longer than `length` code points."""
    text = _text(value).strip()
    if len(text) > length:
        raise ValueError(f"must be at most {length} characters")
    return text


def _moment(value: object) -> datetime:
    """ISO 8601 with a date, a time and an offset; truncated to whole milliseconds."""
    try:
        if isinstance(value, datetime):
            moment = value
        # `fromisoformat` takes a date alone, too, which would silently mean midnight.
        elif isinstance(value, str) and "T" in value.upper():
            moment = datetime.fromisoformat(value)
        else:
            raise ValueError
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


def _distinct(value: list[str]) -> list[str]:
    return list(dict.fromkeys(value))


def _text_of(**schema: object) -> WithJsonSchema:
    """The constraints of a text field as JSON Schema, for the OpenAPI description."""
    return WithJsonSchema({"type": "string", **schema})


# Python counts U+001C to U+001F as white space; `\s` in JSON Schema does not contain them.
NOT_BLANK = r"[^\s\x1c-\x1f]"
NOT_BLANK_NOR_NUL = r"^[^\x00]*[^\s\x00\x1c-\x1f][^\x00]*$"
WITHOUT_NUL = r"^[^\x00]*$"

Id = Annotated[
    StrictStr,
    checked_text(is_id, ID_RULE),
    _text_of(minLength=1, maxLength=MAX_ID_LENGTH, pattern=NOT_BLANK_NOR_NUL),
]
Ids = Annotated[list[Id], Field(fail_fast=True), BeforeValidator(_users), AfterValidator(_distinct)]
"""`fail_fast` names only the first wrong entry: naming all of them took seconds for a megabyte."""
Roles = Annotated[dict[Id, ParticipantRole], Field(fail_fast=True), BeforeValidator(_roles)]
"""Participants by user id, with their roles."""
WithConversations = Annotated[list[ListPart], BeforeValidator(_list)]
WithMessages = Annotated[list[PagePart], BeforeValidator(_list)]
"""The optional parts of a page of a list (`include`)."""
LookedUp = Annotated[list[Id], Field(fail_fast=True), _up_to(MAX_LOOKED_UP, "ids")]
Followed = Annotated[
    list[Id], Field(fail_fast=True), _up_to(MAX_FOLLOWED, "ids"), AfterValidator(_distinct)
]
Reason = Annotated[
    StrictStr, AfterValidator(_reason), _text_of(maxLength=MAX_REASON_LENGTH, pattern=NOT_BLANK)
]
BanReason = Annotated[
    StrictStr, _optional(MAX_REASON_LENGTH), _text_of(maxLength=MAX_REASON_LENGTH)
]
ModeratorNote = Annotated[
    StrictStr, _optional(MAX_MODERATOR_NOTE_LENGTH), _text_of(maxLength=MAX_MODERATOR_NOTE_LENGTH)
]
Moment = Annotated[datetime, PlainValidator(_moment), _text_of(format="date-time")]
Note = Annotated[StrictStr, _optional(MAX_NOTE_LENGTH), _text_of(maxLength=MAX_NOTE_LENGTH)]
Mentions = Annotated[
    list[Id], Field(fail_fast=True), _up_to(MAX_MENTIONS, "users"), AfterValidator(_distinct)
]
AttachmentIds = Annotated[
    list[Id], Field(fail_fast=True), _up_to(MAX_ATTACHMENTS, "ids"), AfterValidator(_distinct)
]
Emoji = Annotated[
    StrictStr, _trimmed(MAX_EMOJI_LENGTH), _text_of(maxLength=MAX_EMOJI_LENGTH, pattern=NOT_BLANK)
]
Query = Annotated[
    StrictStr,
    checked_text(
        lambda value: 0 < len(value) <= MAX_QUERY_LENGTH and not value.isspace(),
        f"must be 1 to {MAX_QUERY_LENGTH} characters, not blank",
    ),
    _text_of(maxLength=MAX_QUERY_LENGTH, pattern=NOT_BLANK),
]
Body = Annotated[
    StrictStr,
    checked_text(lambda value: bool(value.strip()), "must not be blank"),
    _text_of(pattern=NOT_BLANK),
]
Name = Annotated[
    StrictStr, _trimmed(MAX_NAME_LENGTH), _text_of(maxLength=MAX_NAME_LENGTH, pattern=NOT_BLANK)
]
ClientId = Annotated[
    StrictStr,
    checked_text(
        lambda value: 1 <= len(value) <= MAX_CLIENT_ID_LENGTH and "\0" not in value,
        f"must be 1 to {MAX_CLIENT_ID_LENGTH} characters without NUL",
    ),
    _text_of(minLength=1, maxLength=MAX_CLIENT_ID_LENGTH, pattern=WITHOUT_NUL),
]
GroupKey = Annotated[
    StrictStr,
    checked_text(
        lambda value: (
            1 <= len(value) <= MAX_KEY_LENGTH and not value.isspace() and "\0" not in value
        ),
        f"must be 1 to {MAX_KEY_LENGTH} characters, not blank, without NUL",
    ),
    _text_of(minLength=1, maxLength=MAX_KEY_LENGTH, pattern=NOT_BLANK_NOR_NUL),
]
WantedMetadata = Annotated[dict[str, Any], BeforeValidator(_wanted_metadata)]
"""Values of metadata by which conversations are found."""
Metadata = Annotated[dict[str, Any], BeforeValidator(_json_object)]
# Far behind every message, and an integer that MongoDB can compare with.
_LAST_PLACE = 10**18
# No upper limit: a larger `limit` counts as 200 (specification 1.5).
PageSize = Annotated[StrictInt, Field(ge=1, json_schema_extra={"default": DEFAULT_LIMIT})]
# No upper limit either: all numbers behind the last message are the same place.
SeqPlace = Annotated[
    StrictInt, Field(ge=1), AfterValidator(lambda number: min(number, _LAST_PLACE))
]
# The action checks the bounds, after the permission. Here OpenAPI's description gets them.
Seconds = Annotated[
    StrictInt, Field(json_schema_extra={"minimum": 1, "maximum": MAX_INVITE_SECONDS})
]
SlowSeconds = Annotated[
    StrictInt, Field(json_schema_extra={"minimum": 0, "maximum": MAX_SLOW_SECONDS})
]
Version = Annotated[StrictInt, Field(ge=1)]
Topic = Annotated[
    StrictStr, _trimmed(MAX_TOPIC_LENGTH, least=0), _text_of(maxLength=MAX_TOPIC_LENGTH)
]
Uses = Annotated[StrictInt, Field(json_schema_extra={"minimum": 1, "maximum": MAX_INVITE_USES})]
