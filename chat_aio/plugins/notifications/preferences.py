"""Users' notification settings: a level for each conversation, and quiet hours."""

import logging
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, Literal, cast

from chat_aio.actions.plugin_api import Conversation, PluginAPI
from chat_aio.plugins.notifications.quiet_hours import checked
from chat_aio.plugins.own_collection import OwnCollection

log = logging.getLogger(__name__)

Level = Literal["all", "mentions", "none"]
LEVELS: tuple[Level, ...] = ("all", "mentions", "none")
PAIRS_AT_A_TIME = 1_000

Pair = tuple[str, str | None]
"""(user, conversation); None is the user's own row."""


def default_level(conversation: Conversation) -> Level:
    """In a public channel users are notified of mentions only, elsewhere of all messages."""
    return "mentions" if conversation.visibility == "public" else "all"


class Preferences:
    """The collection `notification_settings`."""

    _rows = OwnCollection("notification_settings")

    def __init__(self, api: PluginAPI) -> None:
        self._api = api

    async def find(self, pairs: Collection[Pair]) -> dict[Pair, Mapping[str, Any]]:
        """The rows of some users and conversations."""
        listed, found = [*pairs], dict[Pair, Mapping[str, Any]]()
        for start in range(0, len(listed), PAIRS_AT_A_TIME):
            ids = [_row_id(*pair) for pair in listed[start : start + PAIRS_AT_A_TIME]]
            rows = self._rows.find({"_id": {"$in": ids}})
            for row in await self._api.read(partial(rows.to_list, None)):
                found[row["_id"]["userId"], row["_id"]["conversationId"]] = row
        return found

    async def level_in(self, user_id: str, conversation_id: str) -> Level | None:
        """The level that a user has set; None for the default."""
        pair = (user_id, conversation_id)
        return level_of((await self.find([pair])).get(pair))

    async def set_level(self, user_id: str, conversation_id: str, level: Level | None) -> None:
        await self._set(user_id, conversation_id, "level", level)

    async def quiet_hours_of(self, user_id: str) -> dict[str, str] | None:
        pair = (user_id, None)
        return quiet_hours_in((await self.find([pair])).get(pair))

    async def set_quiet_hours(self, user_id: str, hours: Mapping[str, str] | None) -> None:
        await self._set(user_id, None, "quietHours", hours)

    async def _set(
        self, user_id: str, conversation_id: str | None, name: str, value: object
    ) -> None:
        here = {"_id": _row_id(user_id, conversation_id)}
        # A row has one setting only, so clearing it removes the row.
        if value is None:
            await self._api.write(lambda: self._rows.delete_one(here))
            return
        fields = {"userId": user_id, "conversationId": conversation_id, name: value}
        await self._api.write(lambda: self._rows.update_one(here, {"$set": fields}, upsert=True))


def level_of(row: Mapping[str, Any] | None) -> Level | None:
    """The level in a row; None if it has none, or not one of ours."""
    found = (row or {}).get("level")
    return cast(Level, found) if found in LEVELS else None


def quiet_hours_in(row: Mapping[str, Any] | None) -> dict[str, str] | None:
    """The quiet hours in a row; None if it has none, or none that can be read here."""
    found = (row or {}).get("quietHours")
    try:
        return None if found is None else checked(found)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        log.warning("quiet hours that cannot be read are ignored: %s", type(error).__name__)
        return None


def _row_id(user_id: str, conversation_id: str | None) -> dict[str, str | None]:
    return {"userId": user_id, "conversationId": conversation_id}
