"""Browser pages that are used again: the second time the demo loads in a third of the time."""

from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from playwright.async_api import Browser, Page

from tests.browser.fonts import Font

TIME_RUNS = "() => setTimeout.toString().includes('[native code]')"
OUTSIDE = (-1, -1)
USUAL = {"width": 1280, "height": 720}

ColorScheme = Literal["light", "dark"]
Motion = Literal["reduce", "no-preference"]
Contrast = Literal["active", "none"]


class Seats:
    """Pages in browser contexts of their own, kept by the devices that these stand for.

    A page keeps its renderer, its cache and what has been compiled. Nothing else may be left of
    the test before: what the demo's page keeps in the browser, and all else, is undone here.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[str, list[Page]] = defaultdict(list)

    async def take(
        self,
        color_scheme: ColorScheme = "light",
        reduced_motion: Motion = "no-preference",
        forced_colors: Contrast = "none",
        **device: Any,
    ) -> Page:
        """An empty page of a device, to be given back with the same options."""
        free = self._free[repr(device)]
        page = free.pop() if free else await (await self._browser.new_context(**device)).new_page()
        await page.emulate_media(
            color_scheme=color_scheme, reduced_motion=reduced_motion, forced_colors=forced_colors
        )
        return page

    async def give_back(
        self, page: Page, color_scheme: str = "", reduced_motion: str = "", **device: Any
    ) -> None:
        """Leave what the page shows. Where more has been changed, the page is not used again."""
        if not page.is_closed() and await _is_emptied(page, **device):
            self._free[repr(device)].append(page)
        else:
            await page.context.close()


class Browsers:
    """A browser for each font, launched when a test first needs it."""

    def __init__(self, launch: Callable[[Font], Awaitable[Browser]]) -> None:
        self._launch = launch
        self._seats: dict[Font, Seats] = {}

    async def seats(self, font: Font) -> Seats:
        if font not in self._seats:
            self._seats[font] = Seats(await self._launch(font))
        return self._seats[font]


async def _is_emptied(page: Page, *, viewport: object = USUAL, **_: object) -> bool:
    """Leave what a page shows; False where its window, or its clock, has been changed for good."""
    await page.unroute_all(behavior="ignoreErrors")
    if page.url.startswith("http"):
        # What is still on its way would be kept, too.
        emptied = "for (const storage of [localStorage, sessionStorage]) storage.clear();"
        await page.evaluate(f"{emptied} Storage.prototype.setItem = () => {{}}")
    await page.goto("about:blank")
    await page.mouse.move(*OUTSIDE)
    return (
        page.viewport_size == viewport
        and page.context.pages == [page]
        and bool(await page.evaluate(TIME_RUNS))
    )
