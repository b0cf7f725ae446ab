"""What comes in: the shape of every input, checked strictly and without coercion."""

from collections.abc import Mapping
from math import isfinite
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictStr,
    ValidationError,
)
from pydantic.alias_generators import to_camel

from chat_aio.errors import InvalidInput
from chat_aio.models import JoinPolicy, Role, Visibility

MAX_ID_LENGTH = 256
MAX_NAME_LENGTH = 200
MAX_CLIENT_ID_LENGTH = 128
MAX_METADATA_LEVELS = 64
MAX_MENTIONS = 256
MAX_EMOJI_LENGTH = 32
MAX_QUERY_LENGTH = 2_048


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
        and is_text(value)
    )


def _id(value: str) -> str:
    if not is_id(value):
        raise ValueError("an id is 1 to 256 characters, not blank, without NUL")
    return value


def _text(value: str) -> str:
    if not is_text(value):
        raise ValueError("this is not valid Unicode")
    return value


def _body(value: str) -> str:
    if not value.strip():
        raise ValueError("a message needs a body that is not blank")
    return _text(value)


def _name(value: str) -> str:
    name = _text(value).strip()
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        raise ValueError("a name is 1 to 200 characters after trimming")
    return name


def _client_id(value: str) -> str:
    if not 1 <= len(value) <= MAX_CLIENT_ID_LENGTH or "\0" in value:
        raise ValueError("an idempotency key is 1 to 128 characters, without NUL")
    return _text(value)


def _json_object(value: object) -> object:
    if isinstance(value, dict):
        _check_json(value, MAX_METADATA_LEVELS)
    return value


def _check_json(value: object, levels: int) -> None:
    """Raise ValueError unless `value` is JSON that comes back exactly as it went in."""
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        _text(value)
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ValueError("an integer does not fit into 64 bits")
    elif type(value) is float:
        if not isfinite(value):
            raise ValueError("a number is not finite")
    elif isinstance(value, dict | list):
        if levels == 0:
            raise ValueError(f"more than {MAX_METADATA_LEVELS} levels")
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str):
                    raise ValueError("keys are strings")
                _text(key)
        for each in value.values() if isinstance(value, dict) else value:
            _check_json(each, levels - 1)
    else:
        raise ValueError(f"{type(value).__name__} is not JSON")


def _list(value: object) -> object:
    return list(value) if isinstance(value, tuple | set | frozenset) else value


def _mentions(value: list[str]) -> list[str]:
    distinct = list(dict.fromkeys(value))
    if len(distinct) > MAX_MENTIONS:
        raise ValueError(f"a message mentions at most {MAX_MENTIONS} users")
    return distinct


def _emoji(value: str) -> str:
    emoji = _text(value).strip()
    if not 1 <= len(emoji) <= MAX_EMOJI_LENGTH:
        raise ValueError("a reaction is 1 to 32 characters after trimming")
    return emoji


def _query(value: str) -> str:
    if not value.strip() or len(value) > MAX_QUERY_LENGTH:
        raise ValueError(f"a search is 1 to {MAX_QUERY_LENGTH} characters, not blank")
    return _text(value)


Id = Annotated[StrictStr, AfterValidator(_id)]
Ids = Annotated[list[Id], BeforeValidator(_list)]
Mentions = Annotated[Ids, AfterValidator(_mentions)]
Emoji = Annotated[StrictStr, AfterValidator(_emoji)]
Query = Annotated[StrictStr, AfterValidator(_query)]
Body = Annotated[StrictStr, AfterValidator(_body)]
Name = Annotated[StrictStr, AfterValidator(_name)]
ClientId = Annotated[StrictStr, AfterValidator(_client_id)]
Metadata = Annotated[dict[str, Any], BeforeValidator(_json_object)]


class Input(BaseModel):
    """A request; unknown fields are ignored, null for an optional field equals absent."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, strict=True
    )

    @classmethod
    def arguments(cls, body: Mapping[str, object]) -> dict[str, Any]:
        """The known fields of a JSON body, by the names that actions use."""
        return {name: body.get(field.alias or name) for name, field in cls.model_fields.items()}


class DirectConversation(Input):
    other_user_id: Id
    metadata: Metadata | None = None


class GroupConversation(Input):
    name: Name | None = None
    user_ids: Ids | None = None
    metadata: Metadata | None = None
    visibility: Visibility | None = None
    join_policy: JoinPolicy | None = None


class NewMessage(Input):
    body: Body
    role: Role | None = None
    reply_to_message_id: Id | None = None
    thread_root_message_id: Id | None = None
    also_send_to_main: bool | None = None
    mentions: Mentions | None = None
    metadata: Metadata | None = None
    client_message_id: ClientId | None = None


class Forwarding(Input):
    to_conversation_id: Id = Field(alias="conversationId")
    role: Role | None = None
    mentions: Mentions | None = None
    metadata: Metadata | None = None
    client_message_id: ClientId | None = None


class Edit(Input):
    body: Body
    mentions: Mentions | None = None


class Replaced(Input):
    """What a host's hook puts in place of parts of a message."""

    body: Body | None = None
    metadata: Metadata | None = None


class Reaction(Input):
    emoji: Emoji


class Search(Input):
    query: Query = Field(alias="q")
    conversation_id: Id | None = None


class Mark(Input):
    message_id: Id


I = TypeVar("I", bound=Input)  # noqa: E741


def read(shape: type[I], **values: object) -> I:
    """`values` as a checked input; InvalidInput names the first field that is wrong."""
    try:
        return shape.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(to_camel(str(each)) for each in first["loc"]) or "input"
        raise InvalidInput(f"{place}: {first['msg'].removeprefix('Value error, ')}") from None


def metadata_within(metadata: dict[str, Any] | None, limit: int) -> dict[str, Any]:
    """`metadata`, `{}` when absent; InvalidInput above `limit` bytes of JSON."""
    if metadata and len(orjson.dumps(metadata)) > limit:
        raise InvalidInput(f"metadata: at most {limit} bytes of JSON")
    return metadata or {}
