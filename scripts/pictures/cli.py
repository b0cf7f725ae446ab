"""The command line of `scripts/screenshots`: takes the pictures of docs/images again."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from aiohttp import ClientSession, web
from playwright.async_api import Page, async_playwright, expect

from chat_aio.admin.session import run
from chat_aio.demo.application import Samples, make_demo
from pictures.photographer import PHONE, Photographer
from pictures.scene import ME, OTHERS, Scene, empty
from pictures.tour import take_tour

IMAGES = Path(__file__).parents[2] / "docs" / "images"
BOUND_SECONDS = 180
BROWSERS = ("chromium-headless-shell", "chromium")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--into", type=click.Path(path_type=Path), default=IMAGES, show_default=True)
@click.option("--mongo-url", help="Replica set to use; by default an embedded one.")
def main(into: Path, mongo_url: str | None) -> None:
    """Take the pictures of the demo's page: light, dark, on a phone, and the moderators' screen.

    It serves a separate demo with sample users, and needs Chromium and fonts
    (apt-get install chromium-headless-shell fonts-inter fonts-noto-color-emoji).
    """
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        raise click.ClickException("no chromium on PATH: apt-get install chromium-headless-shell")
    into.mkdir(parents=True, exist_ok=True)
    run(asyncio.wait_for(_take(into, mongo_url, chromium), BOUND_SECONDS))


async def _take(into: Path, mongo_url: str | None, chromium: str) -> None:
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(ClientSession())
        playwright = await stack.enter_async_context(async_playwright())
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        stack.push_async_callback(browser.close)
        async with _served(mongo_url, "chat_tour", None) as url:
            await take_tour(Photographer(browser, url, into), Scene(url, http))
        async with _served(mongo_url, "chat_scene", empty) as url:
            scene = Scene(url, http)
            await scene.prepare()
            photographer = Photographer(browser, url, into)
            for user_id in OTHERS[:3]:
                await photographer.open(user_id)
            await _pictures(photographer, scene)


@asynccontextmanager
async def _served(
    mongo_url: str | None, database: str, samples: Samples | None
) -> AsyncIterator[str]:
    """A demo on a free port, with a separate database; `samples` None: the demo's story."""
    with TemporaryDirectory(prefix="chat-pictures-") as data:
        app = await make_demo(
            data=Path(data),
            mongo_url=mongo_url,
            port=0,
            say=lambda _: None,
            database=database,
            samples=samples,
        )
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=5)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


async def _pictures(photographer: Photographer, scene: Scene) -> None:
    page = await photographer.open(ME, scene.group_id, scene.thread_id)
    await _is_complete(page)
    await scene.type("grace")
    await expect(page.locator("#typing")).to_have_text("Grace is typing…")
    await photographer.shoot(page, "desktop-light")

    page = await photographer.open_host_page(ME, scene.group_id, scene.thread_id)
    await _is_complete(page)
    await photographer.shoot(page, "element-light")

    for open_page, dark, phone in (
        (photographer.open, "desktop-dark", "phone"),
        (photographer.open_host_page, "element-dark", "element-phone"),
    ):
        page = await open_page(ME, scene.group_id, "details", scheme="dark")
        await _is_complete(page)
        await photographer.shoot(page, dark)
        page = await open_page(ME, scene.group_id, size=PHONE)
        await _is_complete(page)
        await photographer.shoot(page, phone)

    page = await photographer.open(ME, "threads")
    await expect(page.locator("#threads li")).to_have_count(1)
    await photographer.shoot(page, "threads")

    page = await photographer.open(ME)
    await page.keyboard.press("Control+k")
    await page.keyboard.type("compil")
    await expect(page.locator("#palette-found li")).to_have_count(4)
    await photographer.shoot(page, "go-to")

    await scene.ban("dennis")
    page = await photographer.open(ME, "moderation")
    await expect(page.locator(".cases li")).to_have_count(3)
    await photographer.shoot(page, "moderation")


async def _is_complete(page: Page) -> None:
    """Wait until everything was sent and read, and shows who is online."""
    await expect(page.locator("#timeline .ticks[data-mark=read]:visible").last).to_be_visible()
    if await page.locator("#sidebar").is_visible():
        await expect(page.locator("#conversations .dot:visible")).to_have_count(2)
