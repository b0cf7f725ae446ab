"""The app of the service processes: little patience, bans, and as much memory as is asked for."""

import os
from typing import Any

from aiohttp import web
from pymongo import AsyncMongoClient

from chat_aio import Chat, Hooks, Options

STORAGE_SECONDS = 3.0
STALL_SECONDS = 2.0
MODERATOR = "moderator"


def make() -> web.Application:
    """A chat over CHAT_AIO_MONGO_URL; `CHAOS_MEMORY` is how many events it remembers, and half of
    that the most it replays."""
    client = AsyncMongoClient[dict[str, Any]](os.environ["CHAT_AIO_MONGO_URL"])
    memory = int(os.environ["CHAOS_MEMORY"])
    chat = Chat(
        client[os.environ["CHAT_AIO_DATABASE"]],
        auth=lambda request: {"id": request.headers.get("X-User")},
        hooks=Hooks(can_moderate=lambda asked: asked.user_id == MODERATOR),
        options=Options(
            quotas=None,
            storage_timeout_seconds=STORAGE_SECONDS,
            change_stream_timeout_seconds=STALL_SECONDS,
            heartbeat_interval_ms=1_000,
            replay_buffer_seconds=10,
            replay_buffer_events=memory,
            replay_limit=memory // 2,
        ),
    )
    app = web.Application()
    chat.mount(app)

    async def close_client(_: web.Application) -> None:
        await client.close()

    app.on_cleanup.append(close_client)
    return app
