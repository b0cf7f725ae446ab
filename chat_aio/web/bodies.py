"""Request bodies: JSON objects within limits; anything hostile is a 400 or 413, never a 500."""

import json
import re
from math import isfinite
from typing import Any

from aiohttp import ClientError, web
from aiohttp.http_exceptions import HttpProcessingError

from chat_aio.errors import InvalidInput, PayloadTooLarge

MAX_LEVELS = 80
_BRACKETS = re.compile(rb"[\[{]")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


async def read_object(
    request: web.Request, *, limit: int, optional: bool = False
) -> dict[str, Any]:
    """The JSON object in the body; `{}` for a missing one where it is `optional`.

    Raises PayloadTooLarge above `limit` bytes, InvalidInput for everything that is not plain JSON:
    not UTF-8, no object, repeated keys, numbers beyond 64 bits, more than 80 levels.
    """
    raw = await _read(request, limit)
    if not raw and optional:
        return {}
    return object_from(raw)


def object_from(raw: bytes) -> dict[str, Any]:
    """`raw` as a JSON object, checked; InvalidInput says what is wrong."""
    repeated = False

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        made = dict(found)
        repeated = len(made) != len(found)  # The outermost object is made last.
        return made

    try:
        value = json.loads(
            raw.decode(),
            object_pairs_hook=pairs,
            parse_constant=_no_constant,
            parse_float=_float,
            parse_int=_integer,
        )
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the body is not valid JSON: {_reason(error)}") from None
    if not isinstance(value, dict):
        raise InvalidInput("the body must be a JSON object")
    if repeated:
        raise InvalidInput("the body has a key twice")
    if len(_BRACKETS.findall(raw)) > MAX_LEVELS and _levels(value) > MAX_LEVELS:
        raise InvalidInput(f"the body has more than {MAX_LEVELS} levels")
    if _SURROGATE.search(raw):
        _check_surrogates(value)
    return value


async def _read(request: web.Request, limit: int) -> bytes:
    if (request.content_length or 0) > limit:
        raise PayloadTooLarge(f"a request body has at most {limit} bytes")
    raw = bytearray()
    try:
        async for chunk in request.content.iter_any():
            raw += chunk
            if len(raw) > limit:
                raise PayloadTooLarge(f"a request body has at most {limit} bytes")
    except (ClientError, HttpProcessingError, web.RequestPayloadError, ConnectionError) as error:
        raise InvalidInput("the body could not be read") from error
    return bytes(raw)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _float(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError("a number is too large")
    return number


def _integer(text: str) -> int:
    number = int(text) if len(text) <= 20 else 2**64
    if not -(2**63) <= number < 2**63:
        raise ValueError("an integer does not fit into 64 bits")
    return number


def _levels(value: object) -> int:
    """How deep objects and arrays are nested, without recursion."""
    levels, layer = 0, [value]
    while layer := [each for each in layer if isinstance(each, dict | list) and each]:
        levels += 1
        layer = [
            inner for each in layer for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return levels


def _check_surrogates(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InvalidInput("the body has text that is not valid Unicode") from None


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "too many levels"
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
