"""The text of messages: links, code, bold, lists; long ones and those of a few emoji."""

import asyncio
import json
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.acting import choose, main_list, message
from tests.browser.conftest import Visit
from tests.browser.looking import Looking
from tests.browser.serving import Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")

EVERYTHING = """Read https://example.org/a_(b)?c=d, **it is _bold_**!
```js
const a = "<b>*not* bold</b>"; // https://example.org
```
> as @Dennis said
- `one`
- *two*
4. four
javascript:alert(1)"""

HELPERS = """
    const { blocksOf } = await import("/browser/markup.js");
    const { inlineOf } = await import("/browser/inline.js");
    const dennis = [{ id: "dennis", name: "Dennis" }];
    const marked = (piece) => {
      const { text, isBold, isItalic, isCode, href, userId } = piece;
      const all = { b: isBold, i: isItalic, code: isCode, a: href, at: userId };
      const names = Object.keys(all).filter((name) => all[name]);
      return names.reduce((inner, name) => `<${name}>${inner}</${name}>`, text);
    };
"""


async def run(page: Page, script: str) -> Any:
    return await page.evaluate(f"async () => {{ {HELPERS} {script} }}")


IN_A_LINE: list[tuple[str, str | None]] = [
    (
        "http://a.b, (see https://a.b/c_(d)).",
        "<a>http://a.b</a>, (see <a>https://a.b/c_(d)</a>).",
    ),
    ("HTTPS://A.B/?x=[y]] and", "<a>HTTPS://A.B/?x=[y]</a>] and"),
    ("javascript:alert(1) xhttp://a.b http:// ftp://a", None),
    ("http://a\u202eb", "<a>http://a</a>\u202eb"),
    ("(www.a.b/c), WWW.a-b.c.", "(<a>www.a.b/c</a>), <a>WWW.a-b.c</a>."),
    ("www.a www.", None),
    ("to a.b_c+d@e-f.gh.", "to <a>a.b_c+d@e-f.gh</a>."),
    ("**A@B.de**, _a@b.de_?", "<a><b>A@B.de</b></a>, <a><i>a@b.de</i></a>?"),
    ("a@b @b.de a@b.c a@b@c.de äa@b.de a@b.d", None),
    ("**http://a.b** _http://a.b_", "<a><b>http://a.b</b></a> <a><i>http://a.b</i></a>"),
    ("**bold *both***, _i_", "<b>bold </b><i><b>both</b></i>, <i>i</i>"),
    ("***x*** `*a*` ```b```", "<i><b>x</b></i> <code>*a*</code> <code>b</code>"),
    ("2*3*4 snake_case_name * a * **b ** __init__ ****", None),
    ("*a\nb* **c\n", None),
    ("**@Dennis** `@Dennis`", "<at><b>@Dennis</b></at> <code>@Dennis</code>"),
]
"""Texts, and how they are shown. None: nothing of it is markup."""
BLOCKS = [
    (" plain\n\n text ", ["text: plain\n\n text "]),
    ("a\n\n- b\n* c\n\nd", ["text:a", "list:b/c", "text:d"]),
    ("1. a\n2) b\n- c", ["list:1 a/2 b", "list:c"]),
    ("```py\na\n\n> b\n```\nc", ["code:a\n\n> b", "text:c"]),
    ("```\nnever closed", ["text:```\nnever closed"]),
    ("> a\n>\n> b\n>:(", ["quote:a\n\nb", "text:>:("]),
    ("-5 degrees, 2. not a list", ["text:-5 degrees, 2. not a list"]),
]


async def test_what_stands_in_a_line(empty: Page) -> None:
    texts = [text for text, _ in IN_A_LINE]
    script = f"""
        const shown = (text) => inlineOf(text, dennis).map(marked).join("");
        return {json.dumps(texts)}.map(shown);
    """
    shown = dict(zip(texts, await run(empty, script), strict=True))
    assert shown == {text: text if shown is None else shown for text, shown in IN_A_LINE}


async def test_what_blocks_a_text_has(empty: Page) -> None:
    texts = [text for text, _ in BLOCKS]
    script = f"""
        const item = ({{ number, text }}) => [number, text].filter(Boolean).join(" ");
        const shown = ({{ kind, text, items = [] }}) =>
          `${{kind}}:${{text ?? items.map(item).join("/")}}`;
        return {json.dumps(texts)}.map((text) => blocksOf(text).map(shown));
    """
    assert dict(zip(texts, await run(empty, script), strict=True)) == dict(BLOCKS)


HOSTILE = (
    *("*", "_", "`", "``a", "**a", "*_", "***", "a* ", "`\n", "> ", "- a\n", "```\n"),
    *("http://", "http://%", "http://x)", "http://a.b))", "(http://[", "http://a*", "@Dennis*"),
)


