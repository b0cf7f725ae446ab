"""/openapi.json and /openapi, outside the mount, for authors of clients."""

import asyncio
import json
from functools import cache

from aiohttp import web

from chat_aio.web.app_keys import CONTEXT
from chat_aio.web.mounts import add_beside, chats_in
from chat_aio.web.openapi.document import describe
from chat_aio.web.openapi.page import page_of
from chat_aio.web.security_headers import UNFRAMED

PAGE, DOCUMENT = "/openapi", "/openapi.json"
# The page has its style inside, and no scripts: nothing else may be loaded or run.
NOTHING_FROM_ELSEWHERE = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


def add_openapi(app: web.Application) -> None:
    """Add both routes to an app, describing the chat mounted there, or the first of several. A
    route of the app's own stays."""
    place, chat = next(iter(chats_in(app).items()), ("", None))
    if chat is None:
        return
    api = chat[CONTEXT]

    # Made on the first request, which most processes never get; in a thread, as it takes long.
    @cache
    def texts() -> tuple[str, str]:
        document = describe(
            plugins=api.plugins,
            options=api.options,
            can_delete=api.permissions.can_delete is not None,
            can_send_silently=api.permissions.can_send_silently is not None,
            mount=place,
        )
        return json.dumps(document), page_of(document)

    async def show_document(_: web.Request) -> web.Response:
        document, _page = await asyncio.to_thread(texts)
        return web.Response(text=document, content_type="application/json")

    async def show_page(_: web.Request) -> web.Response:
        _document, page = await asyncio.to_thread(texts)
        headers = {"Content-Security-Policy": NOTHING_FROM_ELSEWHERE, **UNFRAMED}
        return web.Response(text=page, content_type="text/html", headers=headers)

    add_beside(app, DOCUMENT, show_document)
    add_beside(app, PAGE, show_page)
