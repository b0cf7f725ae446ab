"""Two people who talk: what one sends is heard on the other's stream."""

import asyncio
from collections.abc import Mapping

from chat_aio.client import ChatClient, EventStream, MessageEvent
from chat_aio.schema.models import Message

PATIENCE = 60.0


async def heard(stream: EventStream) -> Message:
    """The next created message."""
    async with asyncio.timeout(PATIENCE):
        async for event in stream:
            if isinstance(event, MessageEvent) and event.type == "message.created":
                return event.message
    raise AssertionError("the stream has ended")


async def talk(base: str, ada: Mapping[str, str], bob: Mapping[str, str]) -> None:
    """As two who have these headers and are called ada and bob."""
    async with ChatClient(base, headers=ada) as one, ChatClient(base, headers=bob) as other:
        direct = await one.get_or_create_conversation("bob")
        assert direct.pair_key == "ada:bob"
        async with other.stream() as stream:
            sent = await one.send_message(direct.id, "Hello!")
            # A process whose feed lags behind first delivers what was said before.
            while await heard(stream) != sent:
                pass
