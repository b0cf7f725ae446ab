"""The files of `chat_aio/browser`, for pages of a host: chat.js, the store, the element."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from aiohttp import web

BROWSER = Path(__file__).parent.parent / "browser"
WORKER = "push-worker.js"
WORKER_HEADERS = {"Service-Worker-Allowed": "/"}
"""Its scope may be wider than its folder: the number at an app's icon is set within the scope."""


def add_browser_files(app: web.Application, path: str = "/chat-aio") -> None:
    """Serve the chat's JavaScript below `path`: `element.js`, `chat-store.js`, `chat.js` and what
    they import (docs/guides/chat-js.md), and `push-worker.js`. Your middleware decides who may read
    these files; nothing in them is secret."""
    for file in sorted(BROWSER.rglob("*.js")):
        name = file.relative_to(BROWSER).as_posix()
        headers = WORKER_HEADERS if name == WORKER else {}
        answer = _File(file.read_bytes(), headers).answer
        app.router.add_get(f"{path.rstrip('/')}/{name}", answer)


class _File:
    """One file, named by its content: processes and machines that serve it agree on its ETag."""

    def __init__(self, content: bytes, headers: Mapping[str, str]) -> None:
        self._content = content
        self._headers = headers
        self._etag = sha256(content).hexdigest()[:32]

    async def answer(self, request: web.Request) -> web.Response:
        known = request.if_none_match or ()
        if any(etag.value in (self._etag, "*") for etag in known):
            response = web.Response(status=304)
        else:
            response = web.Response(
                body=self._content, content_type="text/javascript", charset="utf-8"
            )
        response.etag = self._etag
        response.headers.update(self._headers)
        # Asked for each time: modules of two versions would not fit together.
        response.headers["Cache-Control"] = "no-cache"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response
