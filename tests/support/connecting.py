"""A mend of PyMongo for test runs, in which every warning is an error.

Where a task is cancelled while PyMongo connects for it, as a test's server does when a client
leaves, the socket is left to the garbage collector, which complains during some later test.
"""

import asyncio
import socket
from traceback import walk_tb
from typing import Any

import pytest
from pymongo import pool_shared


def close_what_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have connections closed whose making is cancelled."""
    connect = pool_shared._async_create_connection

    async def connected(*given: Any) -> socket.socket:
        try:
            return await connect(*given)
        except asyncio.CancelledError as cancelled:
            for frame, _ in walk_tb(cancelled.__traceback__):
                if isinstance(made := frame.f_locals.get("sock"), socket.socket):
                    made.close()
            raise

    monkeypatch.setattr(pool_shared, "_async_create_connection", connected)
