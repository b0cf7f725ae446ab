"""The files of `chat_aio/browser`, for pages of a host: chat.js, the store, the element."""

from hashlib import sha256
from pathlib import Path

from aiohttp import web

BROWSER = Path(__file__).parent.parent / "browser"


def add_browser_files(app: web.Application, path: str = "/chat-aio") -> None:
    """Serve the chat's JavaScript below `path`: `element.js`, `chat-store.js`, `chat.js` and what
    they import (docs/chat-js.md). Anybody may read these files."""
    files = {
        each.relative_to(BROWSER).as_posix(): _File(each.read_bytes())
        for each in BROWSER.rglob("*.js")
    }

    async def answer(request: web.Request) -> web.Response:
        file = files.get(request.match_info["name"])
        if file is None:
            raise web.HTTPNotFound
        return file.answer(request)

    app.router.add_get(f"{path.rstrip('/')}/{{name:.+}}", answer)


class _File:
    """One file, named by its content: processes and machines that serve it agree on its ETag."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._etag = sha256(content).hexdigest()[:32]

    def answer(self, request: web.Request) -> web.Response:
        known = request.if_none_match or ()
        is_known = any(each.value in (self._etag, "*") for each in known)
        response = web.Response(status=304) if is_known else web.Response(body=self._content)
        if not is_known:
            response.content_type, response.charset = "text/javascript", "utf-8"
        response.etag = self._etag
        # Asked for each time: modules of two versions would not fit together.
        response.headers["Cache-Control"] = "no-cache"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response
