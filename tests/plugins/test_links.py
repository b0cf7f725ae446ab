"""Spellings of links. Node decides where a link leads: it has the `URL` of browsers, and runs the
module that makes links in messages. Each spelling that leads to a denied host is refused."""

import asyncio
import json
import os
import shutil
from itertools import chain
from urllib.parse import quote

import pytest

from chat_aio.plugins import LinkRule
from chat_aio.plugins.links import MAX_LINKS, host_of, links_in
from chat_aio.web.browser_files import BROWSER
from tests.plugins.test_filter import checked

DENIED = ("evil.example", "bücher.example", "192.0.2.1")
NAME = DENIED[0]
RULE = LinkRule(denied_hosts=DENIED)
NODE = shutil.which("node")
PROGRAM = """
import { inlineOf } from "./inline.js";

const hosts = (href) => (URL.canParse(href) ? new URL(href).hostname : null);
let text = "";
for await (const part of process.stdin) text += part;
const found = JSON.parse(text).map((spelling) => ({
  typed: hosts(spelling),
  links: inlineOf(spelling, []).filter((piece) => piece.href).map((piece) => hosts(piece.href)),
}));
console.log(JSON.stringify(found));
"""

IGNORABLE = (
    *("\u00ad", "\u034f", "\u180b", "\u180c", "\u180d", "\u200b", "\u2060", "\u2064"),
    *(chr(point) for point in range(0xFE00, 0xFE10)),
    *("\U0001bca0", "\U000e0100", "\U000e01ef"),
)
"""Characters that browsers drop from a host."""

ALIKE = (
    *(
        "ｅｖｉｌ",
        "ⓔⓥⓘⓛ",
        "𝐞𝐯𝐢𝐥",
        "𝑒𝑣𝑖𝑙",
        "𝓮𝓿𝓲𝓵",
        "𝔢𝔳𝔦𝔩",
        "𝕖𝕧𝕚𝕝",
        "𝖊𝖛𝖎𝖑",
        "𝖾𝗏𝗂𝗅",
        "𝗲𝘃𝗶𝗹",
        "𝘦𝘷𝘪𝘭",
        "𝙚𝙫𝙞𝙡",
        "𝚎𝚟𝚒𝚕",
    ),
    *("ᵉᵛⁱˡ", "ⅇⅴⅈⅼ", "ℯvil", "eⅵl", "ₑᵥᵢₗ", "ＥＶＩＬ", "ⒺⓋⒾⓁ", "ℰⅤℐℒ", "🄴🅅🄸🄻"),
)
"""Letters that browsers map to `evil`."""

USERS = (
    *("me", "me:pw", "good.example", "good.example:80", "a@b"),
    *("a%40b", "good.example%2F", "()", "'", "a'b"),
    *("good.example\uff0f", "good.example\uff1f"),
    *("good.example\uff03", "good.example\uff3c", "a\u00a8"),
    *("a\x85b", "a\x1cb", "a\u2100", "a\u2048", "](", "a](b"),
    *("a|b", "a^b", "a{b}", "[", "*", "😀"),
    *("good.example,", "good.example)", "good.example:80)"),
    *("\uff20", "good.example\u3002", ";", "="),
)  # fmt: skip
"""Users before an `@`, which browsers skip."""

PLACES = (
    *("", "/", "/x", "?x", "#x", ":443"),
    *(":0443/", ":/", "./", ".", "\\x", "\\@good.example", "/@good.example"),
    *("?@good.example", "#@good.example", ")", "),"),
    *("...", "!", "/a://good.example", "?u=https://good.example"),
    *("/](https://good.example)", "**", "_", "'", "?", "]", "}", "…"),
)  # fmt: skip

