"""People who are added, removed and banned while all the others talk."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any

from tests.scenarios.chaos.calls import Caller
from tests.scenarios.chaos.readers import Reader
from tests.scenarios.chaos.served import MODERATOR

HOST = "host"
PAUSE_SECONDS = 1.0


class Turnover:
    """The host lets wanderers into a conversation and removes them; a moderator bans others.

    `joined` is since when (in the loop's time) a wanderer is in for certain.
    """

    def __init__(
        self,
        caller: Caller,
        conversation_id: str,
        *,
        wanderers: Sequence[Reader],
        outlaws: Sequence[Reader],
        seed: int,
    ) -> None:
        self.joined: dict[str, float] = {}
        self.changes = 0
        self._caller = caller
        self._path = f"/conversations/{conversation_id}/participants"
        self._wanderers = wanderers
        self._outlaws = outlaws
        self._bans: dict[str, str] = {}
        self._chance = random.Random(seed)
        self._stopped = False

    async def turn_over(self) -> None:
        """Until stopped; in the end every other wanderer is in, and nobody is banned."""
        while not self._stopped:
            if self._chance.random() < 0.7:
                wanderer = self._chance.choice(self._wanderers)
                await self._place(wanderer, inside=wanderer.user_id not in self.joined)
            else:
                outlaw = self._chance.choice(self._outlaws)
                await self._rule(outlaw, banned=outlaw.user_id not in self._bans)
            await asyncio.sleep(self._chance.uniform(0, PAUSE_SECONDS))
        for place, wanderer in enumerate(self._wanderers):
            await self._place(wanderer, inside=place % 2 == 0)
        for outlaw in self._outlaws:
            await self._rule(outlaw, banned=False)

    def stop(self) -> None:
        self._stopped = True

    async def _place(self, wanderer: Reader, *, inside: bool) -> None:
        user_id = wanderer.user_id
        if inside == (user_id in self.joined):
            return
        self.changes += 1
        if inside:
            await self._caller.call(HOST, "POST", self._path, {"userIds": [user_id]})
            self.joined[user_id] = asyncio.get_running_loop().time()
        else:
            del self.joined[user_id]
            await self._caller.call(HOST, "DELETE", self._path, {"userId": user_id})

    async def _rule(self, outlaw: Reader, *, banned: bool) -> None:
        user_id = outlaw.user_id
        if banned == (user_id in self._bans):
            return
        self.changes += 1
        if banned:
            asked = {"targetUserId": user_id}
            ban: dict[str, Any] = await self._moderate("POST", "/moderation/bans", asked)
            self._bans[user_id] = ban["ban"]["id"]
            outlaw.banned_at = asyncio.get_running_loop().time()
        else:
            outlaw.banned_at = None
            await self._moderate("DELETE", f"/moderation/bans/{self._bans.pop(user_id)}")

    async def _moderate(self, method: str, path: str, json: Any = None) -> Any:
        return await self._caller.call(MODERATOR, method, path, json)
