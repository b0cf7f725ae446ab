"""Who is told of a message: the audience, without those whose stream has shown it and those who do
not want to be told."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chat_aio.actions.plugin_api import Audience, PluginAPI
from chat_aio.plugins.notifications.preferences import (
    Pair,
    Preferences,
    default_level,
    level_of,
    quiet_hours_in,
)
from chat_aio.plugins.notifications.quiet_hours import end_of
from chat_aio.plugins.notifications.rows import Row
from chat_aio.plugins.notifications.shown import Shown

FRESH_SECONDS = 5.0
REMEMBERED = 200


@dataclass(frozen=True, slots=True)
class Recipients:
    """A message, and until when each user who is to be told of it has quiet hours, if so."""

    audience: Audience
    quiet_until: Mapping[str, datetime | None]


class Decider:
    """Decides for many messages at once: each question is one read for all of them."""

    def __init__(self, api: PluginAPI, preferences: Preferences, shown: Shown) -> None:
        self._api = api
        self._preferences = preferences
        self._shown = shown
        self._recent: OrderedDict[str, tuple[float, asyncio.Future[Recipients | None]]]
        self._recent = OrderedDict()

    async def decide(self, message_ids: Sequence[str]) -> dict[str, Recipients]:
        """The recipients of some messages, by message id, without those of deleted messages."""
        audiences = await self._api.audiences_of(message_ids)
        asked = [*audiences.values()]
        shown = await self._shown.among(asked)
        rows = await self._preferences.find(set(_pairs_of(asked)))
        now = self._api.now()
        decided = {
            audience.message.id: Recipients(
                audience,
                {
                    user_id: _quiet_until(rows.get((user_id, None)), now)
                    for user_id in audience.user_ids
                    if user_id not in shown[audience.message.id]
                    and _wants(rows.get((user_id, audience.conversation.id)), audience, user_id)
                },
            )
            for audience in asked
        }
        for message_id, recipients in decided.items():
            self._remember_decided(message_id, recipients)
        return decided

    async def close(self) -> None:
        """Wait for what is being read."""
        if under_way := {read for _, read in self._recent.values() if not read.done()}:
            await asyncio.wait(under_way)

    async def decide_again(self, message_id: str) -> Recipients | None:
        """The recipients of a message as of the last five seconds; None if it is deleted. Users who
        are told of the same message share the reads."""
        at, found = self._recent.get(message_id, (0.0, None))
        if found is None or time.monotonic() - at > FRESH_SECONDS:
            # A task of its own: whoever asks may be cancelled, and others wait for it.
            found = asyncio.create_task(self._decide_one(message_id), context=Context())
            self._remember(message_id, found)
        await asyncio.wait({found})
        if found.exception() is not None:
            self._recent.pop(message_id, None)
        return found.result()

    def _remember(self, message_id: str, found: asyncio.Future[Recipients | None]) -> None:
        self._recent[message_id] = (time.monotonic(), found)
        self._recent.move_to_end(message_id)
        if len(self._recent) > REMEMBERED:
            self._recent.popitem(last=False)

    def _remember_decided(self, message_id: str, recipients: Recipients) -> None:
        found = asyncio.get_running_loop().create_future()
        found.set_result(recipients)
        self._remember(message_id, found)

    async def _decide_one(self, message_id: str) -> Recipients | None:
        return (await self.decide([message_id])).get(message_id)


def rows_of(pending: Row, recipients: Recipients) -> Iterator[dict[str, Any]]:
    """What is stored for each user who is to be told of a message."""
    message = recipients.audience.message
    for user_id, until in recipients.quiet_until.items():
        yield {
            "userId": user_id,
            "messageId": message.id,
            "conversationId": message.conversation_id,
            "seq": message.seq,
            "at": message.created_at,
            "due": until or pending["due"],
            "state": "waiting",
            "held": until is not None,
            "count": 1,
            "tries": 0,
            "notBefore": until or pending["due"],
            "done": [],
            "error": None,
        }


def _pairs_of(asked: Sequence[Audience]) -> Iterator[Pair]:
    for audience in asked:
        for user_id in audience.user_ids:
            yield user_id, None
            yield user_id, audience.conversation.id


def _wants(row: Mapping[str, Any] | None, asked: Audience, user_id: str) -> bool:
    level = level_of(row) or default_level(asked.conversation)
    return level == "all" or (level == "mentions" and user_id in asked.mentions)


def _quiet_until(row: Mapping[str, Any] | None, now: datetime) -> datetime | None:
    hours = quiet_hours_in(row)
    return None if hours is None else end_of(hours, now)
