"""The server API: the contract's methods, and no way past the rules."""

from inspect import signature

import pytest

from chat_aio import Chat, Hooks
from chat_aio.actions.api import methods_of
from chat_aio.errors import InvalidInput, UserBanned
from chat_aio.hooks import MessageMutation
from tests.conftest import MakeChat
from tests.support.moderating import is_mod


async def test_it_shows_methods_alone(chat: Chat) -> None:
    """A host that could reach the database there would go past every rule."""
    for api, others in ((chat.api, {"moderation"}), (chat.api.moderation, set())):
        public = {name for name in dir(api) if not name.startswith("_")}
        assert public == {*methods_of(type(api)), *others}


async def test_it_describes_itself_as_a_host_calls_it(chat: Chat) -> None:
    for api in (chat.api, chat.api.moderation):
        for name in methods_of(type(api)):
            assert next(iter(signature(getattr(api, name)).parameters)) == "user_id"


async def test_what_an_action_returns_beyond_the_contract_is_taken_off(chat: Chat) -> None:
    direct = await chat.api.get_or_create_conversation("alice", "bob")
    message = await chat.api.send_message("alice", direct.id, "hello")
    again = await chat.api.forward_message("alice", message.id, direct.id)
    assert (direct.type, message.body, again.body) == ("direct", "hello", "hello")


async def test_every_method_refuses_who_is_banned_and_who_can_be_nobody(
    make_chat: MakeChat,
) -> None:
    """Before it looks at anything else, its own arguments included."""
    chat = await make_chat(Hooks(can_moderate=is_mod))
    await chat.api.moderation.ban_user("mod", "mallory")
    for api in (chat.api, chat.api.moderation):
        for name in methods_of(type(api)):
            with pytest.raises(UserBanned):
                await getattr(api, name)("mallory")
            with pytest.raises(InvalidInput, match="user_id must be an id"):
                await getattr(api, name)(" ")


async def test_a_hook_that_calls_the_api_is_a_door_as_well(make_chat: MakeChat) -> None:
    """It may act for another user than the request's, whose ban counts."""
    chats: list[Chat] = []

    async def echo(mutation: MessageMutation) -> None:
        if mutation.user_id == "alice":
            with pytest.raises(UserBanned):
                await chats[0].api.send_message("mallory", mutation.message.conversation_id, "me")
            await chats[0].api.send_message("bob", mutation.message.conversation_id, "me too")

    chats.append(await make_chat(Hooks(can_moderate=is_mod, after_message_mutation=echo)))
    api = chats[0].api
    group = await api.create_group_conversation("alice", user_ids=["bob", "mallory"])
    await api.moderation.ban_user("mod", "mallory")
    await api.send_message("alice", group.id, "hi")
    found = (await api.list_messages("alice", group.id)).messages
    assert sorted(message.body for message in found) == ["hi", "me too"]
