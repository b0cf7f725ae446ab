"""What the page says, in one of its languages, or in one that it does not have."""

import asyncio
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from aiohttp import web

from chat_aio.demo.bundle import Bundle, bundled
from chat_aio.demo.page import STATIC
from chat_aio.web.browser_files import BROWSER
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


def add_foreign_page(app: web.Application) -> None:
    """Serve the demo's page with the foreign language at `/foreign/`."""

    async def page(_: web.Request) -> web.Response:
        bundle = await asyncio.to_thread(_foreign)
        return web.Response(text=bundle.page, content_type="text/html")

    async def file(request: web.Request) -> web.Response:
        return await _foreign().files[request.match_info["name"]].answer(request)

    app.router.add_get("/foreign/", page)
    app.router.add_get("/foreign/bundle/{name}", file)
    app.router.add_static("/foreign/demo/static", STATIC)


@cache
def _foreign() -> Bundle:
    with tempfile.TemporaryDirectory() as folder:
        static, browser = Path(folder, "demo", "static"), Path(folder, "browser")
        shutil.copytree(STATIC, static)
        shutil.copytree(BROWSER, browser)
        (browser / "texts" / "languages.js").write_text(FOREIGN)
        return bundled(static, browser)


class Language:
    """A language of the page, and its texts as tests look for them: `say("message.reply")`."""

    def __init__(self, code: str) -> None:
        self.path = f"?lang={code}"
        self._texts = texts_of(code)

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
        self.path = "foreign/?lang=he"

    def say(self, name: str, /, **values: object) -> str:
        return f"⟦{super().say(name, **values)}⟧"

    def _written(self, value: object) -> str:
        return str(value) if isinstance(value, int) else f"\u2068{value}\u2069"


ENGLISH = Language("en")
GERMAN = Language("de")
