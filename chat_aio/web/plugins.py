"""The routes of plugins: parse, call, reply."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from aiohttp import web

from chat_aio.actions.bans import require_unbanned
from chat_aio.errors import ChatError
from chat_aio.plugin_types.base import Plugin, PluginRequest, PluginRoute
from chat_aio.plugin_types.files import File, Redirect
from chat_aio.store.calls import paused
from chat_aio.web.app_keys import CONTEXT, USER_ID
from chat_aio.web.close_connection import stop_reading
from chat_aio.web.downloads import redirect, send_file
from chat_aio.web.operations import Method
from chat_aio.web.quotas import spend
from chat_aio.web.replies import reply_object
from chat_aio.web.request_body import read_object
from chat_aio.web.slow_requests import TRANSFER
from chat_aio.web.uploads import read_upload


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

    @property
    def errors(self) -> tuple[type[ChatError], ...]:
        return self.route.errors

    async def handle(self, request: web.Request) -> web.StreamResponse:
        context = request.app[CONTEXT]
        user_id = request[USER_ID]
        # Before the body is read: a request that cannot be read counts as well.
        if self.route.quota is not None:
            await spend(request, self.route.quota)
        async with context.rate_limits.counting(user_id, self.route.name):
            asked = PluginRequest(
                user_id=user_id, path=request.match_info, query=request.query, body={}
            )
            if self.route.max_upload_bytes is not None:
                return await self._take(request, asked, self.route.max_upload_bytes)
            if self.method != "GET":
                body = await read_object(
                    request,
                    limit=context.options.max_body_bytes,
                    turns=context.database.turns,
                    optional=True,
                )
                # They may have been banned in the meantime.
                await require_unbanned(context, user_id)
                asked = replace(asked, body=body)
            return await self._reply(request, await self.route.handler(asked))

    async def _take(
        self, request: web.Request, asked: PluginRequest, most: int
    ) -> web.StreamResponse:
        """Handle an upload. The rest of a refused one is not waited for."""
        request[TRANSFER] = True
        try:
            # It may take minutes, and each of its database calls as long as any.
            with paused():
                upload = await read_upload(request, most=most)
                answer = await self.route.handler(replace(asked, upload=upload))
        finally:
            if not request.content.at_eof():
                stop_reading(request)
        return await self._reply(request, answer)

    async def _reply(
        self, request: web.Request, answer: Mapping[str, object] | File | Redirect
    ) -> web.StreamResponse:
        if isinstance(answer, File):
            request[TRANSFER] = True
            return await send_file(request, answer)
        if isinstance(answer, Redirect):
            return redirect(request, answer)
        return reply_object(answer, status=self.route.status)


def operations_of(plugins: Iterable[Plugin]) -> Iterator[PluginOperation]:
    """The routes of the enabled plugins, which come after all others."""
    for plugin in plugins:
        for route in plugin.routes:
            yield PluginOperation(plugin, route)
