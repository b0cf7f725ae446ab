"""Replies: JSON in the contract's envelopes, and errors in theirs."""

from collections.abc import Mapping

from aiohttp import web

from chat_aio.errors import ChatError
from chat_aio.models import Wire, json_from

JSON = "application/json; charset=utf-8"


def reply(*, status: int = 200, **envelope: object) -> web.Response:
    """A JSON response: `reply(message=...)` is `{"message": ...}`."""
    return web.Response(body=json_from(envelope), status=status, headers={"Content-Type": JSON})


def reply_object(answer: Mapping[str, object]) -> web.Response:
    """A JSON object as it is."""
    return web.Response(body=json_from(answer), headers={"Content-Type": JSON})


def reply_shape(shape: Wire) -> web.Response:
    """A shape that is its own envelope: a page, or what came of joining."""
    return web.Response(body=json_from(shape), headers={"Content-Type": JSON})


def reply_error(error: ChatError) -> web.Response:
    """`{"error": {"code", "message"}}` with the error's status."""
    response = reply(status=error.status, error={"code": error.code, "message": str(error)})
    if error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    return response
