"""Other event loops: a host may run on uvloop, whose transports are not asyncio's."""

import json

from aiohttp import ClientSession, ClientTimeout

from tests.conftest import Database
from tests.support.people import Tab
from tests.support.processes import serving

ON_UVLOOP = ("-c", "import uvloop; uvloop.install(); from chat_aio.admin.cli import main; main()")


async def test_a_stream_on_uvloop(mongo_url: str, database: Database) -> None:
    async with (
        serving(mongo_url, database.name, start=ON_UVLOOP) as base,
        ClientSession(headers={"X-User": "alice"}, timeout=ClientTimeout(total=30)) as session,
    ):
        async with session.post(f"{base}/conversations", json={"otherUserId": "bob"}) as response:
            conversation_id = json.loads(await response.read())["conversation"]["id"]
        async with session.get(f"{base}/stream") as response:
            tab = Tab(response)
            path = f"{base}/conversations/{conversation_id}/messages"
            for body in ("one", "two"):
                async with session.post(path, json={"body": body}) as sent:
                    assert sent.status == 201
            assert await tab.bodies(2) == ["one", "two"]
