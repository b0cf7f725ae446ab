"""Request bodies: JSON objects within limits. Hostile input is a 400 or 413, never a 500."""

import asyncio
import json
import re
from collections.abc import Iterator
from itertools import chain
from math import inf
from typing import Any

from aiohttp import ClientError, web
from aiohttp.http_exceptions import HttpProcessingError

from chat_aio.errors import InvalidInput, PayloadTooLarge
from chat_aio.store.calls import paused
from chat_aio.store.time_slices import Turns
from chat_aio.web.close_connection import stop_reading

MAX_LEVELS = 80
BODY_SECONDS = 15.0
SMALL_BYTES = 64 * 1024
MAX_PARTS = 128 * 1024
"""The most brackets and commas in a body, those within strings included. Parsing a megabyte of them
would block the event loop for a second; no real request has so many."""

_LARGE_NUMBER = re.compile(rb"[0-9]{19}|[eE]\+?[0-9]{3}")
"""Found in every integer past 64 bits and in every float that is not finite: a cheap first test."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


async def read_object(
    request: web.Request, *, limit: int, turns: Turns, optional: bool = False
) -> dict[str, Any]:
    """The JSON object in the body; `{}` if the body is missing and `optional`.

    Raises PayloadTooLarge above `limit` bytes, and InvalidInput for everything that is not plain
    JSON: not UTF-8, no object, repeated keys, numbers beyond 64 bits, more than 80 levels. Large
    bodies are parsed one at a time.
    """
    raw = await _read(request, limit)
    if not raw and optional:
        return {}
    if len(raw) <= SMALL_BYTES:
        return object_from(raw)
    return await turns.alone(lambda: object_from(raw))


def object_from(raw: bytes) -> dict[str, Any]:
    """Parse and check a JSON object. Raises InvalidInput with the reason."""
    brackets = raw.count(b"[") + raw.count(b"{")
    if brackets + raw.count(b",") > MAX_PARTS:
        raise InvalidInput(f"the body has more than {MAX_PARTS} brackets and commas")
    try:
        value = _DECODER.decode(raw.decode())
    except UnicodeDecodeError:
        raise InvalidInput("the body is not valid JSON: not UTF-8") from None
    except RecursionError:
        raise InvalidInput("the body is not valid JSON: too many levels") from None
    except ValueError as error:
        raise InvalidInput(f"the body is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInput("the body must be a JSON object")
    if isinstance(value, _Repeating):
        raise InvalidInput("the body has a key twice")
    if brackets > MAX_LEVELS and sum(1 for _ in _layers(value)) > MAX_LEVELS + 1:
        raise InvalidInput(f"the body has more than {MAX_LEVELS} levels")
    # Most bodies have none of these: a search of the bytes spares walking through the values.
    if _LARGE_NUMBER.search(raw):
        # Layer by layer after parsing: much cheaper than a callback for every number.
        for layer in _layers(value):
            integers = [element for element in layer if type(element) is int]
            if integers and not -(2**63) <= min(integers) <= max(integers) < 2**63:
                raise InvalidInput("the body has an integer that does not fit into 64 bits")
            floats = {element for element in layer if type(element) is float}
            if inf in floats or -inf in floats:
                raise InvalidInput("the body has a number that is too large")
    if _SURROGATE.search(raw):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise InvalidInput("the body has text that is not valid Unicode") from None
    return value


async def _read(request: web.Request, limit: int) -> bytes:
    """Read the body. If it is not complete within 15 seconds, the answer is an error and the
    connection ends: a client that sends byte by byte must not keep it for ever."""
    if (request.content_length or 0) > limit:
        raise PayloadTooLarge(f"a request body has at most {limit} bytes")
    try:
        if request.content.is_eof():  # It came with the headers, as most do: nothing to wait for.
            raw = request.content.read_nowait()
        else:
            chunks = bytearray()
            # Waiting for the client must not use up the time budget of database calls.
            with paused():
                async with asyncio.timeout(BODY_SECONDS):
                    async for chunk in request.content.iter_any():
                        chunks += chunk
                        if len(chunks) > limit:  # Refused below: the rest is not waited for.
                            break
            raw = bytes(chunks)
    except TimeoutError:
        stop_reading(request)
        raise InvalidInput(f"the body did not come within {BODY_SECONDS:.0f} seconds") from None
    except (ClientError, HttpProcessingError, web.RequestPayloadError, ConnectionError) as error:
        raise InvalidInput("the body could not be read") from error
    if len(raw) > limit:
        raise PayloadTooLarge(f"a request body has at most {limit} bytes")
    return raw


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


class _Repeating(dict[str, Any]):
    """An object that has a key twice: the last value counts, unless it is the whole body."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    return made if len(made) == len(pairs) else _Repeating(made)


# Made once: making it takes as long as parsing a small body.
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant)


def _layers(value: object) -> Iterator[list[object]]:
    """The values of each nesting level, outermost first, without recursion."""
    layer = [value]
    while layer:
        yield layer
        arrays = [element for element in layer if type(element) is list]
        objects = [element for element in layer if isinstance(element, dict)]
        layer = [
            *chain.from_iterable(arrays),
            *chain.from_iterable(element.values() for element in objects),
        ]
