"""64 senders, 4 conversations, 2 processes, live readers on both: R2 and R7 in small."""

import asyncio
from collections import defaultdict
from typing import Any

from aiohttp import ClientSession, ClientTimeout

from tests.conftest import Database
from tests.support.checking import expect_no_violation
from tests.support.people import Tab
from tests.support.processes import PATIENT, serving

SENDERS = 64
TURNS = 10


async def test_a_storm_of_senders_with_live_readers(mongo_url: str, database: Database) -> None:
    users = [f"user {number}" for number in range(SENDERS)]
    async with (
        serving(mongo_url, database.name, *PATIENT) as first,
        serving(mongo_url, database.name, *PATIENT) as second,
        ClientSession(timeout=ClientTimeout(total=60)) as session,
    ):
        places = [first, second]

        async def call(place: int, user: str, path: str, body: Any = None) -> Any:
            method = "GET" if body is None else "POST"
            async with session.request(
                method, places[place % 2] + path, json=body, headers={"X-User": user}
            ) as response:
                assert response.status in (200, 201), await response.text()
                return await response.json()

        groups = [
            (await call(n, users[0], "/conversations/group", {"userIds": users}))["conversation"]
            for n in range(4)
        ]
        ids = [group["id"] for group in groups]
        total = SENDERS * TURNS

        async def read(place: int, ready: asyncio.Event) -> list[tuple[str, int, str]]:
            headers = {"X-User": users[place]}
            async with session.get(places[place % 2] + "/stream", headers=headers) as response:
                tab = Tab(response)
                ready.set()
                told: list[tuple[str, int, str]] = []
                while len(told) < total:
                    frame = await tab.next()
                    if frame.event in (None, "participant.added"):  # Of the groups' making.
                        continue
                    assert frame.event == "message.created", frame
                    message = frame.data["message"]
                    told.append((message["conversationId"], message["seq"], message["id"]))
                return told

        async def send(number: int) -> list[dict[str, Any]]:
            sent = []
            for turn in range(TURNS):
                path = f"/conversations/{ids[(number + turn) % 4]}/messages"
                answer = await call(number, users[number], path, {"body": f"{number}.{turn}"})
                sent.append(answer["message"])
            return sent

        ready = [asyncio.Event() for _ in range(6)]
        readers = [asyncio.create_task(read(place, event)) for place, event in enumerate(ready)]
        await asyncio.gather(*(event.wait() for event in ready))
        acknowledged = [
            message for sent in await asyncio.gather(*map(send, range(SENDERS))) for message in sent
        ]
        expected = defaultdict(list)
        for message in sorted(acknowledged, key=lambda message: int(message["seq"])):
            expected[message["conversationId"]].append((message["seq"], message["id"]))
        for conversation_id in ids:
            seqs = [seq for seq, _ in expected[conversation_id]]
            assert seqs == list(range(1, total // 4 + 1))
        for told in await asyncio.gather(*readers):
            found = defaultdict(list)
            for conversation_id, seq, message_id in told:
                found[conversation_id].append((seq, message_id))
            assert found == expected
        for user in users[::9]:
            page = await call(0, user, "/conversations")
            shown = {
                conversation["id"]: conversation["unreadCount"]
                for conversation in page["conversations"]
            }
            counted = {
                conversation_id: await database["messages"].count_documents(
                    {"conversationId": conversation_id, "senderId": {"$ne": user}}
                )
                for conversation_id in ids
            }
            assert shown == counted
    await expect_no_violation(database)
