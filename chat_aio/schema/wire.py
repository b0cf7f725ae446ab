"""How shapes go out: frozen objects in snake_case whose JSON is the contract's camelCase."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel
from pydantic_core import to_json


# Cached: most members of a group have joined at the same moment (decision 0003).
@lru_cache(4_096)
def timestamp(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds: `2026-01-31T09:30:00.000Z`."""
    # orjson is quicker than isoformat. The offset is left out: all times are UTC, naive ones too.
    return (b"%b.%03dZ" % (orjson.dumps(moment)[1:20], moment.microsecond // 1000)).decode()


# Cached: most members of a group have joined at the same moment (decision 0003).
@lru_cache(4_096)
def aware(moment: datetime) -> datetime:
    """A stored time as aware UTC, also if it was read as a naive one."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Timestamp = Annotated[
    datetime,
    AfterValidator(aware),
    PlainSerializer(timestamp, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


CONFIG = ConfigDict(
    frozen=True,
    alias_generator=to_camel,
    populate_by_name=True,
    # So the described shapes allow no other keys, and tests compare all answers with them.
    extra="forbid",
    json_schema_serialization_defaults_required=True,
    # Errors are logged, and logs must not quote users' messages.
    hide_input_in_errors=True,
)


class Wire(BaseModel):
    """A shape of the contract. Every documented key is always present, null when empty."""

    model_config = CONFIG


def is_none(value: object) -> bool:
    return value is None


def json_from(value: Wire | Mapping[str, object]) -> bytes:
    """The UTF-8 JSON of a shape, or of an envelope around shapes."""
    # Not orjson, which does not know the shapes that an envelope contains.
    return to_json(value, by_alias=True)
