"""Whether everybody can use a page: what axe-core finds, what is too wide, what is too small."""

from collections.abc import AsyncIterator, Iterable, Iterator
from importlib.resources import files
from typing import Any

from playwright.async_api import Page

AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
EVERYTHING = {"runOnly": STANDARDS, "resultTypes": ["violations"]}
COLOURS = {"runOnly": ["color-contrast"], "resultTypes": ["violations"]}
VIOLATIONS = "async (rules) => (await axe.run(rules)).violations"
EVERYWHERE = r"""
      const everywhere = (place, selector) => [...place.querySelectorAll("*")].flatMap((node) => [
        ...(node.matches(selector) ? [node] : []),
        ...(node.shadowRoot ? everywhere(node.shadowRoot, selector) : []),
      ]);
"""
"""The nodes of a page, and of what is in its elements."""
TOO_SMALL = (
    """
    () => {
"""
    + EVERYWHERE
    + r"""
      const reach = (node) => {
        const { width, height } = (node.closest("label") ?? node).getBoundingClientRect();
        return Math.min(width, height);
      };
      const isThere = (node) => node.checkVisibility({ visibilityProperty: true });
      const isInline = (node) =>
        getComputedStyle(node).display === "inline" || node.closest(".message") !== null;
      const all = everywhere(document,
        "a[href], button, input, select, textarea, [role=option]");
      return all
        .filter((node) => isThere(node) && reach(node) > 1)
        .filter((node) => reach(node) < (isInline(node) ? 24 : 44) - 0.1)
        .map((node) => `${node.outerHTML.slice(0, 70).replace(/\s+/g, " ")} has ${reach(node)} px`);
    }
"""
)
"""What a finger has to hit: the label, where there is one."""
UNSAID = (
    """
    (known) => {
"""
    + EVERYWHERE
    + r"""
      const said = /⟦[^⟦⟧]*⟧/gu;
      const unsaidIn = (text) => {
        let rest = text;
        while (said.test(rest)) rest = rest.replace(said, "");
        for (const text of known) rest = rest.replaceAll(text, "");
        return /\p{Script=Latin}/u.test(rest);
      };
      // An option is shown where its select is.
      const isThere = (node) =>
        (node.closest("select") ?? node).checkVisibility({ visibilityProperty: true });
      const all = everywhere(document, "body, body *, :host *, .root, .root *")
        .filter((node) => isThere(node) && !node.closest(".avatar, .language select"));
      const written = (node) => [...node.childNodes]
        .filter((child) => child.nodeType === Node.TEXT_NODE)
        .map((child) => child.data);
      const attributes = (node) => ["aria-label", "title", "placeholder", "alt"]
        // Emoji are named as one types them.
        .filter((name) => name !== "title" || !node.matches(".emoji"))
        .map((name) => node.getAttribute(name) ?? "");
      const drawn = (node) => ["::before", "::after"]
        .map((part) => getComputedStyle(node, part).content)
        .filter((content) => content.startsWith('"'));
      const found = all.flatMap((node) => [...written(node), ...attributes(node), ...drawn(node)]);
      return [...new Set([document.title, ...found].filter(unsaidIn))];
    }
"""
)
"""What stands in the page without brackets around it, and is none of the known words."""
FITS = f"""
    () => {{
{EVERYWHERE}
      const fits = ({{ scrollWidth, clientWidth }}) => scrollWidth <= clientWidth;
      return document.documentElement.scrollWidth <= innerWidth
        && everywhere(document, ".root").every(fits);
    }}
"""


async def fits(page: Page) -> bool:
    """Whether nothing is wider than the screen."""
    return bool(await page.evaluate(FITS))


class Looking:
    """Looks at a page in one view after the other, and remembers what was wrong."""

    def __init__(self, *, is_phone: bool) -> None:
        self.faults: list[str] = []
        self._is_phone = is_phone

    async def at(self, page: Page, view: str) -> None:
        self.faults += [f"{view}: {fault}" async for fault in self._found(page)]

    async def _found(self, page: Page) -> AsyncIterator[str]:
        """In light colours, and, where all is beside each other, in dark ones."""
        if not await page.evaluate("'axe' in globalThis"):
            await page.evaluate(AXE)
        for fault in _described(await page.evaluate(VIOLATIONS, EVERYTHING)):
            yield fault
        if self._is_phone:
            if not await fits(page):
                yield "it is wider than the screen"
            for fault in await page.evaluate(TOO_SMALL):
                yield fault
        else:
            for fault in await _found_in_the_dark(page):
                yield f"in the dark, {fault}"


class LookingForWords(Looking):
    """Looks at a page in a foreign language: all is said in it, and fits, too. `known` is what
    people have written, and their names."""

    def __init__(self, known: Iterable[str], *, is_phone: bool) -> None:
        super().__init__(is_phone=is_phone)
        self._known = sorted(known, key=len, reverse=True)

    async def _found(self, page: Page) -> AsyncIterator[str]:
        async for fault in super()._found(page):
            yield fault
        for text in await page.evaluate(UNSAID, self._known):
            yield f"{text!r} is not said in the reader's language"
        if not await fits(page):
            yield "it is wider than the screen"


async def _found_in_the_dark(page: Page) -> list[str]:
    await page.emulate_media(color_scheme="dark")
    try:
        return list(_described(await page.evaluate(VIOLATIONS, COLOURS)))
    finally:
        await page.emulate_media(color_scheme="light")


def _described(violations: Any) -> Iterator[str]:
    for violation in violations:
        for node in violation["nodes"]:
            yield f"{violation['id']} at {node['target']}: {node['failureSummary']}"
