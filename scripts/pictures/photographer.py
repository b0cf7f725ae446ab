"""Opens the demo's page, or a page of a host, as a user, and takes pictures of it."""

from pathlib import Path
from typing import Any

import click
from playwright.async_api import Browser, Page, Route, expect

DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {
    "viewport": {"width": 360, "height": 740},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
HOST_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Workshop</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>:root { color-scheme: light dark; }
body { margin: 0; display: grid; grid-template-rows: auto 1fr; block-size: 100dvh; }
h1 { margin: 0; padding: .75rem 1rem; background: #2b3a55; color: #fff; font: 600 1rem sans-serif; }
chat-aio { block-size: auto; min-block-size: 0; }</style>
<h1>Workshop</h1>
<chat-aio view="full" address="chat"></chat-aio>
<script type="module">
  import { Chat } from "/browser/chat.js";
  import "/browser/element.js";
  const as = new URLSearchParams(location.search).get("as");
  const people = await (await fetch("/people")).json();
  const chat = new Chat("/api/chat", { query: { as } });
  Object.assign(document.querySelector("chat-aio"), { people, chat }).setAttribute("user", as);
</script>"""


class Photographer:
    def __init__(self, browser: Browser, url: str, into: Path) -> None:
        self._browser = browser
        self._url = url
        self._into = into

    async def open(
        self, *place: str, scheme: Any = "light", size: Any = DESKTOP, query: str = ""
    ) -> Page:
        """The page of the first user in `place`."""
        return await self._opened(f"/{query}#{'/'.join(place)}", scheme, size)

    async def open_host_page(
        self, user_id: str, *place: str, scheme: Any = "light", size: Any = DESKTOP
    ) -> Page:
        """A page of a host with the element in it."""
        return await self._opened(f"/shop?as={user_id}#chat/{'/'.join(place)}", scheme, size)

    async def _opened(self, address: str, scheme: Any, size: Any) -> Page:
        options = {**size, "color_scheme": scheme, "reduced_motion": "reduce"}
        page = await self._browser.new_page(**options)
        await page.route("**/shop?*", _answer_shop)
        await page.goto(f"{self._url}{address}")
        await expect(page.locator("#status")).to_have_text("Live", timeout=15_000)
        return page

    async def shoot(self, page: Page, name: str) -> None:
        path = self._into / f"{name}.png"
        await page.wait_for_load_state("networkidle")
        await page.screenshot(path=path)
        click.echo(f"{path}  {path.stat().st_size // 1024} KiB")
        await page.close()


async def _answer_shop(route: Route) -> None:
    await route.fulfill(body=HOST_PAGE, content_type="text/html")
