"""The demo's page of how to mount a chat: what it says works."""

import html
import re
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from chat_aio.demo.page import STATIC
from tests.conftest import Database


async def test_what_the_guide_says_works(database: Database) -> None:
    page = (STATIC / "mount.html").read_text()
    (python,) = re.findall(r'data-language="python">(.*?)</code>', page, re.S)
    (markup,) = re.findall(r'data-language="html">(.*?)</code>', page, re.S)
    names: dict[str, Any] = {}
    exec(compile(html.unescape(python), "mount.html", "exec"), names)
    app = web.Application()
    names["add_chat"](app, database)
    (script,) = re.findall(r'src="([^"]+)"', html.unescape(markup))
    (base,) = re.findall(r'base="([^"]+)"', html.unescape(markup))
    (user,) = re.findall(r'user="([^"]+)"', html.unescape(markup))
    async with TestClient[web.Request, web.Application](TestServer(app)) as client:
        assert (await client.get(script)).content_type == "text/javascript"
        asked = f"{base}/conversations"
        assert (await client.get(asked)).status == 401
        # What browsers send of themselves; the element sets no header.
        client.session.cookie_jar.update_cookies({"user": user}, client.make_url("/"))
        assert (await client.get(asked)).status == 200
        for origin, status in (("http://localhost:8080", 200), ("http://else.example", 403)):
            headers = {"Origin": origin}
            made = await client.post(asked, json={"otherUserId": "bob"}, headers=headers)
            assert made.status == status
