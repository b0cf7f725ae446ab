"""Tallies of unread messages: events that come during a count, and counts that are ahead of the
feed."""

import asyncio
from collections.abc import Mapping, Sequence
from random import Random

import pytest

from chat_aio.actions.unread_tallies import FeedView, NewMessage, UnreadTallies
from chat_aio.schema.inbox import UnreadTotals
from chat_aio.store.unread_totals import Counted
from tests.support.people import PATIENCE

HERE = "c"


class Counts:
    """A count that waits until it is let go, and then has seen messages up to a seq."""

    def __init__(self) -> None:
        self.asked: list[Sequence[str] | None] = []
        self.seq = 0
        self.waits: list[asyncio.Future[None]] = []

    async def __call__(self, ids: Sequence[str] | None) -> Mapping[str, Counted]:
        self.asked.append(ids)
        waiting = asyncio.get_running_loop().create_future()
        self.waits.append(waiting)
        seq = self.seq
        await waiting
        if ids is None and not seq:
            return {}
        return {HERE: Counted(seq, seq, 0, is_muted=False, is_left_out=False)}

    async def let_go(self) -> None:
        """Once there is a count, let it end."""
        async with asyncio.timeout(PATIENCE):
            while not self.waits:  # noqa: ASYNC110
                await asyncio.sleep(0)
        self.waits.pop(0).set_result(None)


@pytest.fixture
def tallies() -> UnreadTallies:
    made = UnreadTallies(follows=True)

    async def passed() -> None:
        return

    made.follow(FeedView(lambda _: ["ann"], lambda _: True, passed))
    return made


def send(tallies: UnreadTallies, seq: int, sender_id: str = "bob", *mentioned: str) -> None:
    tallies.note_message(HERE, NewMessage(seq, sender_id, frozenset(mentioned)))


def numbers(totals: UnreadTotals | None) -> tuple[int, int]:
    assert totals is not None
    return totals.all.messages, totals.all.mentions


async def test_a_message_that_was_counted_is_not_added(tallies: UnreadTallies) -> None:
    counts = Counts()
    counts.seq = 3
    asking = asyncio.create_task(tallies.totals("ann", counts))
    await counts.let_go()
    assert numbers(await asking) == (3, 0)
    for seq in (2, 3, 4, 5):
        send(tallies, seq, "bob", "ann")
    assert tallies.take_changed() == {"ann"}
    assert numbers(tallies.current("ann")) == (5, 2)
    assert counts.asked == [None]


async def test_messages_during_a_count_are_added_after_it(tallies: UnreadTallies) -> None:
    counts = Counts()
    counts.seq = 2
    asking = asyncio.create_task(tallies.totals("ann", counts))
    await asyncio.sleep(0)
    for seq in (2, 3, 4):
        send(tallies, seq, "ann" if seq == 4 else "bob")
    tallies.take_changed()
    assert tallies.current("ann") is None
    await counts.let_go()
    assert numbers(await asking) == (3, 0)
    assert counts.asked == [None]


async def test_the_first_unread_message_of_a_conversation_is_counted(
    tallies: UnreadTallies,
) -> None:
    counts = Counts()
    asking = asyncio.create_task(tallies.totals("ann", counts))
    await counts.let_go()
    assert numbers(await asking) == (0, 0)
    send(tallies, 1)
    tallies.take_changed()
    assert tallies.current("ann") is None
    counts.seq = 1
    asking = asyncio.create_task(tallies.totals("ann", counts))
    await counts.let_go()
    assert numbers(await asking) == (1, 0)
    assert counts.asked == [None, [HERE]]


async def test_what_changes_during_a_count_is_counted_again(tallies: UnreadTallies) -> None:
    counts = Counts()
    counts.seq = 2
    asking = asyncio.create_task(tallies.totals("ann", counts))
    await asyncio.sleep(0)
    tallies.outdate("ann", HERE)
    await counts.let_go()
    async with asyncio.timeout(PATIENCE):
        while len(counts.asked) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0)
    await counts.let_go()
    assert numbers(await asking) == (2, 0)
    assert counts.asked == [None, [HERE]]


async def test_a_count_that_is_given_up_is_made_again(tallies: UnreadTallies) -> None:
    counts = Counts()
    counts.seq = 2
    asking = asyncio.create_task(tallies.totals("ann", counts))
    await asyncio.sleep(0)
    send(tallies, 3)
    tallies.take_changed()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert tallies.current("ann") is None
    counts.waits.clear()
    counts.seq = 3
    asking = asyncio.create_task(tallies.totals("ann", counts))
    await counts.let_go()
    assert numbers(await asking) == (3, 0)


async def test_nothing_is_kept_while_the_feed_is_lost(tallies: UnreadTallies) -> None:
    counts = Counts()
    asking = asyncio.create_task(tallies.totals("ann", counts))
    await counts.let_go()
    await asking
    tallies.follow(None)
    send(tallies, 1)
    tallies.outdate("ann", HERE)
    assert tallies.take_changed() == set()
    assert tallies.current("ann") is None


async def test_a_message_that_mentions_its_sender_adds_nothing_for_them(
    tallies: UnreadTallies,
) -> None:
    counts = Counts()
    counts.seq = 1
    asking = asyncio.create_task(tallies.totals("ann", counts))
    await counts.let_go()
    assert numbers(await asking) == (1, 0)
    send(tallies, 2, "ann", "ann")
    send(tallies, 3, "bob", "ann")
    tallies.take_changed()
    assert numbers(tallies.current("ann")) == (2, 1)


async def test_an_answer_has_all_that_is_committed(tallies: UnreadTallies) -> None:
    async def passed() -> None:
        """The feed delivers what was committed before."""
        send(tallies, 2)

    tallies.follow(FeedView(lambda _: ["ann"], lambda _: True, passed))
    counts = Counts()
    counts.seq = 1
    asking = asyncio.create_task(tallies.totals("ann", counts))
    await counts.let_go()
    assert numbers(await asking) == (1, 0)
    assert numbers(await tallies.totals_now("ann", counts)) == (2, 0)
    assert counts.asked == [None]


async def test_a_storm_over_one_tally(tallies: UnreadTallies) -> None:
    """Many requests at once, while messages come and what is known is outdated."""
    luck = Random(7)
    sent = delivered = 0

    async def turns() -> None:
        for _ in range(luck.randrange(4)):
            await asyncio.sleep(0)

    async def count(ids: Sequence[str] | None) -> Mapping[str, Counted]:
        await turns()
        seq = sent
        await turns()
        return {HERE: Counted(seq, seq, 0, is_muted=False, is_left_out=False)}

    async def write() -> None:
        nonlocal sent, delivered
        for seq in range(1, 201):
            sent = seq
            await turns()
            send(tallies, seq)
            delivered = seq
            if luck.random() < 0.3:
                tallies.outdate("ann", HERE)
            if luck.random() < 0.3:
                tallies.take_changed()
            await turns()

    async def ask() -> None:
        for _ in range(20):
            least = delivered
            found, _ = numbers(await tallies.totals("ann", count))
            assert least <= found <= sent
            await turns()

    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as tasks:
        tasks.create_task(write())
        for _ in range(20):
            tasks.create_task(ask())
    assert numbers(await tallies.totals("ann", count)) == (200, 0)
