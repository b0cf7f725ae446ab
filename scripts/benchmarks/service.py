"""A service process: an aiohttp app with the chat mounted, and an empty handler as a floor."""

import asyncio
import json
import signal
import sys
from collections.abc import Iterable
from typing import Any

from aiohttp import web
from pymongo import AsyncMongoClient

from benchmarks.loops import run
from chat_aio import Chat, Options
from chat_aio.admin.cli import spare_the_collector
from chat_aio.capabilities import Capability
from chat_aio.plugins import Attachments, Drafts

LARGEST_FILE = 1024**3


async def serve(
    mongo_url: str,
    database: str,
    *,
    without: Iterable[str],
    prefix_search: bool,
    extra_events: bool,
    inbox: bool,
) -> None:
    """Serve until SIGTERM, `without` some capabilities; prints its port once it accepts
    requests."""
    spare_the_collector()  # As chat-aio serve does.
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    client = AsyncMongoClient[dict[str, Any]](mongo_url)
    chat = Chat(
        client[database],
        auth=lambda request: {"id": request.headers["X-User"]},
        # The data loaded a moment ago need not be read as history: starting is not measured here.
        options=Options(
            replay_buffer_seconds=0,
            quotas=None,
            disabled_capabilities=frozenset(Capability[name] for name in without),
            prefix_search=prefix_search,
            extra_events=extra_events,
            inbox=inbox,
        ),
        plugins=[
            Drafts(lambda _: True),
            Attachments(max_bytes=LARGEST_FILE, bytes_per_day=10 * LARGEST_FILE),
        ],
    )
    app = web.Application()
    chat.mount(app, "/api/chat")
    app.router.add_post("/empty", answer_empty)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=2048).start()
    print(runner.addresses[0][1], flush=True)
    await stop.wait()
    await runner.cleanup()
    await client.close()


async def answer_empty(request: web.Request) -> web.Response:
    """The cost of any JSON API here: read an object, answer one."""
    await request.json()
    return web.json_response({"ok": True})


if __name__ == "__main__":
    mongo_url, database, loop, options = sys.argv[1:]
    run(serve(mongo_url, database, **json.loads(options)), loop)
