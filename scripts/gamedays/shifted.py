"""The app of a process whose chat uses a clock that the game changes."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aiohttp import web
from pymongo import AsyncMongoClient

from chat_aio import Chat, Options
from chat_aio.observability.metrics import Metrics

AHEAD = "ahead"
"""The file, in the game's folder, with the seconds by which the clock is ahead."""


def now() -> datetime:
    file = Path(os.environ["GAME_FOLDER"]) / AHEAD
    ahead = float(file.read_text() or 0) if file.exists() else 0.0
    at = datetime.now(UTC) + timedelta(seconds=ahead)
    return at.replace(microsecond=at.microsecond // 1_000 * 1_000)


async def make_app() -> web.Application:
    client = AsyncMongoClient[dict[str, Any]](os.environ["CHAT_AIO_MONGO_URL"])
    chat = Chat(
        client[os.environ["CHAT_AIO_DATABASE"]],
        auth=lambda request: {"id": request.headers["X-User"]},
        options=Options(quotas=None),
        observers=[Metrics()],
        clock=now,
    )
    app = web.Application()
    chat.mount(app)

    async def closed(_: web.Application) -> None:
        await client.close()

    app.on_cleanup.append(closed)
    return app
