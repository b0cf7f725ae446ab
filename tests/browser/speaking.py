"""What the page says, in one of its languages, or in one that it does not have."""

import re
from typing import Any

from playwright.async_api import Page

from tests.support.page_texts import Text, texts_of

PLACEHOLDER = re.compile(r"\{(\w+)\}")
FOREIGN = """
const wrap = (text) =>
  typeof text === "string"
    ? `⟦${text}⟧`
    : Object.fromEntries(Object.entries(text).map(([form, word]) => [form, wrap(word)]));
const en = async () => (await import("./en.js")).en;
const he = async () =>
  Object.fromEntries(Object.entries(await en()).map(([name, text]) => [name, wrap(text)]));

export const LANGUAGES = { en, he };
"""


class Language:
    """A language of the page, and its texts as tests look for them: `say("message.reply")`."""

    def __init__(self, code: str) -> None:
        self.query = f"?lang={code}"
        self._texts = texts_of(code)

    async def teach(self, page: Page) -> None:
        """Nothing is to be done for a language that the page has."""

    def say(self, name: str, /, **values: object) -> str:
        text = self._form(self._texts[name], values)
        return PLACEHOLDER.sub(lambda found: self._written(values[found[1]]), text)

    def _form(self, text: Text, values: dict[str, Any]) -> str:
        if isinstance(text, str):
            return text
        is_own = values.get("isOwn") and "own" in text
        form = "own" if is_own else "one" if values.get("count") == 1 else "other"
        return text.get(form, text["other"])

    def _written(self, value: object) -> str:
        return str(value)


class Foreign(Language):
    """English in brackets, under the code of a language that is written from the right.

    Whatever stands on the page without brackets was not said by name. Dates and the like are
    Hebrew: no Latin letter is in them.
    """

    def __init__(self) -> None:
        super().__init__("en")
        self.query = "?modules&lang=he"

    async def teach(self, page: Page) -> None:
        await page.route(
            "**/texts/languages.js",
            lambda route: route.fulfill(body=FOREIGN, content_type="text/javascript"),
        )

    def say(self, name: str, /, **values: object) -> str:
        return f"⟦{super().say(name, **values)}⟧"

    def _written(self, value: object) -> str:
        return str(value) if isinstance(value, int) else f"\u2068{value}\u2069"


ENGLISH = Language("en")
GERMAN = Language("de")
