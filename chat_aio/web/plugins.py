"""The routes of plugins: parse, call, reply."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from chat_aio.plugins.base import Plugin, PluginRequest, PluginRoute
from chat_aio.web.keys import CONTEXT, USER_ID
from chat_aio.web.operations import Method
from chat_aio.web.replies import reply_object
from chat_aio.web.request_body import read_object


@dataclass(frozen=True)
class PluginOperation:
    """A plugin's route. Its request body is optional."""

    plugin: Plugin
    route: PluginRoute

    @property
    def method(self) -> Method:
        return self.route.method

    @property
    def path(self) -> str:
        return self.route.path

    async def handle(self, request: web.Request) -> web.StreamResponse:
        context = request.config_dict[CONTEXT]
        # Before the body is read: a request that cannot be read counts as well.
        await context.rate_limits.count(request[USER_ID], self.route.name)
        limit, turns = context.options.max_body_bytes, context.database.turns
        body: dict[str, Any] = {}
        if self.method == "POST":
            body = await read_object(request, limit=limit, turns=turns, optional=True)
        plugin_request = PluginRequest(
            user_id=request[USER_ID], path=request.match_info, query=request.query, body=body
        )
        return reply_object(await self.route.handler(plugin_request))


def operations_of(plugins: Iterable[Plugin]) -> Iterator[PluginOperation]:
    """The routes of the enabled plugins, which come after all others."""
    for plugin in plugins:
        for route in plugin.routes:
            yield PluginOperation(plugin, route)
