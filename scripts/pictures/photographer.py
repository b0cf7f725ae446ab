"""Opens the demo's page as a user, and takes pictures of it."""

from pathlib import Path
from typing import Any

import click
from playwright.async_api import Browser, Page, expect

DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {
    "viewport": {"width": 360, "height": 740},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}


class Photographer:
    def __init__(self, browser: Browser, url: str, into: Path) -> None:
        self._browser = browser
        self._url = url
        self._into = into

    async def open(
        self, *place: str, scheme: Any = "light", size: Any = DESKTOP, query: str = ""
    ) -> Page:
        """The page of the first user in `place`."""
        options = {**size, "color_scheme": scheme, "reduced_motion": "reduce"}
        page = await self._browser.new_page(**options)
        await page.goto(f"{self._url}/{query}#{'/'.join(place)}")
        await expect(page.locator("#status")).to_have_text("Live", timeout=15_000)
        return page

    async def shoot(self, page: Page, name: str) -> None:
        path = self._into / f"{name}.png"
        await page.wait_for_load_state("networkidle")
        await page.screenshot(path=path)
        click.echo(f"{path}  {path.stat().st_size // 1024} KiB")
        await page.close()
