"""Several workers under gunicorn, each with its own event loop and MongoDB client.

    pip install '../chat_aio[gunicorn]'  # docs/start/installation.md
    gunicorn --chdir examples -k aiohttp.GunicornWebWorker -w 2 -b 127.0.0.1:8000 \
        --graceful-timeout 5 gunicorn_workers:make_app
    curl -H 'X-User: ada' http://127.0.0.1:8000/api/chat/conversations

The async factory makes the app in each worker: a client made before the fork would belong to no
worker's event loop. A message sent through one worker is delivered by all of them. The header
stands in for your login.
"""

import os
from typing import Any

from aiohttp import web
from pymongo import AsyncMongoClient

from chat_aio import Chat


async def auth(request: web.Request) -> dict[str, str] | None:
    user_id = request.headers.get("X-User")
    return {"id": user_id} if user_id else None


async def whose(_: web.Request) -> web.Response:
    """Says which worker has answered."""
    return web.json_response({"worker": os.getpid()})


async def make_app() -> web.Application:
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
        os.environ.get("MONGO_URL", "mongodb://127.0.0.1:27017")
    )
    app = web.Application()
    app.router.add_get("/worker", whose)
    Chat(client.get_default_database("chat"), auth=auth).mount(app)
    app.on_cleanup.append(lambda _: client.close())
    return app
