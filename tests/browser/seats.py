"""Browser pages that are used again: the second time the demo loads in a third of the time."""

from collections import defaultdict
from typing import Any

from playwright.async_api import Browser, Page

TIME_RUNS = "() => setTimeout.toString().includes('[native code]')"
OUTSIDE = (-1, -1)
USUAL = {"width": 1280, "height": 720}


class Seats:
    """Pages in browser contexts of their own, kept by the options that these were made with.

    A page keeps its renderer, its cache and what has been compiled. Nothing else may be left of
    the test before: the demo's page stores nothing in the browser, and the rest is undone here.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[str, list[Page]] = defaultdict(list)

    async def take(self, **options: Any) -> Page:
        """An empty page, to be given back with the same options."""
        free = self._free[repr(options)]
        if free:
            return free.pop()
        return await (await self._browser.new_context(**options)).new_page()

    async def give_back(self, page: Page, **options: Any) -> None:
        """Leave what the page shows. Where more has been changed, the page is not used again."""
        if not page.is_closed() and await _is_emptied(page, **options):
            self._free[repr(options)].append(page)
        else:
            await page.context.close()


async def _is_emptied(page: Page, *, viewport: object = None, **_: object) -> bool:
    """Leave what a page shows; False where its window, or its clock, has been changed for good."""
    await page.unroute_all(behavior="ignoreErrors")
    await page.goto("about:blank")
    await page.mouse.move(*OUTSIDE)
    return (
        page.viewport_size == (viewport or USUAL)
        and page.context.pages == [page]
        and bool(await page.evaluate(TIME_RUNS))
    )