LEADING_THERE = (
    *(f"https://{slashes}evil.example/x" for slashes in ("/", "//", "\\")),
    *(f"https://{slashes}evil.example/x" for slashes in ("\\/", "/\\", "\\\\\\", "/" * 500)),
    *(f"https://evil.example{place}" for place in PLACES),
    *(f"https://{user}@evil.example/" for user in USERS),
    *(f"https://{user}@evil.example" for user in ("me", "a'b", "a\u00a8")),
    *(f"https://ev{character}il.example/" for character in IGNORABLE),
    *(f"https://evil.example{character * 300}/" for character in IGNORABLE[1:3]),
    *(f"https://{quote(character)}evil.example/" for character in IGNORABLE),
    *(f"https://{word}.example/" for word in ALIKE),
    *(f"https://{quote(word)}.example/" for word in ALIKE),
    *(f"https://evil{dot}example/" for dot in ("\u3002", "\uff0e", "\uff61", "%2E", "%E3%80%82")),
    *(f"https://{NAME.replace(letter, f'%{ord(letter):02x}')}/" for letter in "evilxamp."),
    *(f"https://{NAME.replace(letter, f'%{ord(letter) - 32:02X}')}/" for letter in "evilxamp"),
    "https://" + "".join(f"%{ord(letter):02x}" for letter in NAME) + "/",
    *("HTTPS://evil.example", "hTTp://EVIL.EXAMPLE/"),
    *("http://evil.example:80", "http://evil.example."),
    *(f"https://{name}.evil.example/" for name in ("a", "a.b", "a_b", "-", "😀")),
    *(f"https://{name}.evil.example/" for name in ("xn--e28h", "ß", "日本", "a,b", "a)b")),
    *(f"https://{name}.evil.example/" for name in ("(", "a*b", "a'b", "good.example)x")),
    *(f"https://{name}.evil.example/" for name in ("good😀", "a=b", "a;b", "a~b")),
    *(f"https://{name}.evil.example/" for name in ("", "a.", "a" * 63)),
    *(f"https://{name}.evil.example/" for name in ("xn--bcher-kva", "a{b}", "1", "0x1")),
    *(f"{mark}www.evil.example" for mark in ("", "-", "_", ".", "(")),
    *(f"{mark}www.evil.example" for mark in ("@", "//", "“", "*", "-@", "=")),
    *("WWW.EVIL.EXAMPLE", "www.a.b@evil.example/", "www.evil.example/?://good.example"),
    *("x.y/https://evil.example", "x.y/z/https://evil.example/"),
    *("x.y/www.evil.example", "www.x/https://evil.example"),
    *("a.b/-www.evil.example", "'https://evil.example'"),
    *("(https://evil.example)", "[x](https://evil.example)"),
    "**https://evil.example**",
    *("_https://evil.example_", "https://good.example https://evil.example"),
    "https://good.example\ufeffhttps://evil.example/",
    "https://good.example\u2066https://evil.example/",
    *("https://good.example\"https://evil.example", "https://good.example`https://evil.example"),
    "https://good.example<https://evil.example>",
    *("!https://evil.example", "–https://evil.example"),
    *("https://BÜCHER.example", "https://xn--bcher-kva.example", "https://XN--BCHER-KVA.example/"),
    "https://bu\u0308cher.example/",
    *("https://b%C3%BCcher.example/", "https://b%c3%9ccher.example/"),
    "https://xn--bcher%2Dkva.example/",
    *("https://ｂücher.example/", "https://b\u034fücher.example/"),
    *(f"http://{address}/" for address in ("192.0.2.1", "3221225985")),
    *(f"http://{address}/" for address in ("0xc0000201", "0300.0.2.1", "192.0.513")),
    *(f"http://{address}/" for address in ("0xC0.0.2.1", "192.513")),
    *(f"http://{address}/" for address in ("１９２.0.2.1", "192。0。2。1", "0300.0.01001")),
    *(f"http://{address}/" for address in ("0xc0.0x0.0x2.0x1", "192.0.2.1.")),
    *(f"http://{address}/" for address in ("%31%39%32.0.2.1", "①⑨②.0.2.1")),
)  # fmt: skip

LEADING_THERE_IN_OTHER_CLIENTS = (
    "https://evil.example](https://good.example)",
    "[https://good.example](https://evil.example)",
    *("www.ev\ufe0fil.example", "www.%65vil.example/x"),
    *("www.a@evil.example/", "evil.example/x", "evil.example/a://good.example"),
    *("htt\u200bps://evil.example", "ｈｔｔｐｓ：／／evil.example"),
    *("https://ev\u200dil.example", "https://evil.example,good.example"),
)  # fmt: skip
"""No links of ours, but perhaps of clients that find links in another way."""