async def test_a_hostile_text_is_read_once(empty: Page) -> None:
    """A hundred times as long as one can be: what reads it again and again would not come to an end
    in this time."""
    for part in HOSTILE:
        script = f"""
            const length = 2_097_152;
            const hostile = {part!r}.repeat(length).slice(0, length);
            const blocks = blocksOf(hostile).flatMap(({{ text, items }}) => items ?? [{{ text }}]);
            // Most are one block, whose text need not be read twice.
            const texts = new Set([hostile, ...blocks.map(({{ text }}) => text)]);
            const [first] = [...texts].map((text) => inlineOf(text, dennis).length);
            return first > 0;
        """
        try:
            async with asyncio.timeout(60):
                assert await run(empty, script), part
        except TimeoutError:
            pytest.fail(f"{part!r} is read again and again")


async def test_a_message_shows_its_markup_and_mentions(visit: Visit, demo: Demo) -> None:
    group_id = await demo.group("linus", "dennis", name="Kernel")
    linus = await visit("linus", group_id)
    await demo.write("linus", group_id, EVERYTHING, mentions=["dennis"])
    body = main_list(linus).locator(".message .body")
    link = body.get_by_role("link")
    await expect(link).to_have_text(["https://example.org/a_(b)?c=d"])
    await expect(link).to_have_attribute("href", "https://example.org/a_(b)?c=d")
    await expect(link).to_have_attribute("target", "_blank")
    await expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
    await expect(body.locator("strong")).to_have_text(["it is ", "bold"])
    await expect(body.locator("em")).to_have_text(["bold", "two"])
    await expect(body.locator("pre")).to_have_text(
        'const a = "<b>*not* bold</b>"; // https://example.org'
    )
    await expect(body.locator("blockquote .mention")).to_have_text("@Dennis")
    await expect(body.locator("ul li")).to_have_text(["one", "two"])
    await expect(body.locator("ol li")).to_have_attribute("value", "4")
    await expect(body.locator("> p").last).to_have_text("javascript:alert(1)")
    await expect(linus.locator(".row-preview").first).to_contain_text("it is bold!")
    looking = Looking(is_phone=False)
    await looking.at(linus, "markup")
    assert not looking.faults

    await choose(message(main_list(linus), "it is"), "Edit")
    await expect(linus.get_by_label("Message", exact=True)).to_have_value(EVERYTHING)


async def test_a_link_stays_the_same_while_others_react(visit: Visit, demo: Demo) -> None:
    """Whoever has reached it by keyboard is not thrown out."""
    direct_id = await demo.direct("linus", "dennis")
    sent = await demo.write("linus", direct_id, "See https://example.org")
    dennis = await visit("dennis", direct_id)
    link = main_list(dennis).get_by_role("link")
    await link.focus()
    await demo.post("linus", f"/messages/{sent['id']}/reactions", emoji="👀")
    await expect(main_list(dennis).locator(".chip")).to_have_count(1)
    await expect(link).to_be_focused()


@pytest.mark.parametrize("body", ["\n".join(map(str, range(21))), "word " * 500])
async def test_a_long_message_is_folded(visit: Visit, demo: Demo, body: str) -> None:
    direct_id = await demo.direct("linus", "dennis")
    await demo.send("linus", direct_id, "Short", f"{body}\nhttps://example.org")
    dennis = await visit("dennis", direct_id)
    row = main_list(dennis).locator(".message").last
    text = row.locator(".body")
    await expect(dennis.get_by_role("button", name="Show all")).to_have_count(1)
    folded = await height_of(text)
    await row.get_by_role("button", name="Show all").click()
    assert await height_of(text) > folded
    await row.get_by_role("button", name="Show less").click()
    assert await height_of(text) == folded
    await row.get_by_role("link").focus()
    await expect(row.get_by_role("button", name="Show less")).to_be_visible()


async def test_a_few_emoji_are_large(visit: Visit, demo: Demo) -> None:
    direct_id = await demo.direct("linus", "dennis")
    large = ["👍", "❤️ 🎉", "👩🏽‍🚀🇩🇪🔥"]
    others = ["🎉🎉🎉🎉", "ok 👍", "123", "a"]
    await demo.send("linus", direct_id, *large, *others)
    dennis = await visit("dennis", direct_id)
    bodies = main_list(dennis).locator(".message .body")
    await expect(bodies).to_have_text([*large, *others])
    await expect(main_list(dennis).locator(".body[data-large]")).to_have_text(large)


async def height_of(text: Locator) -> float:
    box = await text.bounding_box()
    assert box is not None
    return box["height"]


async def test_names_of_any_characters_are_mentions(empty: Page) -> None:
    """Also of a host whose names are ids, in a text that is read in many pieces."""
    script = """
        const names = ["Jean-Luc", "user-1", "a.b", "(x)", "[y]", "C++"];
        const people = names.map((name) => ({ id: name, name }));
        const found = (text) => inlineOf(text, people).map((piece) => piece.userId).filter(Boolean);
        const named = (_, n) => ({ id: `${n}`, name: `Name ${n} of it` });
        const many = Array.from({ length: 256 }, named);
        const pieces = inlineOf("`a`@ ".repeat(3_000), many).length;
        return [names.map((name) => found(`so *@${name}* and \\`code\\``)), pieces > 3_000];
    """
    expected = [[name] for name in ("Jean-Luc", "user-1", "a.b", "(x)", "[y]", "C++")]
    assert await run(empty, script) == [expected, True]
