"""What a host's type checker sees; checked by mypy, never run."""

from datetime import datetime
from typing import assert_type

from aiohttp import web
from pymongo.asynchronous.database import AsyncDatabase

from chat_aio import Changed, Chat, Hooks, MessageRejected, Options
from chat_aio.client import Event
from chat_aio.hooks import BeforeMessageSend, PermissionContext
from chat_aio.schema.models import ConversationWithUnread, Message, MessagePage


class User:
    id = "ada"


async def auth(request: web.Request) -> User | None:
    return User() if request.headers else None


async def before(context: BeforeMessageSend) -> Changed | None:
    if context.role == "system":
        raise MessageRejected("not here")
    return Changed(body=context.body.strip())


def may_read(asked: PermissionContext) -> bool:
    return asked.user_id in asked.conversation.roles


async def use(database: AsyncDatabase[dict[str, object]]) -> None:
    chat = Chat(
        database,
        auth=auth,
        hooks=Hooks(before_message_send=before, can_read=may_read, user_exists=lambda user: True),
        options=Options(heartbeat_interval_ms=10_000),
    )
    chat.mount(web.Application(), "/chat")
    async with chat as opened:
        group = await opened.api.create_group_conversation("ada", user_ids=["bob"], name="x")
        assert_type(group, ConversationWithUnread)
        message = await chat.api.send_message("ada", group.id, "hi", role="user")
        assert_type(message, Message)
        assert_type(message.created_at, datetime)
        assert_type(await chat.api.list_messages("ada", group.id, limit=3), MessagePage)
        assert_type(await chat.api.mark_read("ada", group.id, message.id), None)
        async for event in chat.events([group.id], user_id="ada", after="c:1"):
            assert_type(event, Event)
            assert_type(event.position, str | None)
        await chat.api.send_message("ada", group.id, 7)  # type: ignore[arg-type]
        await chat.api.send_message("ada", group.id, "x", roll="user")  # type: ignore[call-arg]
