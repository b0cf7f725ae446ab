"""The files of `chat_aio/browser`, for pages of a host: chat.js, the store, the element."""

import gzip
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from aiohttp import web

from chat_aio.web.bundle import module_of, named

BROWSER = Path(__file__).parent.parent / "browser"
ELEMENT = "element.js"
WORKER = "push-worker.js"
WORKER_HEADERS = {"Service-Worker-Allowed": "/"}
"""Its scope may be wider than its folder: the number at an app's icon is set within the scope."""

ASKED = {"Cache-Control": "no-cache"}
"""Asked for each time: modules of two versions would not fit together."""
KEPT = {"Cache-Control": "max-age=31536000, immutable"}
"""The name has a hash of the content."""


def add_browser_files(app: web.Application, path: str = "/chat-aio") -> None:
    """Serve the chat's JavaScript below `path`: `element.js`, `chat-store.js`, `chat.js` and what
    they import (docs/guides/chat-js.md), and `push-worker.js`. Your middleware decides who may read
    these files; nothing in them is secret. The element is one file, which browsers keep."""
    root = path.rstrip("/")
    bundle = module_of(BROWSER / ELEMENT)
    bundled = named("element", "js", bundle)
    app.router.add_get(f"{root}/bundle/{bundled}", _File(bundle.encode(), KEPT).answer)
    for file in sorted(BROWSER.rglob("*.js")):
        name = file.relative_to(BROWSER).as_posix()
        content = file.read_bytes()
        if name == ELEMENT:
            content = f'export * from "./bundle/{bundled}";\n'.encode()
        headers = WORKER_HEADERS if name == WORKER else {}
        app.router.add_get(f"{root}/{name}", _File(content, {**ASKED, **headers}).answer)


class _File:
    """One file, named by its content: processes and machines that serve it agree on its ETag."""

    def __init__(self, content: bytes, headers: Mapping[str, str]) -> None:
        self._content = content
        self._packed = gzip.compress(content, mtime=0)
        self._headers = {**headers, "Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff"}
        self._etag = sha256(content).hexdigest()[:32]

    async def answer(self, request: web.Request) -> web.Response:
        known = request.if_none_match or ()
        if any(etag.value in (self._etag, "*") for etag in known):
            response = web.Response(status=304)
        else:
            is_packed = "gzip" in request.headers.get("Accept-Encoding", "")
            response = web.Response(
                body=self._packed if is_packed else self._content,
                content_type="text/javascript",
                charset="utf-8",
                headers={"Content-Encoding": "gzip"} if is_packed else None,
            )
        response.etag = self._etag
        response.headers.update(self._headers)
        return response
