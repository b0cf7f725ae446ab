"""The page in Firefox: a conversation is held, found again, and nothing is complained of."""

import os
from pathlib import Path

import pytest

from tests.browser.firefox import NO_FIREFOX, found_firefox, running
from tests.browser.fonts import environment
from tests.browser.serving import Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")

FIELD = "document.querySelector('#body')"
LOG = "document.querySelector('#timeline').textContent"


async def test_a_conversation_is_held_in_firefox(demo: Demo, tmp_path: Path) -> None:
    if found_firefox() is None:
        if "CI" in os.environ:
            pytest.fail(NO_FIREFOX, pytrace=False)
        pytest.skip(NO_FIREFOX)
    place = await demo.direct("linus", "dennis")
    await demo.send("dennis", place, *(f"news {number}" for number in range(80)))
    (tmp_path / "profile").mkdir()
    url = f"http://127.0.0.1:{demo.port}/#"
    async with running(tmp_path / "profile", environment("wide", tmp_path)) as firefox:
        linus = await firefox.visit(f"{url}linus/{place}")
        dennis = await firefox.visit(f"{url}dennis/{place}")
        await linus.until("document.querySelector('#status')?.textContent === 'Live'")
        await linus.until(f"{LOG}.includes('80 new messages')")
        box = "document.querySelector('.unread-mark').getBoundingClientRect()"
        await linus.until(f"{box}.top >= 0 && {box}.bottom <= innerHeight")

        await linus.run(f"{FIELD}.focus()")
        await linus.type("**bold** :tad")
        await linus.until("document.querySelector('#composer-people [aria-selected=true]')")
        await linus.press("Enter")
        await linus.press("Enter")
        await dennis.until(
            "document.querySelector('#timeline .body strong')?.textContent === 'bold'"
        )
        await dennis.until(f"{LOG}.includes('🎉')")
        await dennis.run(f"{FIELD}.focus()")
        await dennis.type("seen")
        await linus.until("document.querySelector('#typing').textContent.includes('Dennis')")
        await dennis.press("Enter")
        await linus.until(f"{LOG}.includes('seen')")
        await linus.until("document.querySelector('.ticks[data-mark=read]')")

        await linus.press("Control", "k")
        await linus.until("document.activeElement.role === 'combobox'")
        await linus.type("engine")
        await linus.until("document.querySelector('#palette-0')?.textContent.includes('Engine')")
        await linus.press("Enter")
        await linus.until("document.querySelector('#title').textContent === 'Engine room'")
        wide = "document.documentElement.scrollWidth > innerWidth"
        assert not await linus.run(wide)
        assert firefox.complaints == []
