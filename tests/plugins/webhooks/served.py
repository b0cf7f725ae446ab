"""The app of service processes that post to WEBHOOK_URL; their leases' holders are in `posters`."""

import os
from typing import Any

from aiohttp import web
from pymongo import AsyncMongoClient

from chat_aio import Chat, Options
from chat_aio.plugins import Webhooks
from tests.plugins.notifications.telling import worker_of


def make() -> web.Application:
    client = AsyncMongoClient[dict[str, Any]](os.environ["CHAT_AIO_MONGO_URL"])
    database = client[os.environ["CHAT_AIO_DATABASE"]]
    plugin = Webhooks(
        os.environ["WEBHOOK_URL"],
        os.environ["WEBHOOK_SECRET"],
        lease_seconds=1.5,
        timeout_seconds=1.0,
        max_attempts=30,
        retry_backoff_seconds=0.01,
    )
    chat = Chat(
        database,
        auth=lambda request: {"id": request.headers.get("X-User")},
        plugins=[plugin],
        options=Options(quotas=None, replay_buffer_seconds=5),
    )
    app = web.Application()
    chat.mount(app)

    async def note_holder(_: web.Application) -> None:
        row = {"_id": worker_of(plugin)._lease.holder, "pid": os.getpid()}
        await database["posters"].insert_one(row)

    async def close_client(_: web.Application) -> None:
        await client.close()

    app.on_startup.append(note_holder)
    app.on_cleanup.append(close_client)
    return app
