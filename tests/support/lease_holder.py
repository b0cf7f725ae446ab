"""A process that works while it holds a lease, and writes each step in a line."""

import asyncio
import sys
from contextlib import suppress
from typing import Any

from pymongo import AsyncMongoClient

from chat_aio import Chat, LeaseLost
from chat_aio.actions import leases

SECONDS = 1.5
LOOKS = 15
"""Within that time: who waits takes it soon after it is free."""


def write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def work(mongo_url: str, database: str) -> None:
    async with (
        AsyncMongoClient[dict[str, Any]](mongo_url) as client,
        Chat(client[database]) as chat,
    ):
        steps = client[database]["steps"]
        while True:
            with suppress(LeaseLost):
                async with chat.lease("work", seconds=SECONDS) as lease:
                    announced = False
                    while True:
                        lease.require()
                        # As the guide does it: no step of an old holder comes after a later one's.
                        step = {"$push": {"fences": lease.fence}, "$set": {"last": lease.fence}}
                        await steps.update_one({"_id": 1, "last": {"$lte": lease.fence}}, step)
                        if not announced:  # Only now: the test may stop this process at once.
                            write(f"held {lease.fence}")
                            announced = True
                        await asyncio.sleep(0.01)
            write("lost")


if __name__ == "__main__":
    leases.RENEWALS = LOOKS
    asyncio.run(work(*sys.argv[1:]))
