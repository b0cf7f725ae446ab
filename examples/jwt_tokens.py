"""JSON Web Tokens: as a bearer token in requests, in the query string of the stream.

    pip install ../chat_aio PyJWT  # docs/start/installation.md
    TOKEN_KEY=$(openssl rand -hex 32) python examples/jwt_tokens.py
    TOKEN=$(curl -s -d '{"name": "ada"}' http://127.0.0.1:8000/login | jq -r .token)
    curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8000/api/chat/conversations
    curl -N "http://127.0.0.1:8000/api/chat/stream?access_token=$TOKEN"

A browser's EventSource cannot set headers, so its token is in the URL. URLs end up in logs:
therefore only the stream accepts a token there, and tokens are valid for a few minutes. An open
stream outlives its token. If it reconnects with an expired one, the answer is 401, and the page
makes another EventSource with a new token and `lastEventId`. chat.js does that; with
`streamWith: "fetch"` it sends the header for the stream, too.
"""

import os
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
from aiohttp import web
from pymongo import AsyncMongoClient

from chat_aio import Chat

KEY = os.environ["TOKEN_KEY"]
CHAT = "/api/chat"
STREAM = f"{CHAT}/stream"
GOOD_FOR = timedelta(minutes=10)


async def login(request: web.Request) -> web.Response:
    """Yours would ask for a password, or another service would issue the token."""
    name = (await request.json())["name"]
    claims = {"sub": name, "exp": datetime.now(UTC) + GOOD_FOR}
    return web.json_response({"token": jwt.encode(claims, KEY, algorithm="HS256")})


async def auth(request: web.Request) -> dict[str, str] | None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        token = request.query.get("access_token", "") if request.path == STREAM else ""
    try:
        claims = jwt.decode(token, KEY, algorithms=["HS256"], options={"require": ["exp", "sub"]})
    except jwt.InvalidTokenError:
        return None
    return {"id": claims["sub"]}


async def make_app() -> web.Application:
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
        os.environ.get("MONGO_URL", "mongodb://127.0.0.1:27017")
    )
    app = web.Application()
    app.router.add_post("/login", login)
    Chat(client.get_default_database("chat"), auth=auth).mount(app, CHAT)
    app.on_cleanup.append(lambda _: client.close())
    return app


if __name__ == "__main__":
    web.run_app(make_app(), host="127.0.0.1", port=8000, auto_decompress=False)
