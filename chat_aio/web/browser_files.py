"""The files of `chat_aio/browser`, for pages of a host: chat.js, the store, the element."""

from collections.abc import Mapping
from pathlib import Path

from aiohttp import web

from chat_aio.web.bundle import bundled
from chat_aio.web.static_file import ASKED, KEPT, StaticFile

BROWSER = Path(__file__).parent.parent / "browser"
ELEMENT = "element.js"
RENEWED = {"Cache-Control": "max-age=0, stale-while-revalidate=86400"}
"""A page uses the element as it was last loaded, and the browser asks for a newer one for the next
page."""
WORKER = "push-worker.js"
WORKER_HEADERS = {"Service-Worker-Allowed": "/"}
"""Its scope may be wider than its folder: the number at an app's icon is set within the scope."""


def add_browser_files(app: web.Application, path: str = "/chat-aio") -> None:
    """Serve the chat's JavaScript below `path`: `element.js`, `chat-store.js`, `chat.js` and what
    they import (docs/guides/chat-js.md), and `push-worker.js`. Your middleware decides who may read
    these files; nothing in them is secret. The element is one file, and parts that it loads when
    they are needed."""
    root = path.rstrip("/")
    bundle = bundled(BROWSER / ELEMENT, "./bundle")
    files = {f"bundle/{name}": _script(text.encode(), KEPT) for name, text in bundle.files.items()}
    for source in sorted(BROWSER.rglob("*.js")):
        name = source.relative_to(BROWSER).as_posix()
        headers = WORKER_HEADERS if name == WORKER else {}
        files[name] = _script(source.read_bytes(), {**ASKED, **headers})
    files[ELEMENT] = _script(bundle.core.encode(), RENEWED)
    for name, file in files.items():
        app.router.add_get(f"{root}/{name}", file.answer)


def _script(content: bytes, headers: Mapping[str, str]) -> StaticFile:
    return StaticFile(content, "text/javascript", headers)
