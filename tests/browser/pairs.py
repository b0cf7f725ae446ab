"""Linus and Dennis in their conversation."""

from playwright.async_api import Page, expect

from tests.browser.acting import main_list, message
from tests.browser.conftest import Visit
from tests.browser.serving import Demo


async def opened(sender: str, visit: Visit, demo: Demo, *bodies: str) -> tuple[Page, str]:
    """Linus has it open, where one of them has sent something."""
    conversation_id = await demo.direct("linus", "dennis")
    await demo.send(sender, conversation_id, *bodies)
    linus = await visit("linus", conversation_id)
    await expect(message(main_list(linus), bodies[-1])).to_be_visible()
    return linus, conversation_id


async def open_for_both(
    sender: str, visit: Visit, demo: Demo, *bodies: str
) -> tuple[Page, Page, str]:
    linus, conversation_id = await opened(sender, visit, demo, *bodies)
    dennis = await visit("dennis", conversation_id)
    await expect(message(main_list(dennis), bodies[-1])).to_be_visible()
    return linus, dennis, conversation_id
