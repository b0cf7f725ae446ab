"""A person at a keyboard: calls over HTTP, tabs with a live stream."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient

from chat_aio import Chat
from chat_aio.web.app_keys import LIVE
from chat_aio.web.mounts import chats_in
from tests.support.conforming import expect_described, expect_described_event

BASE = "/api/chat"
PATIENCE = 30.0
"""Enough on a busy machine; whoever waits in vain has failed."""


async def caught_up(chat: Chat) -> None:
    """Wait until this process's streams have everything that is committed now: a stream that opens
    then hears nothing of it."""
    await chat._live.feed.catch_up(seconds=PATIENCE)


async def app_caught_up(app: web.Application) -> None:
    """The same for the chats that are mounted in an app."""
    for mounted in chats_in(app).values():
        await mounted[LIVE].feed.catch_up(seconds=PATIENCE)


def picked_by_header(request: web.Request) -> dict[str, Any] | None:
    user_id = request.headers.get("X-User")
    return {"id": user_id} if user_id is not None else None


@dataclass(frozen=True)
class Answer:
    status: int
    json: Any
    headers: Any

    @property
    def code(self) -> str | None:
        return self.json["error"]["code"] if "error" in self.json else None


@dataclass(frozen=True)
class Frame:
    """One server-sent event; `event` is None for an id-only frame."""

    event: str | None
    data: Any = None
    id: str | None = None


@dataclass
class Tab:
    """An open stream, read as an EventSource reads it."""

    response: ClientResponse
    last_event_id: str | None = None
    comments: list[str] = field(default_factory=list)
    retry: int | None = None

    async def next(self) -> Frame:
        """The next frame; EOFError when the server has ended the stream."""
        async with asyncio.timeout(PATIENCE):
            while True:
                lines = await self._block()
                fields = {name: value for name, value in lines if name}
                self.comments += [value for name, value in lines if not name]
                if "retry" in fields:
                    self.retry = int(fields["retry"])
                if "id" in fields:
                    self.last_event_id = fields["id"]
                if "id" in fields or "event" in fields:
                    data = json.loads(fields["data"]) if "data" in fields else None
                    if data is not None:
                        expect_described_event(data)
                    return Frame(fields.get("event"), data, fields.get("id"))

    async def event(self, name: str) -> Any:
        """The data of the next event, which must be of this name; id-only frames are passed, and
        so is the number of unread messages, which comes at a time of its own."""
        frame = await self.next()
        while frame.event is None or (frame.event == "unread.updated" != name):
            frame = await self.next()
        assert frame.event == name, frame
        return frame.data

    async def until(self, found: Callable[[Frame], bool]) -> list[Frame]:
        """All frames up to the first that is meant."""
        frames = [await self.next()]
        while not found(frames[-1]):
            frames.append(await self.next())
        return frames

    async def bodies(self, count: int) -> list[str]:
        """The bodies of the next `count` created messages."""
        return [(await self.event("message.created"))["message"]["body"] for _ in range(count)]

    async def end(self) -> None:
        """Wait until the server has ended the stream."""
        try:
            while True:
                await self.next()
        except EOFError:
            return

    async def _block(self) -> list[tuple[str, str]]:
        lines = []
        while line := (await self._line()).removesuffix("\n"):
            assert "\r" not in line
            name, _, value = line.partition(":")
            lines.append((name, value.removeprefix(" ")))
        return lines

    async def _line(self) -> str:
        line = await self.response.content.readline()
        if not line:
            raise EOFError
        return line.decode()


@dataclass(frozen=True)
class Person:
    user_id: str
    client: TestClient[web.Request, web.Application]
    chat: Chat

    async def call(self, method: str, path: str, **request: Any) -> Answer:
        headers = {"X-User": self.user_id, **request.pop("headers", {})}
        async with self.client.request(method, BASE + path, headers=headers, **request) as response:
            body = await response.read()
            answer = Answer(response.status, json.loads(body) if body else {}, response.headers)
        if body:
            expect_described(method, path, answer.status, answer.json)
        return answer

    async def follow(self, conversation_ids: str, **headers: str) -> Answer:
        """The answer to a request for a stream that should be refused; of an open one, which does
        not end, without a body."""
        url = f"{BASE}/stream?conversationIds={conversation_ids}"
        headers["X-User"] = self.user_id
        async with self.client.get(url, headers=headers) as response:
            body = {} if response.status == 200 else await response.json()
            return Answer(response.status, body, response.headers)

    async def get(self, path: str, **request: Any) -> Answer:
        return await self.call("GET", path, **request)

    async def post(self, path: str, json: Any = None, **request: Any) -> Answer:
        return await self.call(
            "POST", path, **({"json": json} if json is not None else {}), **request
        )

    async def direct(self, other_user_id: str) -> str:
        """The id of the direct conversation with somebody."""
        answer = await self.post("/conversations", {"otherUserId": other_user_id})
        assert answer.status == 200, answer
        return str(answer.json["conversation"]["id"])

    async def group(self, *user_ids: str, **given: Any) -> str:
        """The id of a new group."""
        answer = await self.post("/conversations/group", {"userIds": user_ids, **given})
        assert answer.status == 201, answer
        return str(answer.json["conversation"]["id"])

    async def send(self, conversation_id: str, body: str, **given: Any) -> dict[str, Any]:
        """The message that was sent."""
        answer = await self.post(
            f"/conversations/{conversation_id}/messages", {"body": body, **given}
        )
        assert answer.status == 201, answer
        message: dict[str, Any] = answer.json["message"]
        return message

    async def change(self, method: str, path: str, json: Any = None) -> dict[str, Any]:
        """The message after a change of it that succeeds."""
        answer = await self.call(method, path, **({"json": json} if json is not None else {}))
        assert answer.status == 200, answer
        message: dict[str, Any] = answer.json["message"]
        return message

    async def edit(self, message_id: str, body: str, **given: Any) -> dict[str, Any]:
        return await self.change("PATCH", f"/messages/{message_id}", {"body": body, **given})

    async def delete(self, message_id: str) -> dict[str, Any]:
        return await self.change("DELETE", f"/messages/{message_id}")

    async def react(self, message_id: str, emoji: str) -> dict[str, Any]:
        return await self.change("POST", f"/messages/{message_id}/reactions", {"emoji": emoji})

    async def unreact(self, message_id: str, emoji: str) -> dict[str, Any]:
        return await self.change("DELETE", f"/messages/{message_id}/reactions", {"emoji": emoji})

    async def listed(self, path: str) -> list[dict[str, Any]]:
        """The messages of a page."""
        answer = await self.get(path)
        assert answer.status == 200, answer
        messages: list[dict[str, Any]] = answer.json["messages"]
        return messages

    async def read(self, conversation_id: str, message_id: str) -> None:
        answer = await self.post(
            f"/conversations/{conversation_id}/read", {"messageId": message_id}
        )
        assert (answer.status, answer.json) == (200, {"ok": True}), answer

    async def unread(self, conversation_id: str) -> int:
        answer = await self.get(f"/conversations/{conversation_id}")
        assert answer.status == 200, answer
        return int(answer.json["conversation"]["unreadCount"])

    async def told_all(self) -> None:
        """Wait until all that is committed now has been told to this process's streams."""
        await caught_up(self.chat)

    async def chat_streams(self) -> int:
        """How many streams this process has open."""
        await asyncio.sleep(0)
        return len(self.chat._live.hub)

    @asynccontextmanager
    async def tab(
        self, last_event_id: str | None = None, *, following: Sequence[str] = (), **headers: str
    ) -> AsyncIterator[Tab]:
        """An open stream, from its first bytes on, or one that follows conversations. Without a
        position it hears nothing of what was done before, however far the feed lags behind."""
        if last_event_id is not None:
            headers["Last-Event-ID"] = last_event_id
        elif self.chat._live.feed.is_live:
            await self.told_all()
        headers["X-User"] = self.user_id
        query = f"?conversationIds={','.join(following)}" if following else ""
        async with self.client.get(f"{BASE}/stream{query}", headers=headers) as response:
            assert response.status == 200, await response.text()
            yield Tab(response)
