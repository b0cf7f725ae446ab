"""Readers: they come and go, and keep what they are told, as a client would."""

import asyncio
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientError, ClientTimeout

from tests.scenarios.chaos.calls import Caller, Refused
from tests.support.people import Frame, Tab

AWAY_SECONDS = 0.3
LONG_AWAY_SECONDS = 4.0
BAN_SECONDS = 4.0
"""How long a process whose feed has stalled may not know of a ban: it notices, and asks."""


@dataclass
class Connection:
    """What one connection has told so far; of conversations that one is out of, what came since.

    Being let in and out again in a moment may be told by the removal alone: the event of letting in
    would show what came after.
    """

    newest: dict[str, int] = field(default_factory=dict)
    outside: dict[str, list[str]] = field(default_factory=dict)


class Reader:
    """Somebody with a client that keeps its position, and fetches anew where it is told to.

    `allowed` are the conversations of which they may ever hear; a visit lasts `stay` seconds at
    most. Who is `steady` is never removed or banned, and must not be refused anything.
    """

    def __init__(
        self,
        user_id: str,
        caller: Caller,
        allowed: Iterable[str],
        *,
        seed: int,
        stay: float,
        steady: bool,
    ) -> None:
        self.user_id = user_id
        self.steady = steady
        self.allowed = set(allowed)
        self.messages: dict[str, dict[str, Any]] = {}
        self.banned_at: float | None = None
        self.connections = self.resets = 0
        self.violations: list[str] = []
        self._caller = caller
        self._stay = stay
        self._chance = random.Random(seed)
        self._position: str | None = None
        self._awaited: set[str] | None = None

    async def begin(self) -> None:
        """Read until there is a position to come back to."""
        while self._position is None:
            await self._visit(0.5)

    def finish(self, message_ids: Iterable[str]) -> None:
        """Go on until these have been told."""
        self._awaited = set(message_ids)

    async def follow(self) -> None:
        """Come and go."""
        while self._awaited is None or self._awaited - self.messages.keys():
            await self._visit(self._stay)
            if self._chance.random() < 0.2:
                await self._mark_read()

    async def _visit(self, seconds: float) -> None:
        """One connection, left at random within so long, lost, or refused."""
        self.connections += 1
        try:
            async with asyncio.timeout(self._chance.uniform(0.05, seconds)):
                await self._read()
        except (TimeoutError, ClientError, EOFError):
            pass
        except Refused as refused:
            self._note(refused)
        away = LONG_AWAY_SECONDS if self._chance.random() < 0.05 else AWAY_SECONDS
        await asyncio.sleep(self._chance.uniform(0, away))

    def _note(self, refused: Refused) -> None:
        if self.steady:
            self.violations.append(str(refused))

    async def _read(self) -> None:
        headers = {"X-User": self.user_id}
        if self._position is not None:
            headers["Last-Event-ID"] = self._position
        place = self._caller.address() + "/stream"
        timeout = ClientTimeout(total=None)
        async with self._caller.session.get(place, headers=headers, timeout=timeout) as response:
            if response.status != 200:
                raise Refused(f"the stream was answered with {response.status}")
            tab, connection = Tab(response, self._position), Connection()
            try:
                while self._awaited is None or self._awaited - self.messages.keys():
                    await self._take(await tab.next(), connection)
                    self._position = tab.last_event_id
            finally:
                for names in connection.outside.values():
                    self.violations += [f"told {name} after having been removed" for name in names]

    async def _take(self, frame: Frame, connection: Connection) -> None:
        if frame.event == "stream.reset":
            self.resets += 1
            await self._fetch_anew()
        elif frame.event is not None:
            self._judge(frame, connection)
            if "message" in frame.data:
                self.messages[frame.data["message"]["id"]] = frame.data["message"]

    def _judge(self, frame: Frame, connection: Connection) -> None:
        """What must not be told: of strangers, after a removal, out of order, to the banned."""
        conversation_id = frame.data["conversationId"]
        if conversation_id not in self.allowed:
            self.violations.append(f"told of a stranger's {conversation_id}")
        concerned = self.user_id in frame.data.get("affectedUserIds", ())
        if concerned and frame.event == "participant.added":
            connection.outside.pop(conversation_id, None)
        elif concerned and frame.event == "participant.removed":
            connection.outside[conversation_id] = []
        elif conversation_id in connection.outside:
            connection.outside[conversation_id].append(str(frame.event))
        if frame.event == "message.created":
            message = frame.data["message"]
            if message["seq"] <= connection.newest.get(conversation_id, 0):
                self.violations.append(f"told {message['seq']} of {conversation_id} out of order")
            connection.newest[conversation_id] = message["seq"]
            began = self._caller.book.began[message["clientMessageId"]]
            if self.banned_at is not None and began > self.banned_at + BAN_SECONDS:
                self.violations.append("told of a message long after having been banned")

    async def _fetch_anew(self) -> None:
        page = await self._caller.call(self.user_id, "GET", "/conversations?limit=200")
        for conversation in page["conversations"]:
            path, cursor = f"/conversations/{conversation['id']}/messages?limit=200", ""
            while cursor is not None:
                more = f"&cursor={cursor}" if cursor else ""
                page = await self._caller.call(self.user_id, "GET", path + more)
                self.messages.update({message["id"]: message for message in page["messages"]})
                cursor = page["nextCursor"]

    async def _mark_read(self) -> None:
        """Any message that has been told, as it comes."""
        if not self.messages:
            return
        message = self._chance.choice(list(self.messages.values()))
        path = f"/conversations/{message['conversationId']}/read"
        try:
            await self._caller.call(self.user_id, "POST", path, {"messageId": message["id"]})
        except Refused as refused:
            self._note(refused)
