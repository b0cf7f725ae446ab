"""Replies: JSON in the contract's envelopes, for results and for errors."""

from collections.abc import Mapping, Sequence

from aiohttp import web
from pydantic_core import to_json

from chat_aio.errors import ChatError
from chat_aio.schema.wire import Wire, json_from
from chat_aio.store.time_slices import ROWS_AT_ONCE, Turns

JSON = "application/json; charset=utf-8"

COMPRESSED_AT_ONCE = 64 * 1024
"""A longer body is compressed in a thread: it would hold the event loop for a millisecond."""


def reply(*, status: int = 200, **envelope: object) -> web.Response:
    """A JSON response: `reply(message=...)` is `{"message": ...}`."""
    return reply_json(json_from(envelope), status=status)


def reply_json(body: bytes, *, status: int = 200) -> web.Response:
    """A response with this JSON."""
    return web.Response(
        body=body,
        status=status,
        headers={"Content-Type": JSON},
        zlib_executor_size=COMPRESSED_AT_ONCE,
    )


def reply_object(answer: Mapping[str, object], *, status: int = 200) -> web.Response:
    """A JSON object without an envelope."""
    return reply_json(json_from(answer), status=status)


def reply_shape(shape: Wire) -> web.Response:
    """A model that is its own envelope, such as a page or the result of joining."""
    return reply_json(json_from(shape))


async def reply_page(page: Wire, turns: Turns) -> web.Response:
    """A page of rows and its `nextCursor`, serialised in slices so that other tasks can run."""
    members = []
    for name, field in type(page).model_fields.items():
        value = getattr(page, name)
        if isinstance(value, tuple):
            written = await _rows(value, turns)
            members.append(b'"%s":%s' % ((field.alias or name).encode(), written))
        else:  # By the model, which knows how times are written.
            members.append(page.model_dump_json(include={name}, by_alias=True).encode()[1:-1])
    return reply_json(b"{%s}" % b",".join(members))


async def reply_rows(rows: Sequence[Wire], turns: Turns, *, under: str) -> web.Response:
    """An unpaged list in its envelope."""
    return reply_json(b'{"%s":%s}' % (under.encode(), await _rows(rows, turns)))


async def _rows(rows: Sequence[Wire], turns: Turns) -> bytes:
    """A JSON array, serialised a few rows at a time."""
    parts = []
    async with turns.sliced() as slices:
        for start in range(0, len(rows), ROWS_AT_ONCE):
            # A slice of a list is a separate list: its brackets are cut off.
            parts.append(to_json(rows[start : start + ROWS_AT_ONCE], by_alias=True)[1:-1])
            await slices.give_way()
    return b"[%s]" % b",".join(parts)


def reply_error(error: ChatError) -> web.Response:
    """`{"error": {"code", "message"}}` with the error's status."""
    response = reply(status=error.status, error={"code": error.code, "message": str(error)})
    if error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    return response
