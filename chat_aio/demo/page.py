"""The demo's page: as a bundle, or with `/?modules` as the files that it is made of."""

import asyncio
from pathlib import Path

from aiohttp import web

from chat_aio.demo.bundle import Bundle, bundled
from chat_aio.web.browser_files import BROWSER

STATIC = Path(__file__).parent / "static"
GUIDE = "integration.md"


def add_page(app: web.Application) -> None:
    """Serve the page at `/`."""
    app.router.add_get("/", page)
    app.router.add_get("/bundle/{name}", bundle_file)
    app.router.add_get("/mount", mount)
    app.router.add_get(f"/{GUIDE}", guide)
    # Requested by a resource that is no page, such as a picture in a separate window.
    app.router.add_get("/favicon.ico", icon)
    # The paths are as on the disk, for the modules' imports.
    app.router.add_static("/demo/static", STATIC)
    app.router.add_static("/browser", BROWSER)


async def mount(_: web.Request) -> web.FileResponse:
    return web.FileResponse(STATIC / "mount.html")


async def guide(_: web.Request) -> web.Response:
    """The document of how to mount a chat: in the installed package, else in the checkout."""
    packaged, own = STATIC.parent / GUIDE, STATIC.parents[2] / "docs" / "guides" / GUIDE
    text = await asyncio.to_thread((packaged if packaged.is_file() else own).read_text)
    return web.Response(text=text)


async def icon(_: web.Request) -> web.FileResponse:
    return web.FileResponse(STATIC / "icon.svg")


async def page(request: web.Request) -> web.StreamResponse:
    if "modules" in request.query:
        return web.FileResponse(STATIC / "index.html")
    return web.Response(text=(await _bundle()).page, content_type="text/html")


async def bundle_file(request: web.Request) -> web.Response:
    if (found := (await _bundle()).files.get(request.match_info["name"])) is None:
        raise web.HTTPNotFound
    return await found.answer(request)


async def _bundle() -> Bundle:
    return await asyncio.to_thread(bundled, STATIC, BROWSER)
