"""A user whose login has ended hears nothing any more, on whichever process."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from tests.conftest import MakePeople
from tests.support.people import PATIENCE


async def test_streams_of_a_user_end_on_every_process(serve: MakePeople) -> None:
    one, other = await serve(), await serve()
    async with one("bob").tab() as near, other("bob").tab() as far, other("eve").tab() as others:
        await one("alice").chat.end_streams("bob")
        await near.end()
        await far.end()
        conversation_id = await other("alice").direct("eve")
        await other("alice").send(conversation_id, "hi")
        assert (await others.until(lambda frame: frame.event == "message.created"))[-1].data


@pytest.mark.parametrize("asked_again", [True, False])
async def test_the_auth_hook_is_asked_again_where_that_is_wanted(
    serve: MakePeople, asked_again: bool
) -> None:
    """A hook that fails ends nothing; one that knows somebody else, or nobody, does."""
    answers: dict[str, Any] = {"bob": {"id": "bob"}, "eve": {"id": "eve"}, "dan": {"id": "dan"}}
    asked = asyncio.Event()

    def auth(request: web.Request) -> Any:
        answer = answers[request.headers["X-User"]]
        if isinstance(answer, Exception):
            asked.set()
            raise answer
        return answer

    people = await serve(auth=auth, reauthenticate=asked_again, heartbeat_interval_ms=50)
    async with people("bob").tab() as bob, people("eve").tab() as eve, people("dan").tab():
        answers |= {"bob": None, "eve": {"id": "mallory"}, "dan": RuntimeError("away")}
        if asked_again:
            await bob.end()
            await eve.end()
            async with asyncio.timeout(PATIENCE):
                await asked.wait()
        assert await people("dan").chat_streams() == (1 if asked_again else 3)
