"""The recipients of a message: the audience, without users whose stream has shown it and users
who want no notification."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chat_aio.actions.plugin_api import Audience, PluginAPI
from chat_aio.plugins.deliveries.rows import Row
from chat_aio.plugins.notifications.preferences import (
    Preferences,
    default_level,
    level_of,
    quiet_hours_in,
)
from chat_aio.plugins.notifications.quiet_hours import end_of
from chat_aio.plugins.notifications.shown import Shown

FRESH_SECONDS = 5.0
REMEMBERED = 200


@dataclass(frozen=True, slots=True)
class Recipients:
    """A message, and its recipients with the end of their quiet hours, if any."""

    audience: Audience
    quiet_until: Mapping[str, datetime | None]


class Decider:
    """Decides for many messages at once: each question is one read for all of them."""

    def __init__(self, api: PluginAPI, preferences: Preferences, shown: Shown | None) -> None:
        """Without `shown`, only a read state counts as seen."""
        self._api = api
        self._preferences = preferences
        self._shown = shown
        self._recent: OrderedDict[str, tuple[float, asyncio.Future[dict[str, Recipients]]]]
        self._recent = OrderedDict()

    async def decide(self, message_ids: Sequence[str]) -> dict[str, Recipients]:
        """The recipients of some messages, by message id, without those of deleted messages."""
        audiences = await self._api.get_recipients(message_ids)
        asked = [*audiences.values()]
        shown = await self._shown.among(asked) if self._shown else {}
        rows = await self._preferences.find(
            {
                (user_id, place)
                for audience in asked
                for user_id in audience.user_ids
                for place in (None, audience.conversation.id)
            }
        )
        now = self._api.now()
        decided = {}
        for audience in asked:
            message_id, conversation = audience.message.id, audience.conversation
            quiet_until: dict[str, datetime | None] = {}
            for user_id in audience.user_ids:
                level = level_of(rows.get((user_id, conversation.id)))
                level = level or default_level(conversation)
                is_wanted = level == "all" or (level == "mentions" and user_id in audience.mentions)
                if is_wanted and user_id not in shown.get(message_id, ()):
                    hours = quiet_hours_in(rows.get((user_id, None)))
                    quiet_until[user_id] = None if hours is None else end_of(hours, now)
            decided[message_id] = Recipients(audience, quiet_until)
            # The first delivery follows at once, and needs no second read.
            known = asyncio.get_running_loop().create_future()
            known.set_result({message_id: decided[message_id]})
            self._remember(message_id, known)
        return decided

    async def close(self) -> None:
        """Wait for running reads."""
        if under_way := {read for _, read in self._recent.values() if not read.done()}:
            await asyncio.wait(under_way)

    async def decide_again(self, message_id: str) -> Recipients | None:
        """The recipients of a message as of the last five seconds; None if it is deleted. Users who
        are notified of the same message share the reads."""
        at, found = self._recent.get(message_id, (0.0, None))
        if found is None or time.monotonic() - at > FRESH_SECONDS:
            # A separate task: the caller may be cancelled, and others wait for it.
            found = asyncio.create_task(self.decide([message_id]), context=Context())
            self._remember(message_id, found)
        await asyncio.wait({found})
        if found.exception() is not None:
            self._recent.pop(message_id, None)
        return found.result().get(message_id)

    def _remember(self, message_id: str, found: asyncio.Future[dict[str, Recipients]]) -> None:
        self._recent[message_id] = (time.monotonic(), found)
        self._recent.move_to_end(message_id)
        if len(self._recent) > REMEMBERED:
            self._recent.popitem(last=False)


def rows_of(pending: Row, recipients: Recipients) -> Iterator[dict[str, Any]]:
    """The stored row of each recipient of a message."""
    message = recipients.audience.message
    for user_id, until in recipients.quiet_until.items():
        yield {
            "userId": user_id,
            "messageId": message.id,
            "conversationId": message.conversation_id,
            "seq": message.seq,
            "at": message.created_at,
            "dueAt": until or pending["dueAt"],
            "state": "waiting",
            "held": until is not None,
            "count": 1,
            "tries": 0,
            "notBefore": until or pending["dueAt"],
            "done": [],
            "error": None,
        }
