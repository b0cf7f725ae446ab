"""Metadata comes back through HTTP as it went in: from a write, a read, a list and an event."""

import asyncio
import json
import random
import struct
from math import isfinite
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat_aio.schema.wire import json_from
from tests.access.conftest import Served
from tests.support.people import Person, Tab
from tests.unit.test_metadata import JSON, KEYS

Metadata = dict[str, Any]

DOCUMENTS = st.dictionaries(KEYS, JSON, max_size=5)
AT_ONCE = 16
LONG_AT_ONCE = 200
LONG = 100_000
SEED = 7
ODD = ("", "%", "$ref", "$id", "$", ".", "a.b", "%24", "%2E", "_id", "\0", "__proto__", "$date")

BATCHES = settings(suppress_health_check=list(HealthCheck))


@settings(BATCHES, max_examples=8)
@given(st.lists(DOCUMENTS, min_size=AT_ONCE, max_size=AT_ONCE))
async def test_of_conversations_messages_and_invites(
    served: Served, documents: list[Metadata]
) -> None:
    ada, grace = served.person("ada"), served.person("grace")
    async with grace.tab() as tab:
        groups = await asyncio.gather(*(made(ada, metadata=document) for document in documents))
        told = {
            change["conversation"]["id"]: change["conversation"]
            for change in await tell(tab, "participant.added", groups)
        }
        listed = await pages(ada, "/conversations", "conversations", count=len(groups))
        for group, metadata in zip(groups, documents, strict=True):
            read = (await ada.get(f"/conversations/{group['id']}")).json["conversation"]
            require_same(metadata, group, told[group["id"]], listed[group["id"]], read)
        await check_messages(ada, tab, groups[0]["id"], documents)
    await check_invites(ada, groups[0]["id"], documents)


@pytest.mark.long
async def test_of_100_000_messages(served: Served) -> None:
    """Through the server API, in and out as JSON."""
    chance = random.Random(SEED)
    api = served.chat.api
    group = await api.create_group_conversation("ada")
    for _ in range(LONG // LONG_AT_ONCE):
        documents = [made_by(chance) for _ in range(LONG_AT_ONCE)]
        sending = (
            api.send_message("ada", group.id, "x", metadata=document) for document in documents
        )
        sent = await asyncio.gather(*sending)
        page = await api.list_messages("ada", group.id, limit=LONG_AT_ONCE)
        listed = {message["id"]: message for message in json.loads(json_from(page))["messages"]}
        for message, metadata in zip(sent, documents, strict=True):
            require_same(metadata, json.loads(json_from(message)), listed[message.id])


def made_by(chance: random.Random) -> Metadata:
    """An object as hypothesis would make it, a hundred times as fast."""
    return {text_by(chance): value_by(chance, 4) for _ in range(1 + chance.randrange(6))}


def value_by(chance: random.Random, levels: int) -> Any:
    match chance.randrange(9 if levels else 7):
        case 0:
            return chance.choice((None, True, False, 0, 1, -1, 2**63 - 1, -(2**63), 2**53 + 1))
        case 1:
            return chance.getrandbits(chance.randrange(1, 64)) * chance.choice((1, -1))
        case 2:
            return chance.choice((0.0, -0.0, 1.0, 5e-324, 1.7976931348623157e308, 1e16, 1e22))
        case 3:
            (number,) = struct.unpack("d", chance.randbytes(8))
            return number if isfinite(number) else 0.1
        case 7:
            return [value_by(chance, levels - 1) for _ in range(chance.randrange(5))]
        case 8:
            return {
                text_by(chance): value_by(chance, levels - 1) for _ in range(chance.randrange(5))
            }
    return text_by(chance)


def text_by(chance: random.Random) -> str:
    """An odd key, or any code points but surrogates."""
    if chance.random() < 0.3:
        return chance.choice(ODD)
    points = (chance.randrange(chance.choice((128, 0x800, 0xD800))) for _ in range(9))
    return "".join(map(chr, points))[: chance.randrange(10)] + chance.choice(("", "", "\U0001f600"))


async def check_messages(ada: Person, tab: Tab, group_id: str, documents: list[Metadata]) -> None:
    sending = (ada.send(group_id, "x", metadata=document) for document in documents)
    sent = await asyncio.gather(*sending)
    told = {
        entry["message"]["id"]: entry["message"]
        for entry in await tell(tab, "message.created", sent)
    }
    here = f"/conversations/{group_id}/messages"
    listed = await pages(ada, here, "messages", count=len(sent))
    for message, metadata in zip(sent, documents, strict=True):
        require_same(metadata, message, told[message["id"]], listed[message["id"]])
    read = (await ada.get(f"{here}/{sent[0]['id']}")).json["message"]
    require_same(documents[0], read)


async def check_invites(ada: Person, group_id: str, documents: list[Metadata]) -> None:
    here = f"/conversations/{group_id}/invites"
    for metadata in documents:
        invite = (await ada.post(here, {"metadata": metadata})).json["invite"]
        listed = await pages(ada, here, "invites", key="code")
        require_same(metadata, invite, listed[invite["code"]])


def require_same(metadata: Metadata, *resources: dict[str, Any]) -> None:
    """Equal by type, sign and order as well."""
    for resource in resources:
        assert repr(resource["metadata"]) == repr(metadata)


async def made(ada: Person, **given: Any) -> dict[str, Any]:
    """A group of ada's with grace in it."""
    answer = await ada.post("/conversations/group", {"userIds": ["grace"], **given})
    found: dict[str, Any] = answer.json["conversation"]
    return found


async def tell(tab: Tab, name: str, written: list[Any]) -> list[Any]:
    """The data of as many events of a name as there were writes."""
    found: list[Any] = []
    while len(found) < len(written):
        found += [event.data for event in [await tab.next()] if event.event == name]
    return found


async def pages(
    ada: Person, path: str, name: str, *, key: str = "id", count: int = 0
) -> dict[str, dict[str, Any]]:
    """What a list has at its head, by id."""
    limit = f"?limit={count}" if count else ""
    return {resource[key]: resource for resource in (await ada.get(path + limit)).json[name]}
