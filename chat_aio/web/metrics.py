"""/metrics, outside the mount, for Prometheus to scrape."""

import asyncio
import os

from aiohttp import web
from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector

from chat_aio.observability.multiprocess import FOLDER
from chat_aio.web.mounts import METRICS, add_beside


def add_metrics(app: web.Application, registry: CollectorRegistry = REGISTRY) -> None:
    """Add the route to an app; one of the app's own stays. If several processes are measured
    together, it answers for all of them."""

    async def answer(request: web.Request) -> web.Response:
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        if FOLDER in os.environ:
            together = CollectorRegistry()
            MultiProcessCollector(together)  # type: ignore[no-untyped-call]
            # In a thread, because this reads the files of all processes.
            text = await asyncio.to_thread(encode, together)
        else:
            text = encode(registry)
        return web.Response(body=text, headers={"Content-Type": content_type})

    add_beside(app, METRICS, answer)
