"""A service that answers as a test says, one answer after the other."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from chat_aio.schema.models import Message

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Script:
    """`requests` are those that came, each with its body."""

    base: str
    requests: list[tuple[web.Request, bytes]] = field(default_factory=list)


@asynccontextmanager
async def scripted(*answers: Answer) -> AsyncIterator[Script]:
    script, left = Script(""), list(answers)

    async def answer(request: web.Request) -> web.StreamResponse:
        script.requests.append((request, await request.read()))
        return await left.pop(0)(request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        script.base = str(server.make_url("/chat"))
        yield script
        assert not left


def says(status: int, told: Any, **headers: str) -> Answer:
    async def answer(_: web.Request) -> web.Response:
        named = {name.replace("_", "-"): header for name, header in headers.items()}
        return web.json_response(told, status=status, headers=named)

    return answer


def refuses(status: int, code: str, message: str = "no", **headers: str) -> Answer:
    return says(status, {"error": {"code": code, "message": message}}, **headers)


async def hangs_up(request: web.Request) -> web.StreamResponse:
    """No answer at all."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


def newer_message(message_id: str) -> dict[str, Any]:
    """An envelope with a message that has a key more than this client knows."""
    message = dict.fromkeys(Message.model_fields)
    given = {
        "id": message_id,
        "conversation_id": "c",
        "sender_id": "ada",
        "body": "x",
        "role": "user",
        "seq": 1,
        "created_at": "2026-01-31T09:30:00.000Z",
        "also_send_to_main": False,
        "metadata": {},
        "reactions": (),
        "mentions": (),
    }
    made = Message.model_validate({**message, **given})
    return {"message": {**made.model_dump(mode="json", by_alias=True), "brandNew": 1}}
