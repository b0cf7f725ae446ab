"""The story in a new database: continued, or started again."""

from typing import Any

from chat_aio.chat import Chat
from chat_aio.demo.story import tell_story
from chat_aio.plugins import Attachments
from chat_aio.store.database import Database

UNFINISHED = "demo_story_unfinished"
"""A collection that is there while the story is told. Nobody is served by then, so where it is, a
demo was ended in the middle, and no visitor has written anything."""


class Telling:
    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._database = Database(handle)

    async def drop_half(self, *_: object) -> None:
        """Empty a database in which a story has no end. Raises SetupError if it is not reached."""
        await self._database.require_replica_set()
        mark = self._handle[UNFINISHED]
        if await self._database.read(lambda: mark.find_one()) is not None:
            handle = self._handle
            await self._database.write(lambda: handle.client.drop_database(handle.name))

    async def tell(self, chat: Chat, files: Attachments) -> None:
        mark = self._handle[UNFINISHED]
        await self._database.write(lambda: mark.insert_one({}))
        await tell_story(chat, files)
        await self._database.write(lambda: mark.drop())
