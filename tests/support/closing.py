"""A mend of MongoDB 6 for test runs, in which a chat is closed a thousand times.

A read that waits for changes ends with the next write of the whole server, or after 0.4 s, also
where its cursor has been killed. So something is written.
"""

from contextlib import suppress

import pymongo
import pytest
from pymongo.errors import PyMongoError

from chat_aio.store.change_stream import CLOSE_SECONDS, Changes


def end_reads_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write to the oplog when a change stream has been closed."""
    close = Changes._close

    async def closed(changes: Changes) -> None:
        await close(changes)
        with suppress(PyMongoError), pymongo.timeout(CLOSE_SECONDS):
            admin = changes._database.handle.client.admin
            await admin.command("appendOplogNote", 1, data={"closed": "a change stream"})

    monkeypatch.setattr(Changes, "_close", closed)
