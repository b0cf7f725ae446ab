"""The server API: the contract's methods, and no way past the rules."""

from inspect import signature

from chat_aio import Chat
from chat_aio.actions.api import methods_of


async def test_it_shows_methods_alone(chat: Chat) -> None:
    """A host that could reach the database there would go past every rule."""
    for api, others in ((chat.api, {"moderation"}), (chat.api.moderation, set())):
        public = {each for each in dir(api) if not each.startswith("_")}
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
