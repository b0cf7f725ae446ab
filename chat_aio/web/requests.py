"""What handlers take out of a request: who acts, on what, with which body and page."""

from typing import Any

from aiohttp import web

from chat_aio.api import ServerAPI
from chat_aio.inputs import Input
from chat_aio.pages import limit_from_query
from chat_aio.web.bodies import read_object
from chat_aio.web.keys import API, USER_ID


def acting(request: web.Request) -> tuple[ServerAPI, str]:
    """What every action starts with: the context, and who is acting."""
    return request.config_dict[API], request[USER_ID]


async def body_of(
    request: web.Request, shape: type[Input], *, optional: bool = False
) -> dict[str, Any]:
    """The fields of `shape` in the JSON body, as an action's arguments, not yet checked."""
    limit = request.config_dict[API].options.max_body_bytes
    return shape.arguments(await read_object(request, limit=limit, optional=optional))


def page_of(request: web.Request) -> dict[str, Any]:
    """`limit` and `cursor` from the query string, as an action's arguments."""
    return {
        "limit": limit_from_query(request.query.get("limit")),
        "cursor": request.query.get("cursor"),
    }
