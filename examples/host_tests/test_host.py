"""Tests of a host over a real mongod, with the fixtures of `chat_aio.testing`.

pip install '../chat_aio[testing]'  # docs/start/installation.md
pytest examples/host_tests
"""

import pytest
from aiohttp import web

from chat_aio import Chat, ChatError, Hooks, MessageRejected
from chat_aio.client import MessageEvent
from chat_aio.hooks import BeforeMessageSend
from chat_aio.testing import Database, Serve

pytestmark = pytest.mark.asyncio


async def auth(request: web.Request) -> dict[str, str] | None:
    user_id = request.headers.get("X-User")
    return {"id": user_id} if user_id else None


def be_polite(message: BeforeMessageSend) -> None:
    if "damn" in message.body:
        raise MessageRejected("mind your language")


def make_app(database: Database) -> web.Application:
    """You would import your own app instead."""
    app = web.Application()
    Chat(database, auth=auth, hooks=Hooks(before_message_send=be_polite)).mount(app)
    return app


def sign_in(user_id: str, origin: str) -> dict[str, str]:
    """The headers of a user's requests. With cookies it would be async and log in at `origin`."""
    return {"X-User": user_id}


async def test_people_are_polite(chat_database: Database, chat_people: Serve) -> None:
    """Two users of the host's own app."""
    person = await chat_people(make_app(chat_database), sign_in)
    ada, bob = await person("ada"), await person("bob")
    direct = await ada.get_or_create_conversation("bob")
    async with bob.stream() as stream:
        with pytest.raises(MessageRejected, match="language"):
            await ada.send_message(direct.id, "damn!")
        await ada.send_message(direct.id, "Hello!")
        event = await anext(stream)
    assert isinstance(event, MessageEvent)
    assert event.message.body == "Hello!"


async def test_groups_keep_an_admin(chat: Chat) -> None:
    """In process, without a server."""
    group = await chat.api.create_group_conversation("ada", user_ids=["bob"])
    with pytest.raises(ChatError) as refused:
        await chat.api.remove_participant("ada", group.id, "ada")
    assert refused.value.code == "LAST_ADMIN_REMAINING"
