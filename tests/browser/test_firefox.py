"""The page in Firefox: a conversation is held, found again, and nothing is complained of."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.browser.acting import CHAT
from tests.browser.firefox import NO_FIREFOX, Firefox, Window, found_firefox, running
from tests.browser.fonts import environment
from tests.browser.serving import Demo, Ports
from tests.browser.tabs import serving
from tests.support.pool import Pool

pytestmark = pytest.mark.asyncio(loop_scope="session")

FIELD = f"{CHAT}.querySelector('#body')"
LOG = f"{CHAT}.querySelector('#timeline').textContent"


@pytest_asyncio.fixture(loop_scope="session")
async def firefox(tmp_path: Path) -> AsyncIterator[Firefox]:
    if found_firefox() is None:
        if "CI" in os.environ:
            pytest.fail(NO_FIREFOX, pytrace=False)
        pytest.skip(NO_FIREFOX)
    (tmp_path / "profile").mkdir()
    async with running(tmp_path / "profile", environment("wide", tmp_path)) as started:
        yield started


@pytest.mark.long
async def test_a_conversation_is_held_in_firefox(demo: Demo, firefox: Firefox) -> None:
    place = await demo.direct("linus", "dennis")
    await demo.send("dennis", place, *(f"news {number}" for number in range(80)))
    url = f"http://127.0.0.1:{demo.port}/#"
    linus = await firefox.visit(f"{url}linus/{place}")
    dennis = await firefox.visit(f"{url}dennis/{place}")
    for window in (linus, dennis):
        await window.until(f"{CHAT}.querySelector('#status')?.textContent === 'Live'")
    await linus.until(f"{LOG}.includes('80 new messages')")
    box = f"{CHAT}.querySelector('.unread-mark').getBoundingClientRect()"
    await linus.until(f"{box}.top >= 0 && {box}.bottom <= innerHeight")

    await linus.run(f"{FIELD}.focus()")
    await linus.type("**bold** :tad")
    await linus.until(f"{CHAT}.querySelector('#composer-people [aria-selected=true]')")
    await linus.press("Enter")
    await linus.press("Enter")
    await dennis.until(f"{CHAT}.querySelector('#timeline .body strong')?.textContent === 'bold'")
    await dennis.until(f"{LOG}.includes('🎉')")
    await dennis.run(f"{FIELD}.focus()")
    await dennis.type("seen")
    await linus.until(f"{CHAT}.querySelector('#typing').textContent.includes('Dennis')")
    await dennis.press("Enter")
    await linus.until(f"{LOG}.includes('seen')")
    await linus.until(f"{CHAT}.querySelector('.ticks[data-mark=read]')")

    await linus.press("Control", "k")
    await linus.until("document.activeElement.shadowRoot.activeElement.role === 'combobox'")
    await linus.type("engine")
    await linus.until(f"{CHAT}.querySelector('#palette-0')?.textContent.includes('Engine')")
    await linus.press("Enter")
    await linus.until(f"{CHAT}.querySelector('#title').textContent === 'Engine room'")
    wide = "document.documentElement.scrollWidth > innerWidth"
    assert not await linus.run(wide)
    assert firefox.complaints == []


async def test_tabs_in_firefox_share_a_stream(
    mongo_url: str, pool: Pool, ports: Ports, firefox: Firefox
) -> None:
    """The leader is closed, the next one leaves the page."""
    # The heartbeat is long: no tab may take a busy machine for a lost connection.
    async with serving(mongo_url, pool, ports, heartbeat_ms=20_000) as service:
        user = await firefox.user()
        await (await firefox.visit(f"{service.origin}/login?name=ada", by=user)).close()
        tabs = []
        for _ in range(4):
            tabs.append(tab := await firefox.visit(f"{service.origin}/", by=user))
            await tab.until("globalThis.isReady")
            await tab.run("begin({ userId: 'ada' })")
            await tab.until("tab.opens.length > 0")
        assert service.streams == {"ada": 1}
        # All have each message before the leader goes: one that had none would be reset.
        await service.send("ada", "one")
        await until_all_have(tabs, 1)
        await tabs.pop(0).close()
        await service.until(lambda: len(service.asked) == 2)
        await service.send("ada", "two")
        await until_all_have(tabs, 2)
        # The tabs wait for the lock in their order.
        await tabs.pop(0).go(f"{service.origin}/login?name=ada")
        await service.until(lambda: len(service.asked) == 3)
        await service.send("ada", "three")
        await until_all_have(tabs, 3)
        for tab in tabs:
            assert await tab.run("tab.bodies.join()") == "one,two,three"
            assert await tab.run("tab.resets") == 0
        await service.until_streams(ada=1)
        assert firefox.complaints == []


async def until_all_have(tabs: list[Window], count: int) -> None:
    for tab in tabs:
        await tab.until(f"tab.bodies.length === {count}")
