"""Routes of plugins: parse, call, reply."""

from collections.abc import Iterator

from aiohttp import web

from chat_aio.context import Context
from chat_aio.plugin import PluginRequest, PluginRoute
from chat_aio.web.bodies import read_object
from chat_aio.web.keys import API, USER_ID
from chat_aio.web.middleware import Handler
from chat_aio.web.replies import reply_object


def routes_of(context: Context) -> Iterator[web.RouteDef]:
    """The routes of the plugins that are on, to stand behind all others."""
    for plugin in context.plugins:
        for route in plugin.routes:
            yield web.RouteDef(route.method, route.path, _handler_of(route), {})


def _handler_of(route: PluginRoute) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        limit = request.config_dict[API].options.max_body_bytes
        has_body = route.method == "POST"
        body = await read_object(request, limit=limit, optional=True) if has_body else {}
        asked = PluginRequest(
            user_id=request[USER_ID], path=request.match_info, query=request.query, body=body
        )
        return reply_object(await route.handler(asked))

    return handle
