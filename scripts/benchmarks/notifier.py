"""A process that decides about notifications and delivers them to nobody: row P19.

It prints `ready` once it follows the messages. For each line `wait COUNT` it answers when it has
delivered `COUNT` in all.
"""

import asyncio
import sys
from typing import Any

from pymongo import AsyncMongoClient

from benchmarks.loops import run
from chat_aio import Chat, Options
from chat_aio.plugins import Notification, Notifications

DELAY_SECONDS = 0.5


class Counted:
    """A `deliver` that only counts."""

    def __init__(self) -> None:
        self.count = 0
        self.more = asyncio.Event()

    async def __call__(self, _: Notification) -> None:
        self.count += 1
        self.more.set()

    async def wait_for(self, count: int) -> None:
        while self.count < count:
            self.more.clear()
            await self.more.wait()


async def serve(mongo_url: str, database: str) -> None:
    client = AsyncMongoClient[dict[str, Any]](mongo_url)
    delivered = Counted()
    plugin = Notifications(delivered, delay_seconds=DELAY_SECONDS)
    async with Chat(client[database], plugins=[plugin], options=Options(replay_buffer_seconds=0)):
        followed = {"_id": "notifications", "token": {"$type": "object"}}
        while await client[database]["settings"].find_one(followed) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        print("ready", flush=True)
        lines = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        while line := await lines.readline():
            await delivered.wait_for(int(line.split()[1]))
            print(delivered.count, flush=True)
    await client.close()


if __name__ == "__main__":
    run(serve(sys.argv[1], sys.argv[2]), sys.argv[3])
