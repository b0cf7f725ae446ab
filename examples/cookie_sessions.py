"""Cookie sessions: the host has its own login, and logged-in users can use the chat.

    pip install ../chat_aio aiohttp-session cryptography  # docs/start/installation.md
    python examples/cookie_sessions.py
    curl -c jar -d '{"name": "ada"}' http://127.0.0.1:8000/login
    curl -b jar http://127.0.0.1:8000/api/chat/conversations

MONGO_URL names the replica set. SESSION_KEY (32 bytes in base64) must survive restarts and be the
same in all processes. A browser sends the cookie with requests of other sites' pages too;
`allowed_origins` refuses those. Behind HTTPS add `secure=True`.
"""

import os
from typing import Any

from aiohttp import web
from aiohttp_session import get_session, new_session, setup
from aiohttp_session.cookie_storage import EncryptedCookieStorage
from cryptography.fernet import Fernet
from pymongo import AsyncMongoClient

from chat_aio import Chat, Options

ORIGIN = os.environ.get("ORIGIN", "http://127.0.0.1:8000")


async def login(request: web.Request) -> web.Response:
    """Yours would ask for a password."""
    session = await new_session(request)
    session["user_id"] = (await request.json())["name"]
    return web.json_response({"ok": True})


async def logout(request: web.Request) -> web.Response:
    (await get_session(request)).invalidate()
    return web.json_response({"ok": True})


async def auth(request: web.Request) -> dict[str, str] | None:
    session = await get_session(request)
    return {"id": session["user_id"]} if "user_id" in session else None


async def make_app() -> web.Application:
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
        os.environ.get("MONGO_URL", "mongodb://127.0.0.1:27017")
    )
    key = Fernet(os.environ.get("SESSION_KEY") or Fernet.generate_key())
    app = web.Application()
    setup(app, EncryptedCookieStorage(key, httponly=True, samesite="Lax"))
    app.add_routes([web.post("/login", login), web.post("/logout", logout)])
    options = Options(allowed_origins=(ORIGIN,))
    Chat(client.get_default_database("chat"), auth=auth, options=options).mount(app)
    app.on_cleanup.append(lambda _: client.close())
    return app


if __name__ == "__main__":
    web.run_app(make_app(), host="127.0.0.1", port=8000, auto_decompress=False)
