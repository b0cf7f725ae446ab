"""Lists of conversations over HTTP: the JSON of what the server API returns, made of documents."""

from collections.abc import Callable
from unittest.mock import patch

from chat_aio.schema.models import ConversationWithUnread, Participant
from chat_aio.schema.wire import json_from
from chat_aio.store import mapping
from tests.support.people import Person
from tests.web.test_message_pages import raw


async def varied(alice: Person, bob: Person) -> None:
    """Conversations in which every field is used."""
    await alice.direct("bob")
    named = await alice.group("bob", "carol", name="é\u2028", metadata={"a.b": [1, None], "$c": {}})
    read = await bob.send(named, "one")
    await bob.send(named, "two")
    await alice.read(named, read["id"])
    await bob.group("alice", visibility="public", joinPolicy="open")


async def test_they_are_what_the_server_api_returns(person: Callable[[str], Person]) -> None:
    alice = person("alice")
    await varied(alice, person("bob"))
    for limit in (1, 2, 50):
        page = await alice.chat.api.list_conversations("alice", limit=limit)
        assert await raw(alice, f"/conversations?limit={limit}") == json_from(page)
        assert len(page.conversations) == min(limit, 3)
    assert sorted(conversation.unread_count for conversation in page.conversations) == [0, 0, 1]


async def test_no_objects_are_made_for_them(person: Callable[[str], Person]) -> None:
    alice = person("alice")
    await varied(alice, person("bob"))
    made = AssertionError("an object was made")
    with (
        patch.object(ConversationWithUnread, "model_validate", side_effect=made),
        patch.object(mapping, Participant.__name__, side_effect=made),
    ):
        assert len((await alice.get("/conversations")).json["conversations"]) == 3
