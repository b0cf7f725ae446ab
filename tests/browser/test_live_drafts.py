"""What a page knows of drafts: it hears of their parts, their list and their end in any order."""

from typing import Any

import pytest
from playwright.async_api import Page

pytestmark = pytest.mark.asyncio(loop_scope="session")

HELPERS = """
const { LiveDrafts } = await import("/browser/live-drafts.js");
const { Store } = await import("/browser/store.js");
const store = new Store("ada");
const about = { conversationId: "c", senderId: "robot", clientMessageId: "k" };
const listed = { id: "d", ...about, text: "ab", parts: 2 };
let answer;
const lists = [];
const list = () => new Promise((resolve) => { lists.push(1); answer = resolve; });
const drafts = new LiveDrafts({ drafts: { list } }, store);
const part = (first, text) => drafts.receive({
  ...about, type: "draft.updated", payload: { draftId: "d", first, last: first, text, ...about },
});
const texts = () => store.writings.map((writing) => writing.text);
"""


async def run(empty: Page, script: str) -> Any:
    return await empty.evaluate(f"async () => {{ {HELPERS} {script} }}")


async def test_a_gap_is_filled(empty: Page) -> None:
    script = """
        part(0, "a");
        part(2, "c");
        answer([{ ...listed, text: "abc", parts: 3 }]);
        await Promise.resolve();
        part(2, "c");
        part(3, "d");
        return [texts(), lists.length];
    """
    assert await run(empty, f"{script}") == [["abcd"], 1]


@pytest.mark.parametrize(
    "end",
    [
        "drafts.arrived(about)",
        'drafts.receive({ ...about, type: "draft.ended", payload: { draftId: "d" } })',
    ],
)
async def test_a_draft_that_has_ended_does_not_come_back(empty: Page, end: str) -> None:
    """Neither with a list that is older than its end, nor with a part of another process."""
    script = f"""
        const loading = drafts.load("c");
        {end};
        answer([listed]);
        await loading;
        const after = texts();
        part(0, "a");
        return [after, texts()];
    """
    assert await run(empty, script) == [[], []]
