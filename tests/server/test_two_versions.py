"""Two versions over one database, as in a rolling upgrade: an earlier commit beside this one."""

import asyncio
import io
import subprocess
import tarfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import ClientSession
from pymongo import AsyncMongoClient

from tests.support.people import Tab
from tests.support.pool import Pool
from tests.support.processes import ROOT, Service

pytestmark = pytest.mark.asyncio(loop_scope="module")

EARLIER = "81a49362d7e8b2f86e56354faa86b8b42ea3e0ef"
"""The last commit before databases had validators and a schema version."""

BY_HEADER = ("--auth-header", "X-User", "--extra-events")


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The earlier version's package. It is in the history, which a clone must have whole."""
    taken = subprocess.run(
        ["git", "archive", EARLIER, "chat_aio", "indexes"], cwd=ROOT, capture_output=True
    )
    if taken.returncode:
        pytest.fail(f"commit {EARLIER} is needed: clone with history ({taken.stderr.decode()})")
    folder = tmp_path_factory.mktemp("earlier")
    with tarfile.open(fileobj=io.BytesIO(taken.stdout)) as packed:
        packed.extractall(folder, filter="data")
    return folder


class Side:
    """One of the two, as some user calls it."""

    def __init__(self, service: Service, session: ClientSession) -> None:
        self.base = service.base
        self._session = session

    async def call(self, user_id: str, method: str, path: str, body: Any = None) -> Any:
        headers = {"X-User": user_id}
        async with self._session.request(
            method, self.base + path, headers=headers, json=body
        ) as response:
            assert response.status < 300, await response.text()
            return await response.json()

    @asynccontextmanager
    async def tab(self, user_id: str) -> AsyncIterator[Tab]:
        headers = {"X-User": user_id}
        async with self._session.get(self.base + "/stream", headers=headers) as response:
            assert response.status == 200
            yield Tab(response)


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["the earlier first", "the later first"]
)
async def sides(
    request: pytest.FixtureRequest, mongo_url: str, pool: Pool, earlier: Path
) -> AsyncIterator[tuple[Side, Side]]:
    """Both, each started by itself, over a database of schema version 2 that the earlier one has
    made: it does not know how the later one stores the index of search."""
    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        database = pool.new(client)
        await database["settings"].insert_one({"_id": "schema", "version": 2})
    old = Service(
        mongo_url,
        database.name,
        *BY_HEADER,
        start=("-P", "-m", "chat_aio"),
        environment={"PYTHONPATH": str(earlier)},
    )
    new = Service(mongo_url, database.name, *BY_HEADER)
    order = (old, new) if request.param == "the earlier first" else (new, old)
    async with AsyncExitStack() as stack:
        async with old.running():
            pass
        for each in order:
            await stack.enter_async_context(each.running())
        session = await stack.enter_async_context(ClientSession())
        yield Side(old, session), Side(new, session)


async def test_each_reads_what_the_other_writes(sides: tuple[Side, Side]) -> None:
    for here, there in (sides, sides[::-1]):
        async with here.tab("bob") as at_mine, there.tab("bob") as at_others:
            given = {"name": "Both", "userIds": ["bob", "carol"]}
            made = await here.call("ada", "POST", "/conversations/group", given)
            group = made["conversation"]["id"]
            place = f"/conversations/{group}"
            sent = await there.call("bob", "POST", f"{place}/messages", {"body": "one"})
            root = sent["message"]
            await here.call("ada", "PATCH", place, {"name": "Renamed"})
            body = {
                "body": "two",
                "threadRootMessageId": root["id"],
                "replyToMessageId": root["id"],
            }
            await here.call("ada", "POST", f"{place}/messages", body)
            await there.call("ada", "POST", f"/messages/{root['id']}/reactions", {"emoji": "x"})
            await here.call("bob", "PATCH", f"/messages/{root['id']}", {"body": "edited"})
            await there.call("ada", "POST", f"{place}/read", {"messageId": root["id"]})
            for tab in (at_mine, at_others):
                told = await tab.until(lambda frame: frame.event == "message.updated")
                names = [each.event for each in told if each.event]
                assert names.count("message.created") == 2
                assert told[-1].data["message"]["body"] == "edited"
        shown = await asyncio.gather(
            *(each.call("carol", "GET", f"{place}/messages") for each in (here, there)),
        )
        assert shown[0] == shown[1]
        assert shown[0]["messages"][0]["threadSummary"]["replyCount"] == 1
        for user_id in ("ada", "bob", "carol"):
            listed = [await each.call(user_id, "GET", "/conversations") for each in (here, there)]
            assert listed[0] == listed[1]


async def test_groups_change_through_both(sides: tuple[Side, Side]) -> None:
    old, new = sides
    made = await old.call("ada", "POST", "/conversations/group", {"userIds": ["bob"]})
    place = f"/conversations/{made['conversation']['id']}"

    async def fill(side: Side, name: str) -> None:
        for number in range(10):
            await side.call(
                "ada", "POST", f"{place}/participants", {"userIds": [f"{name}{number}"]}
            )
            await side.call("bob", "POST", f"{place}/messages", {"body": name})

    await asyncio.gather(fill(old, "old"), fill(new, "new"))
    for side in sides:
        found = (await side.call("ada", "GET", place))["conversation"]
        assert len(found["participants"]) == 22
        page = (await side.call("ada", "GET", f"{place}/messages?limit=200"))["messages"]
        assert [each["seq"] for each in page] == list(range(20, 0, -1))
