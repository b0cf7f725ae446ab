"""The command line of `scripts/screenshots`: the pictures of docs/images, taken anew."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from aiohttp import ClientSession, web
from playwright.async_api import Browser, Page, async_playwright, expect

from chat_aio.admin.session import run
from chat_aio.demo.application import make_demo
from pictures.scene import ME, OTHERS, Scene, empty

IMAGES = Path(__file__).parents[2] / "docs" / "images"
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {
    "viewport": {"width": 360, "height": 740},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
BOUND_SECONDS = 180
BROWSERS = ("chromium-headless-shell", "chromium")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--into", type=click.Path(path_type=Path), default=IMAGES, show_default=True)
@click.option("--mongo-url", help="A replica set to use; without it one is embedded.")
def main(into: Path, mongo_url: str | None) -> None:
    """Take the pictures of the demo's page: light, dark, on a phone, and the moderators' screen.

    It serves a demo of its own with sample people, and needs Chromium and fonts
    (apt-get install chromium-headless-shell fonts-inter fonts-noto-color-emoji).
    """
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        raise click.ClickException("no chromium on PATH: apt-get install chromium-headless-shell")
    into.mkdir(parents=True, exist_ok=True)
    run(asyncio.wait_for(_take(into, mongo_url, chromium), BOUND_SECONDS))


async def _take(into: Path, mongo_url: str | None, chromium: str) -> None:
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(_served(mongo_url))
        scene = Scene(url, await stack.enter_async_context(ClientSession()))
        await scene.prepare()
        playwright = await stack.enter_async_context(async_playwright())
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        stack.push_async_callback(browser.close)
        photographer = Photographer(browser, url, into)
        for user_id in OTHERS[:3]:
            await photographer.open(user_id)
        await _pictures(photographer, scene)


@asynccontextmanager
async def _served(mongo_url: str | None) -> AsyncIterator[str]:
    """A demo on a free port, over a database that is empty and goes when it is done."""
    with TemporaryDirectory(prefix="chat-pictures-") as data:
        app = await make_demo(
            data=Path(data), mongo_url=mongo_url, port=0, say=lambda _: None, samples=empty
        )
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=5)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


class Photographer:
    def __init__(self, browser: Browser, url: str, into: Path) -> None:
        self._browser = browser
        self._url = url
        self._into = into

    async def open(self, *place: str, scheme: Any = "light", size: Any = DESKTOP) -> Page:
        """The page of a person, who comes first in `place`."""
        options = {**size, "color_scheme": scheme, "reduced_motion": "reduce"}
        page = await self._browser.new_page(**options)
        await page.goto(f"{self._url}/#{'/'.join(place)}")
        await expect(page.locator("#status")).to_have_text("Live", timeout=15_000)
        return page

    async def shoot(self, page: Page, name: str) -> None:
        path = self._into / f"{name}.png"
        await page.wait_for_load_state("networkidle")
        await page.screenshot(path=path)
        click.echo(f"{path}  {path.stat().st_size // 1024} KiB")
        await page.close()


async def _pictures(photographer: Photographer, scene: Scene) -> None:
    page = await photographer.open(ME, scene.group_id, scene.thread_id)
    await _is_complete(page)
    await scene.type("grace")
    await expect(page.locator("#typing")).to_have_text("Grace is typing…")
    await photographer.shoot(page, "desktop-light")

    page = await photographer.open(ME, scene.group_id, "details", scheme="dark")
    await _is_complete(page)
    await photographer.shoot(page, "desktop-dark")

    page = await photographer.open(ME, scene.group_id, size=PHONE)
    await _is_complete(page)
    await photographer.shoot(page, "phone")

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
    """All that was said is there, and read, and it is seen who is here."""
    await expect(page.locator("#timeline .ticks[data-mark=read]:visible").last).to_be_visible()
    if await page.locator("#sidebar").is_visible():
        await expect(page.locator("#conversations .dot:visible")).to_have_count(2)
