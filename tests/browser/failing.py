"""Requests of a page that fail until a test lets them through."""

import asyncio

from playwright.async_api import Locator, Page, Route, expect


class Failing:
    """Answers requests with 500. While it `is_held`, they wait."""

    def __init__(self) -> None:
        self.is_over = False
        self._released = asyncio.Event()
        self._released.set()

    def hold(self) -> None:
        self._released.clear()

    def release(self) -> None:
        self._released.set()

    async def answer(self, route: Route) -> None:
        await self._released.wait()
        if self.is_over:
            await route.continue_()
        else:
            await route.fulfill(status=500)


async def keeps_its_focus(page: Page, log: Locator, requests: Failing) -> None:
    """The button below a log's failure, while it is pressed, fails again, and is automatic."""
    button = log.get_by_role("button", name="Try again")
    await button.focus()
    requests.hold()
    await page.keyboard.press("Enter")
    await expect(button).to_have_attribute("aria-disabled", "true")
    await expect(button).to_be_focused()
    requests.release()
    await expect(button).not_to_have_attribute("aria-disabled", "true")
    await expect(button).to_be_focused()
    requests.is_over = True
    await expect(button).to_be_hidden()
