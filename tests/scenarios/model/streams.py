"""A tab of everybody: each hears what the model says that they are told, in its order, no more."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from tests.scenarios.model.world import Json
from tests.support.people import BASE, Frame, Person, Tab


class Tabs:
    """One open stream of each user, as long as they are not banned."""

    def __init__(self) -> None:
        self._open: dict[str, Tab] = {}

    async def open(self, people: Iterable[Person]) -> None:
        """Open the tabs that are not."""
        for person in people:
            if person.user_id not in self._open:
                headers = {"X-User": person.user_id}
                response = await person.client.get(f"{BASE}/stream", headers=headers)
                self._open[person.user_id] = Tab(response)

    async def hear(self, user_id: str) -> Json:
        """What a user hears next, or why it is nothing."""
        try:
            return _said(await self._event(user_id))
        except (TimeoutError, EOFError) as error:
            return {"type": f"(nothing: {type(error).__name__})"}

    async def end(self, user_id: str) -> None:
        """Wait for the end of who has been banned just now; they are told nothing more."""
        if user_id in self._open:
            with suppress(EOFError):
                frame = await self._event(user_id)
                raise AssertionError(f"{user_id} is banned and was told {frame}")
            del self._open[user_id]

    async def close(self) -> None:
        for tab in self._open.values():
            tab.response.close()
        await asyncio.sleep(0)

    async def _event(self, user_id: str) -> Frame:
        frame = await self._open[user_id].next()
        while frame.event is None:
            frame = await self._open[user_id].next()
        return frame


def _said(frame: Frame) -> Json:
    """An event's data and id, with those affected in order."""
    said: Json = {**frame.data, "id": frame.id}
    if "affectedUserIds" in said:
        said["affectedUserIds"] = sorted(said["affectedUserIds"])
    return said if frame.event == said["type"] else {**said, "event": frame.event}
