"""A chat in your pages: as an element, in a page of your own, and with React.

    pip install ../chat_aio  # docs/start/installation.md
    apt-get install --no-install-recommends node-react node-react-dom  # for the page with React
    python examples/chat_in_pages.py

Open http://127.0.0.1:8000/login?name=ada, and in another browser the same as grace. MONGO_URL names
the replica set. The pages are in examples/browser; REACT is the folder of React's files, which a
page of yours would get from its bundler.
"""

import base64
import hashlib
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from aiohttp import web
from pymongo import AsyncMongoClient

from chat_aio import Chat, Hooks, Options, Profile, add_browser_files
from chat_aio.plugins import Attachments, Typing

PAGES = Path(__file__).parent / "browser"
REACT = Path(os.environ.get("REACT", "/usr/share/nodejs"))
NAMES = {"ada": "Ada Lovelace", "grace": "Grace Hopper"}
ORIGINS = tuple(os.environ.get("ORIGINS", "http://127.0.0.1:8000").split(","))
STRICT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Nothing from elsewhere, no scripts and styles within the page, no text that becomes HTML."""

logins: dict[str, str] = {}


async def login(request: web.Request) -> web.Response:
    """Yours would ask for a password."""
    name = request.query.get("name", "")
    if name not in NAMES:
        raise web.HTTPForbidden
    key = secrets.token_urlsafe()
    logins[key] = name
    response = web.Response(status=303, headers={"Location": "/plain.html"})
    response.set_cookie("login", key, httponly=True, samesite="Lax")
    return response


def user_of(request: web.Request) -> str | None:
    return logins.get(request.cookies.get("login", ""))


async def auth(request: web.Request) -> dict[str, str] | None:
    user_id = user_of(request)
    return {"id": user_id} if user_id else None


async def profiles(user_ids: Sequence[str]) -> Mapping[str, Profile]:
    return {user_id: Profile(name=NAMES[user_id]) for user_id in user_ids if user_id in NAMES}


async def page(request: web.Request) -> web.StreamResponse:
    """A page for whoever is logged in, and the scripts of the pages."""
    user_id, file = user_of(request), PAGES / request.match_info["name"]
    if file.suffix != ".html":
        return web.FileResponse(file) if file.is_file() else web.Response(status=404)
    if user_id is None or not file.is_file():
        return web.Response(status=404)
    text = file.read_text().replace("{{ user }}", escape(user_id))
    headers = {"Content-Security-Policy": allowing_imports(text)}
    return web.Response(text=text, content_type="text/html", headers=headers)


def allowing_imports(text: str) -> str:
    """The policy for a page: of all that is written within it, only its import map, by its hash."""
    found = re.search(r'<script type="importmap">(.*?)</script>', text)
    if found is None:
        return STRICT
    digest = base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()
    return STRICT.replace("script-src 'self'", f"script-src 'self' 'sha256-{digest}'")


async def react(request: web.Request) -> web.FileResponse:
    name = request.match_info["name"]
    return web.FileResponse(REACT / name / "umd" / f"{name}.production.min.js")


async def make_app() -> web.Application:
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
        os.environ.get("MONGO_URL", "mongodb://127.0.0.1:27017")
    )
    app = web.Application()
    chat = Chat(
        client.get_default_database("chat"),
        auth=auth,
        hooks=Hooks(profiles=profiles),
        options=Options(allowed_origins=ORIGINS),
        plugins=[Typing(), Attachments()],
    )
    chat.mount(app)
    add_browser_files(app, "/chat-aio")
    app.router.add_get("/login", login)
    app.router.add_get(r"/{name:[\w-]+\.(?:html|js|css)}", page)
    app.router.add_get(r"/umd/{name:react|react-dom}.js", react)
    app.on_cleanup.append(lambda _: client.close())
    return app


if __name__ == "__main__":
    web.run_app(make_app(), host="127.0.0.1", port=8000, auto_decompress=False)
