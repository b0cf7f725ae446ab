"""The command line of `scripts/page-traces`."""

import asyncio
import json
import shutil
import time
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from aiohttp import ClientSession, web
from playwright.async_api import CDPSession, Page, async_playwright, expect

from chat_aio.admin.cli import main as chat_aio
from chat_aio.admin.session import run
from chat_aio.demo.application import make_demo
from chat_aio.embedded import Mongod
from pagetraces.loading import host_page, load
from pagetraces.mass import LONG_ID, ME, OTHERS, write
from pagetraces.tracing import first_paint_ms, heap_mib, nodes, scroll, traced

DATABASE = "chat_page_traces"
PIXELS = 30_000
SPEED = 3_000
BROWSERS = ("chromium-headless-shell", "chromium")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--conversations", default=10_000, show_default=True)
@click.option("--messages", default=100_000, show_default=True, help="In one of them.")
@click.option("--sent", default=3_000, show_default=True, help="While the heap is watched.")
@click.option(
    "--minutes", default=0, help="Send these over this time, not as fast as quotas allow."
)
def main(conversations: int, messages: int, sent: int, minutes: int) -> None:
    """Measure the cost of the demo's page: loading over a slow line (with that of a host), first
    paint, scrolling, and memory as messages arrive.

    Prints JSON lines. It needs Chromium, and takes some minutes, plus `--minutes`.
    """
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        raise click.ClickException("no chromium on PATH: apt-get install chromium-headless-shell")
    run(_measure(chromium, conversations, messages, sent, minutes * 60 / max(1, sent)))


async def _measure(
    chromium: str, conversations: int, messages: int, sent: int, pause: float
) -> None:
    async with AsyncExitStack() as stack:
        place = Path(stack.enter_context(TemporaryDirectory(prefix="chat-page-")))
        mongod = await stack.enter_async_context(Mongod(place / "data"))
        url = await _served(stack, place, mongod.url)
        await asyncio.to_thread(_fill, place / "mass.jsonl", mongod.url, conversations, messages)
        playwright = await stack.enter_async_context(async_playwright())
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        stack.push_async_callback(browser.close)
        host = await stack.enter_async_context(host_page(mongod.url, DATABASE, ME))
        for name, address, wanted in (
            ("host page, list", host, ".row"),
            ("host page, conversation", f"{host}?conversation={LONG_ID}", ".message"),
            ("demo page", f"{url}/#{ME}", ".row"),
        ):
            _say(f"loading, {name}", {"ms": await load(browser, address, wanted)})
        page = await browser.new_page(viewport={"width": 1280, "height": 900})
        await page.goto(f"{url}/#{ME}/{LONG_ID}")
        await expect(page.locator("#timeline .message").last).to_be_visible(timeout=30_000)
        _say("first paint", {"ms": await first_paint_ms(page)})
        session = await page.context.new_cdp_session(page)
        await _scrolling(session, page)
        http = await stack.enter_async_context(ClientSession())
        await _memory(session, page, f"{url}/api/chat", http, sent, pause)


async def _served(stack: AsyncExitStack, place: Path, mongo_url: str) -> str:
    app = await make_demo(
        data=place, mongo_url=mongo_url, port=0, say=lambda _: None, database=DATABASE
    )
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=5)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return f"http://127.0.0.1:{runner.addresses[0][1]}"


def _fill(file: Path, mongo_url: str, conversations: int, messages: int) -> None:
    write(file, conversations=conversations, messages=messages)
    at = ("--mongo-url", mongo_url, "--database", DATABASE)
    begun = time.monotonic()
    chat_aio(["conversations", "import", str(file), *at, "--json"], standalone_mode=False)
    _say("imported", {"seconds": round(time.monotonic() - begun)})


async def _scrolling(session: CDPSession, page: Page) -> None:
    """Up in the messages, down again, and down the list of conversations."""
    for name, where, pixels in (
        ("messages, up", "#timeline", PIXELS),
        ("messages, down", "#timeline", -PIXELS),
        ("conversations, down", "#list", -PIXELS),
        ("conversations, up", "#list", PIXELS),
    ):
        async with traced(session) as trace:
            await scroll(session, page, where, pixels=pixels, speed=SPEED)
        rows = await page.locator(f"{where} :is(.message, li)").count()
        _say(name, {**trace.summary(), "rows held": rows, "heap MiB": await heap_mib(session)})


async def _memory(
    session: CDPSession, page: Page, api: str, http: ClientSession, sent: int, pause: float
) -> None:
    """The heap while messages arrive in the open conversation and others, in ten steps."""
    others = [f"group-{number:05}" for number in range(0, 200, 10)]
    step = max(1, sent // 10)
    begun = time.monotonic()
    for number in range(sent + 1):
        await asyncio.sleep(begun + number * pause - time.monotonic())
        if number % step == 0:
            found = {"heap MiB": await heap_mib(session), "nodes": await nodes(session)}
            _say("messages received", {"count": number, **found})
        place = LONG_ID if number % 2 else others[number // 2 % len(others)]
        await _send(api, http, OTHERS[number % len(OTHERS)], place, f"live {number}")


async def _send(api: str, http: ClientSession, user_id: str, place: str, body: str) -> None:
    """Send a message, waiting as long as a quota requires."""
    path = f"{api}/conversations/{place}/messages"
    while True:
        async with http.post(path, params={"as": user_id}, json={"body": body}) as answer:
            if answer.status != 429:
                answer.raise_for_status()
                return
            await asyncio.sleep(float(answer.headers["Retry-After"]))


def _say(name: str, figures: dict[str, Any]) -> None:
    click.echo(json.dumps({"what": name, **figures}))
