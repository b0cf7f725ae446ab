"""The clients that hosts may have."""

import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pymongo import AsyncMongoClient

from chat_aio.store.drivers import maybe_await

DRIVERS = ("pymongo", "motor")


@asynccontextmanager
async def connected(driver: str, mongo_url: str) -> AsyncIterator[Any]:
    """A client of PyMongo's async API, or of Motor."""
    client: Any
    if driver == "pymongo":
        client = AsyncMongoClient(mongo_url)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from motor.motor_asyncio import AsyncIOMotorClient

            client = AsyncIOMotorClient(mongo_url)
    try:
        yield client
    finally:
        await maybe_await(client.close())
