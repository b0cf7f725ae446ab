"""The sub-application: the route table, the middleware and the response headers."""

from aiohttp import web

from chat_aio.actions.context import Context
from chat_aio.actions.rate_limits import Limits, limits_of
from chat_aio.live.service import Live
from chat_aio.web.app_keys import AUTH, CONTEXT, DOWNLOADS, LIVE, QUOTAS, STREAMS, Auth
from chat_aio.web.middleware import add_headers, respond
from chat_aio.web.open_downloads import OpenDownloads
from chat_aio.web.operations import Streaming
from chat_aio.web.optional_routes import routes_with
from chat_aio.web.plugins import operations_of
from chat_aio.web.stream_connection import StreamConnections

__all__ = ["Auth", "make_application"]


def make_application(context: Context, live: Live, auth: Auth) -> web.Application:
    """Make the app to mount. It answers on every path and accepts a trailing slash."""
    app = web.Application(middlewares=[respond])
    app[CONTEXT], app[LIVE], app[AUTH] = context, live, auth
    app[STREAMS] = StreamConnections()
    options = context.options
    app[DOWNLOADS] = OpenDownloads(
        per_user=options.downloads_per_user, buffer_bytes=options.download_buffer_bytes
    )
    if options.quotas is not None:
        app[QUOTAS] = Limits(limits_of(options.quotas))
    app.on_response_prepare.append(add_headers)
    routes = routes_with(
        options,
        context.plugins,
        can_delete=context.permissions.can_delete is not None,
        can_send_silently=context.permissions.can_send_silently is not None,
    )
    for operation in (*routes, *operations_of(context.plugins)):
        # Ids may contain braces, and a slash may follow.
        path = operation.path.replace("}", ":[^/]+}") + "{_slash:/?}"
        app.router.add_route(operation.method, path, operation.handle)
        # HEAD on the stream would open one and never end.
        if operation.method == "GET" and not isinstance(operation, Streaming):
            app.router.add_route("HEAD", path, operation.handle)
    return app
