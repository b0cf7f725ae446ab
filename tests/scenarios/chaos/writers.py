"""Writers: they send, edit and delete, and repeat with the same key until they are answered."""

import asyncio
import random
from collections.abc import Sequence
from uuid import UUID

from aiohttp import ClientError

from tests.scenarios.chaos.calls import Book, Caller, Sent

PACE_SECONDS = 0.15
IMPATIENCE = 0.1


class Writer:
    """One of several who write into the same conversations; `stop` lets it finish what it does."""

    def __init__(self, user_id: str, caller: Caller, groups: Sequence[str], *, seed: int) -> None:
        self.user_id = user_id
        self._caller = caller
        self._groups = groups
        self._chance = random.Random(seed)
        self._own: list[Sent] = []
        self._stopped = False

    def stop(self) -> None:
        self._stopped = True

    async def write(self) -> None:
        """Until stopped, at random."""
        while not self._stopped:
            deed = self._chance.random()
            if deed < 0.7 or not self._own:
                self._own.append(await self.send(self._chance.choice(self._groups)))
            elif deed < 0.9:
                await self._edit(self._chance.choice(self._own))
            else:
                await self._delete(self._own.pop(self._chance.randrange(len(self._own))))
            await asyncio.sleep(self._chance.uniform(0, PACE_SECONDS))

    async def send(self, conversation_id: str) -> Sent:
        """A message, sent again and again with one key until it is acknowledged."""
        key = str(UUID(int=self._chance.getrandbits(128)))
        path = f"/conversations/{conversation_id}/messages"
        sending = {"body": key, "clientMessageId": key}
        self._book.began[key] = asyncio.get_running_loop().time()
        if self._chance.random() < IMPATIENCE:
            await self._send_without_waiting(path, sending)
        message = (await self._caller.call(self.user_id, "POST", path, sending))["message"]
        sent = Sent(key, message["id"], conversation_id, message["seq"], key)
        await self._book.acknowledge(sent)
        return sent

    @property
    def _book(self) -> Book:
        return self._caller.book

    async def _send_without_waiting(self, path: str, sending: dict[str, str]) -> None:
        """A call that is cut off before its answer."""
        try:
            async with asyncio.timeout(self._chance.uniform(0, 0.03)):
                await self._caller.once(self.user_id, "POST", path, sending)
        except (TimeoutError, ClientError):
            self._book.repeats += 1

    async def _edit(self, sent: Sent) -> None:
        body = f"{sent.key}, edited {self._chance.random()}"
        await self._caller.call(
            self.user_id, "PATCH", f"/messages/{sent.message_id}", {"body": body}
        )
        sent.body = body

    async def _delete(self, sent: Sent) -> None:
        await self._caller.call(self.user_id, "DELETE", f"/messages/{sent.message_id}")
        sent.body = ""
