"""Clients of a served chat, by user id."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from chat_aio.client import ChatClient
from tests.conftest import MakePeople
from tests.support.people import BASE

ClientOf = Callable[[str], Awaitable[ChatClient]]
Connect = Callable[..., Awaitable[ClientOf]]


@pytest.fixture
async def connect(serve: MakePeople) -> AsyncIterator[Connect]:
    """Serve a chat, and open clients of it."""
    async with AsyncExitStack() as opened:

        async def make(*given: Any, **options: Any) -> ClientOf:
            person = await serve(*given, **options)
            base = str(person("").client.make_url(BASE))

            async def client_of(user_id: str) -> ChatClient:
                client = ChatClient(base, headers={"X-User": user_id})
                return await opened.enter_async_context(client)

            return client_of

        yield make
