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
    """Write to the oplog when a change stream is closed."""
    stop = Changes.stop

    async def note(changes: Changes) -> None:
        with suppress(PyMongoError), pymongo.timeout(CLOSE_SECONDS):
            admin = changes._database.handle.client.admin
            await admin.command("appendOplogNote", 1, data={"closed": "a change stream"})

    def stopped(changes: Changes) -> None:
        is_first = not changes._stopped
        stop(changes)
        if is_first:
            changes._database.calls.leave(note(changes))

    monkeypatch.setattr(Changes, "stop", stopped)
