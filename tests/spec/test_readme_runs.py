"""The README's first example is run as it stands."""

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text()
MOUNTED, IN_PROCESS = re.findall(r"```python\n(.*?)```", README, re.S)


async def test_the_mounted_example(
    mongo_url: str, database: Any, aiohttp_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = ModuleType("example")
    monkeypatch.setitem(sys.modules, "example", example)
    code = MOUNTED.replace("mongodb://127.0.0.1:27017/?replicaSet=rs0", mongo_url)
    code = code.replace('client["chat"]', f'client["{database.name}"]')
    exec(compile(code, "README.md", "exec"), example.__dict__)
    connect, clients = example.AsyncMongoClient, []

    def connected(url: str) -> Any:
        clients.append(connect(url))
        return clients[-1]

    monkeypatch.setattr(example, "AsyncMongoClient", connected)
    client = await aiohttp_client(await example.make_app())
    headers = {"X-User": "ada"}
    async with client.post(
        "/api/chat/conversations", json={"otherUserId": "grace"}, headers=headers
    ) as response:
        conversation_id = (await response.json())["conversation"]["id"]
    path = f"/api/chat/conversations/{conversation_id}/messages"
    async with client.post(path, data='{"body": "Hello!"}', headers=headers) as response:
        assert response.status == 201
    await client.close()
    for each in clients:
        await each.close()


async def test_the_in_process_example(database: Any) -> None:
    from chat_aio import Chat

    names: dict[str, Any] = {"Chat": Chat, "database": database}
    body = "".join(f"    {line}\n" for line in IN_PROCESS.splitlines())
    exec(f"async def example():\n{body}", names)
    await names["example"]()
    assert await database["messages"].count_documents({"body": "Hello!"}) == 1


def test_the_two_commands_are_there() -> None:
    makefile = (Path(__file__).parents[2] / "Makefile").read_text()
    for command in re.findall(r"^\$ make (\w+)", README, re.M):
        assert re.search(rf"^{command}:", makefile, re.M)
