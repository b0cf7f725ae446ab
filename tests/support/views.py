"""What a client shows: its conversations, and a page of messages of each, kept by events alone."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.support.people import Frame, Person

ROWS = ("members", "name", "metadata", "pins", "ownMarks")
"""The kinds for which a client fetches the conversation."""

UNREAD = "unreadCount"
"""It changes with each message, and clients count it: it is compared where a mark was named."""


@dataclass
class View:
    """One client of a user: it was away since `position`. `fetched` are its requests."""

    user_id: str
    rows: dict[str, Any] = field(default_factory=dict)
    pages: dict[str, dict[str, Any]] = field(default_factory=dict)
    position: str | None = None
    fetched: list[str] = field(default_factory=list)
    lists: int = 0

    async def fetch_all(self, person: Callable[[str], Person]) -> None:
        """The full refetch, which a client without `stream.changed` needs."""
        self.lists += 1
        answer = await person(self.user_id).get("/conversations?limit=100")
        assert answer.status == 200, answer
        assert answer.json["nextCursor"] is None
        self.rows = {row["id"]: row for row in answer.json["conversations"]}
        self.pages = {}
        for conversation_id in self.rows:
            await self._fetch_page(person, conversation_id)

    async def take(self, frame: Frame, person: Callable[[str], Person]) -> None:
        """Apply an event; fetch what it names."""
        if frame.event is None:
            return
        if frame.event == "stream.reset":
            await self.fetch_all(person)
        elif frame.event == "stream.changed":
            await self._refetch(frame.data, person)
        elif frame.event == "conversation.deleted":
            self._drop(frame.data["conversationId"])
        elif "message" in frame.data:
            message = frame.data["message"]
            self.pages.setdefault(message["conversationId"], {})[message["id"]] = message
        elif frame.event == "read.updated":
            await self._fetch_row(person, frame.data["conversationId"])
        elif "conversation" in frame.data:
            await self._take_row(frame, person)

    async def _take_row(self, frame: Frame, person: Callable[[str], Person]) -> None:
        conversation_id = frame.data["conversationId"]
        is_mine = self.user_id in frame.data["affectedUserIds"]
        if frame.event == "participant.removed" and is_mine:
            self._drop(conversation_id)
        elif conversation_id not in self.rows or is_mine:
            await self._fetch_row(person, conversation_id)
            await self._fetch_page(person, conversation_id)
        else:
            self.rows[conversation_id] |= frame.data["conversation"]

    async def _refetch(self, told: Any, person: Callable[[str], Person]) -> None:
        if told["all"]:
            await self.fetch_all(person)
        named = told["conversations"]
        for conversation_id in named["removed"]:
            self._drop(conversation_id)
        reloaded = {*named["reactions"]}
        for conversation_id in {name for kind in ROWS for name in named[kind]}:
            before = self._joined_at(conversation_id)
            await self._fetch_row(person, conversation_id)
            # The user may have joined it, or left it and joined it again.
            if self._joined_at(conversation_id) != before:
                reloaded.add(conversation_id)
        for conversation_id in reloaded:
            await self._fetch_page(person, conversation_id)

    def _joined_at(self, conversation_id: str) -> Any:
        people = self.rows.get(conversation_id, {}).get("participants", ())
        return [person["joinedAt"] for person in people if person["userId"] == self.user_id]

    async def _fetch_row(self, person: Callable[[str], Person], conversation_id: str) -> None:
        self.fetched.append(conversation_id)
        answer = await person(self.user_id).get(f"/conversations/{conversation_id}")
        if answer.status == 200:
            self.rows[conversation_id] = answer.json["conversation"]
        else:
            self._drop(conversation_id)

    async def _fetch_page(self, person: Callable[[str], Person], conversation_id: str) -> None:
        self.fetched.append(f"{conversation_id}/messages")
        path = f"/conversations/{conversation_id}/messages?limit=100"
        answer = await person(self.user_id).get(path)
        if answer.status == 200:
            page = {message["id"]: message for message in answer.json["messages"]}
            self.pages[conversation_id] = page
        else:
            self._drop(conversation_id)

    def _drop(self, conversation_id: str) -> None:
        self.rows.pop(conversation_id, None)
        self.pages.pop(conversation_id, None)

    def shown(self) -> Any:
        """What is compared: all but what others have read and how much is unread."""
        return {
            conversation_id: (
                _without_marks(row, self.user_id),
                self.pages.get(conversation_id, {}),
            )
            for conversation_id, row in self.rows.items()
        }


def _without_marks(row: Any, user_id: str) -> Any:
    people = [
        {name: value for name, value in person.items() if name != "lastReadMessageId"}
        if person["userId"] != user_id
        else person
        for person in row["participants"]
    ]
    rest = {name: value for name, value in row.items() if name != UNREAD}
    return {**rest, "participants": people}


async def shown_to(user_id: str, person: Callable[[str], Person]) -> Any:
    """What a client of the user shows after a full refetch."""
    view = View(user_id)
    await view.fetch_all(person)
    return view.shown()
