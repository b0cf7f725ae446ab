"""The app that `chat-aio serve` runs: its own chat (`standalone.py`), or a host's app."""

import importlib
import inspect
import os
import sys
from contextlib import suppress

from aiohttp import web

from chat_aio.actions.rate_limits import rate_limits_from
from chat_aio.chat import limited_methods
from chat_aio.errors import SetupError
from chat_aio.server.settings import ServeSettings
from chat_aio.server.standalone import make_standalone, notifications_of, plugins_of
from chat_aio.web.health import add_health
from chat_aio.web.openapi.routes import add_openapi
from chat_aio.web.security_headers import hide_server


def require_rate_limits(settings: ServeSettings) -> None:
    """Raise ValueError for rate limits that cannot be; SetupError without the package `limits`."""
    plugins = [*plugins_of(settings), *notifications_of(settings)]
    methods = set(limited_methods(plugins))
    rate_limits_from(settings.options.rate_limits, methods=methods)


async def make_served(settings: ServeSettings) -> web.Application:
    app = await _made_by(settings.app) if settings.app else make_standalone(settings)
    app.on_response_prepare.append(hide_server)
    add_health(app)
    add_openapi(app)
    if settings.metrics is not False:
        # Without the extra `metrics` there is no /metrics.
        with suppress(ImportError):
            from chat_aio.web.metrics import add_metrics

            add_metrics(app)
    return app


async def _made_by(place: str) -> web.Application:
    """The app that `module:factory` makes; the factory may be async. Raises SetupError."""
    module_name, _, name = place.partition(":")
    # The app is found where the command is given; a console script does not look there by itself.
    if (here := os.getcwd()) not in sys.path:
        sys.path.insert(0, here)
    try:
        factory = getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SetupError(f"--app {place}: {error}") from error
    made = factory()
    app = await made if inspect.isawaitable(made) else made
    if not isinstance(app, web.Application):
        raise SetupError(f"--app {place} made a {type(app).__name__}, not an aiohttp Application")
    return app
