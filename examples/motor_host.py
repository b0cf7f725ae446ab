"""A host that still runs on Motor: its own collections and the chat over one client.

    pip install '../chat_aio[motor]'  # docs/start/installation.md
    python examples/motor_host.py
    curl -H 'X-User: ada' http://127.0.0.1:8000/profile
    curl -H 'X-User: ada' http://127.0.0.1:8000/api/chat/conversations

The header stands in for your login. The profile counts the user's messages in the chat's own
collection: its documents are described in docs/reference/data-model.md, and hosts may read them.
"""

import os
from typing import Any

from aiohttp import web
from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorDatabase

from chat_aio import Chat

DATABASE = web.AppKey("DATABASE", AsyncIOMotorDatabase[dict[str, Any]])


async def auth(request: web.Request) -> dict[str, str] | None:
    user_id = request.headers.get("X-User")
    return {"id": user_id} if user_id else None


async def profile(request: web.Request) -> web.Response:
    database, user_id = request.app[DATABASE], request.headers["X-User"]
    await database["profiles"].update_one({"_id": user_id}, {"$inc": {"visits": 1}}, upsert=True)
    found = await database["profiles"].find_one({"_id": user_id}) or {}
    sent = await database["messages"].count_documents({"senderId": user_id})
    return web.json_response({"visits": found["visits"], "messages": sent})


async def make_app() -> web.Application:
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(
        os.environ.get("MONGO_URL", "mongodb://127.0.0.1:27017")
    )
    app = web.Application()
    app[DATABASE] = client.get_default_database("chat")
    app.router.add_get("/profile", profile)
    Chat(app[DATABASE], auth=auth).mount(app)

    async def close(_: web.Application) -> None:
        client.close()

    app.on_cleanup.append(close)
    return app


if __name__ == "__main__":
    web.run_app(make_app(), host="127.0.0.1", port=8000, auto_decompress=False)
