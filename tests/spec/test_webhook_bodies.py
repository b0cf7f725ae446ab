"""docs/guides/webhooks.md shows the body of each kind of event, as a running service posts it.

`CHAT_AIO_WRITE_EXAMPLES=1 python -m pytest tests/spec/test_webhook_bodies.py` writes them again.
"""

import json
import os
import re
from typing import Any

from chat_aio import Chat
from chat_aio.plugins.webhooks.rows import GAP
from chat_aio.schema.events import STORED_EVENTS
from tests.conftest import Database, MakePeople
from tests.plugins.webhooks.receiving import all_posted, quick, ready, receiving
from tests.spec.test_objects import PAGE as OBJECTS
from tests.spec.test_objects import Steady

PAGE = OBJECTS.parents[1] / "guides/webhooks.md"
EXAMPLE = re.compile(r"(?<=^### )([a-z.]+)\n\n```json\n.*?```", re.M | re.S)


async def bodies(serve: MakePeople, database: Database) -> dict[str, Any]:
    """The first body of each kind, in the order of the page."""
    async with receiving() as receiver:
        people = await serve(plugins=[quick(receiver.url)])
        await ready(database)
        ada, grace = people("ada"), people("grace")
        group = await ada.group("grace", name="Engine room", metadata={"order": 7})
        await all_posted(database, 1)
        participants = f"/conversations/{group}/participants"
        await ada.post(participants, {"userIds": ["linus"]})
        await all_posted(database, 2)
        await ada.call("DELETE", participants, json={"userId": "linus"})
        await all_posted(database, 3)
        await ada.call("PATCH", f"/conversations/{group}", json={"name": "The engine room"})
        await all_posted(database, 4)
        sent = await ada.send(group, "Found a moth in the relay.", mentions=["grace"])
        await all_posted(database, 5)
        await ada.edit(sent["id"], "Found a moth in relay 70.")
        await all_posted(database, 6)
        await grace.react(sent["id"], "🦋")
        await all_posted(database, 7)
        await grace.unreact(sent["id"], "🦋")
        await all_posted(database, 8)
        await ada.delete(sent["id"])
        await all_posted(database, 9)
        await ada.chat.conversations.delete_conversation("ada", group)
        await all_posted(database, 10)
        await ada.chat.close()
        lost = {"$set": {"pipeline": "of another version"}}
        await database["settings"].update_one({"_id": "webhooks:default"}, lost)
        async with Chat(database, plugins=[quick(receiver.url)]):
            await all_posted(database, 11)
    return {event.type: event.body for event in receiver.taken}


async def test_the_bodies_are_those_of_a_running_service(
    serve: MakePeople, database: Database
) -> None:
    steady = Steady()
    found = {kind: steady.shown(body) for kind, body in (await bodies(serve, database)).items()}
    text = PAGE.read_text()
    assert {match[1] for match in EXAMPLE.finditer(text)} == {*STORED_EVENTS, GAP} == found.keys()

    def fresh(example: "re.Match[str]") -> str:
        body = json.dumps(found[example[1]], indent=2, ensure_ascii=False)
        return f"{example[1]}\n\n```json\n{body}\n```"

    written = EXAMPLE.sub(fresh, text)
    if os.environ.get("CHAT_AIO_WRITE_EXAMPLES"):
        PAGE.write_text(written)
    assert PAGE.read_text() == written
