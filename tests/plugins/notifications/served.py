"""The app of service processes that notify: each notification becomes a row of `told`."""

import os
import random
from datetime import UTC, datetime
from typing import Any

from aiohttp import web
from pymongo import AsyncMongoClient

from chat_aio import Chat, Options
from chat_aio.plugins import Notification, Notifications

DELAY_SECONDS = 2.0
LEASE_SECONDS = 1.5
FAILS = 0.1


def make() -> web.Application:
    """A chat over CHAT_AIO_MONGO_URL, whose deliveries fail now and then."""
    client = AsyncMongoClient[dict[str, Any]](os.environ["CHAT_AIO_MONGO_URL"])
    database = client[os.environ["CHAT_AIO_DATABASE"]]

    async def deliver(notification: Notification) -> None:
        if random.random() < FAILS:
            raise ConnectionError
        row = {
            "userId": notification.user_id,
            "conversationId": notification.message.conversation_id,
            "seq": notification.message.seq,
            "id": notification.id,
            "at": datetime.now(UTC),
            "pid": os.getpid(),
        }
        await database["told"].insert_one(row)

    plugin = Notifications(
        deliver,
        delay_seconds=DELAY_SECONDS,
        lease_seconds=LEASE_SECONDS,
        retry_backoff_seconds=0.2,
    )
    chat = Chat(
        database,
        auth=lambda request: {"id": request.headers.get("X-User")},
        plugins=[plugin],
        options=Options(quotas=None, replay_buffer_seconds=5),
    )
    app = web.Application()
    chat.mount(app)

    async def close_client(_: web.Application) -> None:
        await client.close()

    app.on_cleanup.append(close_client)
    return app
