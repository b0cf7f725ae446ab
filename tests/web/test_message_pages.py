"""Pages of messages over HTTP: the JSON of what the server API returns, made of the documents."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from pymongo import AsyncMongoClient
from pymongo.monitoring import CommandListener, CommandStartedEvent

from chat_aio import Chat, Options
from chat_aio.schema.models import Message
from chat_aio.schema.wire import json_from
from tests.conftest import Database
from tests.support.people import BASE, Person


async def raw(person: Person, path: str) -> bytes:
    async with person.client.get(BASE + path, headers={"X-User": person.user_id}) as response:
        assert response.status == 200
        return await response.read()


async def varied(alice: Person, bob: Person) -> tuple[str, str]:
    """A group in which every field of a message is used, and the root of its thread."""
    group = await alice.group("bob")
    root = (await alice.send(group, "tea?", metadata={"a.b": [1, None], "$c": "é\u2028"}))["id"]
    reply = await bob.send(group, "tea!", replyToMessageId=root, clientMessageId="k")
    await bob.send(group, "tea in a thread", threadRootMessageId=root)
    await bob.send(group, "tea in both", threadRootMessageId=root, alsoSendToMain=True)
    await alice.send(group, "tea @bob", mentions=["bob", "alice"])
    await alice.react(reply["id"], "👍")
    await bob.react(reply["id"], "👍")
    await bob.react(reply["id"], "x")
    await bob.edit(reply["id"], "more tea!")
    gone = (await alice.send(group, "no tea"))["id"]
    await alice.send(group, "tea with what is gone", replyToMessageId=gone)
    await alice.delete(gone)
    await alice.post(f"/messages/{reply['id']}/forward", {"conversationId": group})
    return group, root


async def test_they_are_what_the_server_api_returns(person: Callable[[str], Person]) -> None:
    alice = person("alice")
    group, root = await varied(alice, person("bob"))
    api = alice.chat.api
    path = f"/conversations/{group}/messages"
    for limit in (3, 50):
        page = await api.list_messages("alice", group, limit=limit)
        assert await raw(alice, f"{path}?limit={limit}") == json_from(page)
        assert (page.next_cursor is None) == (limit == 50)
        found = await api.search_messages("alice", "tea", conversation_id=group, limit=limit)
        asked = f"/search/messages?q=tea&conversationId={group}&limit={limit}"
        assert await raw(alice, asked) == json_from(found)
        assert found.messages
    thread = await alice.listed(f"/conversations/{group}/threads/{root}/messages")
    single = [(await alice.get(f"{path}/{reply['id']}")).json["message"] for reply in thread]
    assert len(thread) == 2
    assert thread == single


async def test_no_objects_are_made_for_them(person: Callable[[str], Person]) -> None:
    alice = person("alice")
    group, root = await varied(alice, person("bob"))
    with patch.object(Message, "model_validate", side_effect=AssertionError("an object was made")):
        assert await alice.listed(f"/conversations/{group}/messages")
        assert await alice.listed(f"/conversations/{group}/threads/{root}/messages")
        assert await alice.listed("/search/messages?q=tea")


class Commands(CommandListener):
    """The commands about messages that a client sends."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def started(self, event: CommandStartedEvent) -> None:
        name = event.command_name
        if "messages" in (event.command[name], event.command.get("collection")):
            self.sent.append(name)

    def succeeded(self, event: Any) -> None: ...

    def failed(self, event: Any) -> None: ...


@pytest.mark.parametrize(
    ("limit", "commands"),
    [(200, ["find"]), (15, ["find"]), (14, ["find", "find"])],
    ids=["more than MongoDB puts into a batch", "quotes in the page", "a quote from before it"],
)
async def test_a_page_is_one_query(
    chat: Chat, database: Database, mongo_url: str, limit: int, commands: list[str]
) -> None:
    """And a second one, if it quotes what it does not show."""
    api = chat.api
    group = (await api.create_group_conversation("alice")).id
    sent = [await api.send_message("alice", group, str(number)) for number in range(120)]
    for message in sent[-5:]:
        await api.send_message("alice", group, "quoting", reply_to_message_id=message.id)
    await api.send_message("alice", group, "quoting", reply_to_message_id=sent[-9].id)
    listener = Commands()
    async with AsyncMongoClient[dict[str, Any]](mongo_url, event_listeners=[listener]) as client:
        # Another process, whose feed has nothing to read of what was sent.
        reader = Chat(client[database.name], options=Options(replay_buffer_seconds=0, quotas=None))
        await reader.open()
        listener.sent.clear()
        page = await reader.api.list_messages("alice", group, limit=limit)
        await reader.close()
    assert page.messages[0].reply_to is not None
    assert page.messages[0].reply_to.excerpt == sent[-9].body
    assert listener.sent == commands