LEADING_ELSEWHERE = (
    *("https://good.example", "https://devil.example"),
    *("https://evil.example.test", "https://evil-.example"),
    "https://evil.example@good.example/",
    *("https://evil.example%2F@good.example/", "https://good.example/evil.example"),
    "https://good.example/@evil.example",
    *("https://good.example?@evil.example", "https://good.example#@evil.example"),
    *("https://good.example\\@evil.example", "www.a.b\\@evil.example"),
    *("https://good.example/https://evil.example", "http://192.0.2.10/"),
    "https://good.example/?u=https://evil.example",
    *("https://bucher.example", "https://evil.test:8080/"),
    *("https://good.example?evil.example", "https://evil\u0435.example/"),
    *("https://еvil.example/", "https://good。example"),
    *("http://192.0.2.2/", "http://0300.0.2.2/"),
    *("https://evil1example/", "https://www.good.example).", "http://3221225986"),
    *("https://ᴇvil.example/", "https://good.example…"),
    *("https://%67ood.example", "https:///good.example/"),
    *("https://go\ufe0fod.example/", "https://straße.example/"),
    *("https://日本.example/", "https://a_b.example"),
    *("https://good.example/%65vil.example", "https://ev-il.example"),
    *("https://evil.examples/", "https://e.vil.example"),
)  # fmt: skip

LEADING_NOWHERE = (
    *("https://evil.example%00/", "https://evil.example%2F/"),
    *("https://%2565vil.example/", "https://evil.example|x/"),
    *("https://good.example:x/", "https://good.example%09/"),
    *("https://xn--zz/", "https://ev\u200dil\ufffd.example/"),
    *("https://%ff.example/", "https://\ufffd.example/", "https://0x1ffffffff/", "https:///"),
    *("https://1.2.3.4.5/", "https://256.256.256.256/", "https://[::1", "https://" + "a" * 600),
)  # fmt: skip
"""Hosts that cannot be read are not allowed if there are denied ones."""


def refused(spelling: str) -> bool:
    return RULE.is_broken_by(checked(spelling))


def is_denied(host: str | None) -> bool:
    names = (*DENIED, "xn--bcher-kva.example")
    return host is not None and f".{host.rstrip('.')}".endswith(tuple(f".{name}" for name in names))


def test_spellings_of_denied_hosts_are_refused() -> None:
    assert len({*LEADING_THERE}) == len(LEADING_THERE) >= 150
    spellings = (*LEADING_THERE, *LEADING_THERE_IN_OTHER_CLIENTS)
    assert [spelling for spelling in spellings if not refused(spelling)] == []


def test_links_that_lead_elsewhere_are_allowed() -> None:
    assert [spelling for spelling in LEADING_ELSEWHERE if refused(spelling)] == []


def test_hosts_that_cannot_be_read_are_refused() -> None:
    assert [spelling for spelling in LEADING_NOWHERE if not refused(spelling)] == []
    allowing = LinkRule(allowed_hosts=["good.example"])
    unread = [spelling for spelling in LEADING_NOWHERE if not host_of(spelling)]
    assert unread
    assert all(allowing.is_broken_by(checked(spelling)) for spelling in unread)


@pytest.mark.skipif(
    NODE is None and "CI" not in os.environ, reason="no node on PATH: apt-get install nodejs"
)
async def test_spellings_lead_where_the_tables_have_them() -> None:
    """Every spelling of the first table becomes a link to a denied host in a message."""
    assert NODE is not None
    spellings = [*LEADING_THERE, *LEADING_ELSEWHERE, *LEADING_NOWHERE]
    process = await asyncio.create_subprocess_exec(
        *(NODE, "--input-type=module", "--eval", PROGRAM),
        cwd=BROWSER,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate(json.dumps(spellings).encode())
    found = dict(zip(spellings, json.loads(out), strict=True))

    def leads_to_denied(spelling: str) -> bool:
        return any(is_denied(host) for host in found[spelling]["links"])

    assert [spelling for spelling in LEADING_THERE if not leads_to_denied(spelling)] == []
    assert [
        spelling
        for spelling in LEADING_ELSEWHERE
        if leads_to_denied(spelling) or not found[spelling]["links"]
    ] == []
    assert [spelling for spelling in LEADING_NOWHERE if leads_to_denied(spelling)] == []


@pytest.mark.parametrize("listed", ["evil.example.", "EVIL.example", "xn--bcher-kva.example"])
def test_listed_hosts_are_read_as_links_are(listed: str) -> None:
    rule = LinkRule(denied_hosts=[listed])
    assert rule.is_broken_by(checked(f"https://a.{host_of(f'http://{listed}')}/x"))


def test_readings_are_bounded() -> None:
    """No more links are read than count, of no longer host than can be one."""
    assert len(list(links_in("https://a.example " * 2_000))) == MAX_LINKS + 1
    assert host_of("https://" + "a\u0301" * 5_000) == ""
    assert host_of("https://" + "\ufe0f" * 10_000 + "evil.example") == "evil.example"
    assert not [*chain(links_in("a." * 8_000))]
