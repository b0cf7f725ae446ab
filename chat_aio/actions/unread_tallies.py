"""Tallies: the unread messages of users who have a stream in this process. A tally is counted once,
and then follows the feed, so that no message causes a count (decision 0085).

A message adds to the tallies of its readers. After any other change only the conversation that it
is about is counted again.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from chat_aio.schema.inbox import UnreadNumbers, UnreadTotals
from chat_aio.store.unread_totals import Counted

Count = Callable[[Sequence[str] | None], Awaitable[Mapping[str, Counted]]]
"""Counts the unread messages of a user, in some conversations or in all."""


class NewMessage(NamedTuple):
    seq: int
    sender_id: str
    mentioned: frozenset[str]


class FeedView(NamedTuple):
    """What tallies follow: `readers_of` are the users in this process who hear all their
    conversations, this one among them; `passed` is done once the feed has delivered everything that
    is committed by now."""

    readers_of: Callable[[str], Iterable[str]]
    hears_all: Callable[[str], bool]
    passed: Callable[[], Awaitable[None]]


class _News:
    """Messages of one conversation, oldest first, and the sums that nearly all readers add."""

    def __init__(self, messages: Sequence[NewMessage]) -> None:
        self.messages = messages
        self.first, self.last = messages[0].seq, messages[-1].seq
        self.sent = Counter(message.sender_id for message in messages)
        self.mentioned = Counter(
            user_id
            for message in messages
            for user_id in message.mentioned
            if user_id != message.sender_id
        )

    def add_to(self, counted: Counted, user_id: str) -> None:
        """Add the messages behind those that were counted."""
        news = self
        if counted.seq >= news.first:
            left = [message for message in news.messages if message.seq > counted.seq]
            if not left:
                return
            news = _News(left)
        counted.seq = news.last
        counted.messages += len(news.messages) - news.sent[user_id]
        counted.mentions += news.mentioned[user_id]


class _Tally:
    """The unread messages of one user. `outdated` are conversations to count again. During a count
    `missed` has the news of the conversations that it covers (`covers` is None for all)."""

    def __init__(self, user_id: str) -> None:
        self._user_id = user_id
        self._counted: dict[str, Counted] = {}
        self._covers: frozenset[str] | None = None
        self._missed: dict[str, list[_News]] | None = None
        self._is_new = True
        self._lock = asyncio.Lock()
        self.outdated: set[str] = set()

    @property
    def is_current(self) -> bool:
        return not (self._is_new or self.outdated or self._missed is not None)

    def add(self, conversation_id: str, news: _News) -> None:
        if self._missed is not None and (self._covers is None or conversation_id in self._covers):
            self._missed.setdefault(conversation_id, []).append(news)
        elif counted := self._counted.get(conversation_id):
            news.add_to(counted, self._user_id)
        else:
            # Whether it is muted or archived is not known.
            self.outdated.add(conversation_id)

    def mentions_in(self, conversation_id: str) -> bool:
        """Whether unread messages of a conversation mention the user."""
        counted = self._counted.get(conversation_id)
        return bool(counted and counted.mentions)

    async def refresh(self, count: Count) -> None:
        """Count the outdated conversations."""
        async with self._lock:
            while self._is_new or self.outdated:
                names = None if self._is_new else frozenset(self.outdated)
                self._covers, self._missed = names, {}
                self.outdated -= names or self.outdated
                try:
                    found = await count(None if names is None else sorted(names))
                except BaseException:
                    self.outdated |= {*(names or ()), *self._missed}
                    self._covers = self._missed = None
                    raise
                kept = {} if names is None else self._counted
                for name in names or ():
                    kept.pop(name, None)
                self._counted = {**kept, **found}
                # The counts may have some of the news already: those are not added twice.
                missed, self._covers, self._missed, self._is_new = self._missed, None, None, False
                for name, news in missed.items():
                    for some in news:
                        self.add(name, some)

    def totals(self) -> UnreadTotals:
        return totals_of(self._counted.values())


class UnreadTallies:
    """The tallies of one process, empty while the feed does not report changes. `changed` are the
    users whose number may have changed since they were last taken; `has_changed` is set with it."""

    def __init__(self, *, follows: bool) -> None:
        """Without `follows` nothing is kept."""
        self._follows = follows
        self._feed: FeedView | None = None
        self._tallies: dict[str, _Tally] = {}
        self._news: dict[str, list[NewMessage]] = {}
        self._changed: set[str] = set()
        self.has_changed = asyncio.Event()

    def follow(self, feed: FeedView | None) -> None:
        """Follow a feed; None while it is not live."""
        self._feed = feed if self._follows else None
        if self._feed is None:
            self._tallies.clear()
            self._news.clear()
            self._changed.clear()

    def note_message(self, conversation_id: str, message: NewMessage) -> None:
        """A message was sent, and somebody in this process hears it."""
        if self._feed is not None:
            self._news.setdefault(conversation_id, []).append(message)
            self.has_changed.set()

    def note_edit(self, conversation_id: str, mentioned: Iterable[str]) -> None:
        """A message was edited or deleted, which may change the mentioned users."""
        if self._feed is not None:
            for user_id in self._feed.readers_of(conversation_id):
                tally = self._tallies.get(user_id)
                if tally and (user_id in mentioned or tally.mentions_in(conversation_id)):
                    self.outdate(user_id, conversation_id)

    def outdate(self, user_id: str, conversation_id: str) -> None:
        """Something that the number of a user depends on has changed in a conversation."""
        if self._feed is not None:
            if tally := self._tallies.get(user_id):
                tally.outdated.add(conversation_id)
            self.note_changed(user_id)

    def note_changed(self, user_id: str) -> None:
        """The number of a user may have changed."""
        self._changed.add(user_id)
        self.has_changed.set()

    def forget(self, user_id: str) -> None:
        """The last stream of a user has ended."""
        self._tallies.pop(user_id, None)

    def take_changed(self) -> set[str]:
        """The users whose number may have changed."""
        self._add_news()
        changed, self._changed = self._changed, set()
        return changed

    def current(self, user_id: str) -> UnreadTotals | None:
        """The number of a user, if nothing has to be counted for it."""
        tally = self._tallies.get(user_id)
        return tally.totals() if tally and tally.is_current else None

    async def totals(self, user_id: str, count: Count) -> UnreadTotals:
        """The number of a user, as far as the feed has delivered. Only outdated
        conversations are counted."""
        if self._feed is None or not self._feed.hears_all(user_id):
            return totals_of((await count(None)).values())
        self._add_news()
        tally = self._tallies.setdefault(user_id, _Tally(user_id))
        await tally.refresh(count)
        return tally.totals()

    async def totals_now(self, user_id: str, count: Count) -> UnreadTotals:
        """The number of a user with everything that is committed by now."""
        if self._feed is not None and user_id in self._tallies:
            await self._feed.passed()
        return await self.totals(user_id, count)

    def _add_news(self) -> None:
        """Add the messages that were noted to the tallies of their readers: once for many messages,
        which costs a reader no more than one does."""
        if self._feed is None:
            return
        noted, self._news = self._news, {}
        for conversation_id, messages in noted.items():
            news = _News(messages)
            for user_id in self._feed.readers_of(conversation_id):
                if tally := self._tallies.get(user_id):
                    tally.add(conversation_id, news)
                self._changed.add(user_id)


def totals_of(counted: Iterable[Counted]) -> UnreadTotals:
    """The sums over the conversations that are not left out."""
    found = [count for count in counted if count.messages and not count.is_left_out]
    unmuted = [count for count in found if not count.is_muted]
    return UnreadTotals(all=_sum_of(found), unmuted=_sum_of(unmuted))


def _sum_of(counted: Sequence[Counted]) -> UnreadNumbers:
    return UnreadNumbers(
        messages=sum(count.messages for count in counted),
        mentions=sum(count.mentions for count in counted),
        conversations=len(counted),
    )
