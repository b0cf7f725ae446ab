"""The sequencer: numbers without gaps, fenced by the epoch, one sender never failing another."""

import asyncio
import random
from contextlib import AsyncExitStack
from itertools import pairwise
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest

from chat_aio.errors import OUTCOME_UNKNOWN, InternalError, StorageUnavailable
from chat_aio.store import batch, numbering
from chat_aio.store.documents import ConversationDocument
from chat_aio.store.numbering import EpochChanged
from chat_aio.store.sequencer import MAX_APART, Sequencer
from chat_aio.store.transactions import Conflict
from tests.store.conftest import MakeStore, Store, stored_seqs
from tests.support.people import PATIENCE
from tests.support.saboteurs import append_without_fence, prove


async def test_many_senders_of_two_processes_leave_no_gap(make_store: MakeStore) -> None:
    stores = [make_store(), make_store()]
    groups = [await stores[0].conversation("alice") for _ in range(3)]

    async def sender(number: int) -> None:
        for turn in range(6):
            await stores[number % 2].send(groups[(number + turn) % 3], f"user {number}")

    await asyncio.gather(*map(sender, range(48)))
    for group in groups:
        assert await stored_seqs(stores[0], group["_id"]) == list(range(1, 97))
        head = await stores[0].database.counters.find_one({"_id": group["_id"]})
        assert head["seq"] == 96
        found = stores[0].database.messages.find({"conversationId": group["_id"]}).sort("seq", 1)
        dates = [row["createdAt"] for row in await found.to_list(None)]
        assert dates == sorted(dates)
        assert dates[-1] == head["activityAt"]


async def test_one_senders_messages_keep_their_order(store: Store) -> None:
    group = await store.conversation("alice")
    sent = await asyncio.gather(*(store.send(group) for _ in range(300)))
    assert [message["seq"] for message in sent] == list(range(1, 301))


async def test_a_moved_epoch_is_refused_and_nothing_is_counted(store: Store) -> None:
    group = await store.conversation("alice", "bob")

    async def scenario() -> None:
        await store.change(group["_id"], add=("bob",))
        before = await store.database.conversations.find_one({"_id": group["_id"]})
        await store.change(group["_id"], remove=("bob",))
        seqs = await stored_seqs(store, group["_id"])
        outcomes = await asyncio.gather(
            *(store.send(before, "bob") for _ in range(32)), return_exceptions=True
        )
        assert all(isinstance(outcome, EpochChanged) for outcome in outcomes)
        assert await stored_seqs(store, group["_id"]) == seqs

    await prove(scenario, sabotage=patch.object(Sequencer, "append", append_without_fence))


async def test_nothing_of_a_removed_user_follows_the_removal(make_store: MakeStore) -> None:
    """64 sends of two processes race with a removal; what commits after it would be a breach."""
    stores = [make_store(), make_store()]
    group = await stores[0].conversation("alice", "bob")

    async def send(number: int) -> Any:
        await asyncio.sleep(number % 8 / 1000)
        return await stores[number % 2].send(group, "bob")

    async def remove() -> int:
        await asyncio.sleep(0.004)
        await stores[0].change(group["_id"], remove=("bob",))
        head = await stores[0].database.counters.find_one({"_id": group["_id"]})
        return int(head["seq"])

    at_removal, *outcomes = await asyncio.gather(
        remove(), *map(send, range(64)), return_exceptions=True
    )
    sent = [outcome["seq"] for outcome in outcomes if isinstance(outcome, dict)]
    assert all(isinstance(outcome, dict | EpochChanged) for outcome in outcomes)
    assert all(seq <= at_removal for seq in sent)
    assert await stored_seqs(stores[0], group["_id"]) == list(range(1, len(sent) + 1))


@pytest.mark.parametrize("rounds", range(6))
async def test_a_hold_that_is_given_up_keeps_no_message_back(store: Store, rounds: int) -> None:
    """Whichever round of the loop it is given up in, after the batch that it waited for."""
    group = await store.conversation("alice")
    flying = asyncio.create_task(store.send(group))
    async with asyncio.timeout(PATIENCE):
        while group["_id"] not in store.sequencer._busy:  # noqa: ASYNC110
            await asyncio.sleep(0)

    async def change() -> None:
        async with store.sequencer.hold(group["_id"]):
            pass

    changing, waiting = asyncio.create_task(change()), asyncio.create_task(store.send(group))
    async with asyncio.timeout(PATIENCE):
        while group["_id"] in store.sequencer._busy:  # noqa: ASYNC110
            await asyncio.sleep(0)
    for _ in range(rounds):
        await asyncio.sleep(0)
    changing.cancel()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(flying, waiting)
    assert await stored_seqs(store, group["_id"]) == [1, 2]


async def test_a_neighbour_that_moved_does_not_stop_the_others(store: Store) -> None:
    moved, still = await store.conversation("alice"), await store.conversation("alice")
    await store.change(moved["_id"], add=("bob",))
    outcomes = await asyncio.gather(
        *(store.send(conversation) for conversation in (moved, still) * 4), return_exceptions=True
    )
    assert [isinstance(outcome, EpochChanged) for outcome in outcomes] == [True, False] * 4
    assert await stored_seqs(store, still["_id"]) == [1, 2, 3, 4]


async def test_a_message_that_cannot_be_stored_fails_alone(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    group = await store.conversation("alice")
    poison: dict[str, Any] = {"metadata": {"x": 2**63}}
    outcomes = await asyncio.gather(
        *(store.send(group, **(poison if number == 5 else {})) for number in range(10)),
        return_exceptions=True,
    )
    failed = [
        number for number, outcome in enumerate(outcomes) if isinstance(outcome, InternalError)
    ]
    assert failed == [5]
    assert await stored_seqs(store, group["_id"]) == list(range(1, 10))


async def test_no_seq_is_stored_twice(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """Another program writes without the counters; the unique index keeps the numbers unique."""
    group = await store.conversation("alice")

    async def scenario() -> None:
        group = await store.conversation("alice")
        await store.database.messages.insert_one(store.message(group["_id"], "bot", seq=1))
        outcomes = await asyncio.gather(store.send(group), return_exceptions=True)
        assert isinstance(outcomes[0], InternalError)
        assert await stored_seqs(store, group["_id"]) == [1]

    await scenario()
    await store.database.messages.drop_index("conversation_seq")
    with pytest.raises(AssertionError):
        await scenario()
    assert await stored_seqs(store, group["_id"]) == []


async def test_equal_keys_of_two_processes_store_one_message(make_store: MakeStore) -> None:
    stores = [make_store(), make_store()]
    group = await stores[0].conversation("alice")
    fields: dict[str, Any] = {"clientMessageId": "key", "requestHash": b"hash"}
    sent = await asyncio.gather(
        *(stores[number % 2].send(group, **fields) for number in range(64)),
        *(stores[number % 2].send(group) for number in range(64)),
    )
    assert len({message["_id"] for message in sent[:64]}) == 1
    assert await stored_seqs(stores[0], group["_id"]) == list(range(1, 66))


async def test_membership_changes_and_batches_take_turns(store: Store) -> None:
    """Neither waits for all of the other's queue."""
    group = await store.conversation("alice")
    flights: list[str] = []

    async def hold() -> None:
        async with store.sequencer.hold(group["_id"]):
            flights.append("change begins")
            await store.database.counters.find_one({})
            flights.append("change ends")

    async def send() -> None:
        for _ in range(4):
            await store.send(group)
            flights.append("sent")

    await asyncio.gather(*(send() for _ in range(20)), *(hold() for _ in range(3)))
    begins = [place for place, flight in enumerate(flights) if flight == "change begins"]
    assert [flights[place + 1] for place in begins] == ["change ends"] * 3
    assert all("sent" in flights[one:other] for one, other in pairwise(begins))
    assert flights.index("change begins") < flights.index("sent") + 25
    assert flights.count("sent") == 80


async def test_a_change_does_not_wait_for_a_send_that_is_given_up(store: Store) -> None:
    group = await store.conversation("alice")

    async def hold(until: asyncio.Event | None = None) -> None:
        async with store.sequencer.hold(group["_id"]):
            if until:
                await until.wait()

    until = asyncio.Event()
    first, second = asyncio.create_task(hold(until)), asyncio.create_task(hold())
    await asyncio.sleep(0)
    with patch.object(store.sequencer, "_launch_soon", lambda: None):
        sending = asyncio.create_task(store.send(group))
        await asyncio.sleep(0)
        until.set()
        await first
        sending.cancel()
        async with asyncio.timeout(30):
            await second
    assert not store.sequencer._changed
    assert (await store.send(group))["seq"] == 1


async def test_a_turn_that_does_not_come_is_not_waited_for(make_store: MakeStore) -> None:
    store, patient = make_store(timeout=0.5), make_store()
    group = await patient.conversation("alice")

    async def change() -> None:
        await store.change(group["_id"], add=("bob",))

    async with store.sequencer.hold(group["_id"]):
        outcomes = await asyncio.gather(*(change() for _ in range(5)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [StorageUnavailable] * 5
    store.database.timeout = 10.0
    await change()
    assert not store.sequencer._held


async def test_a_storm_of_drafts_past_their_deadline(make_store: MakeStore) -> None:
    """One timer serves all, also when it is needed again later; nothing of them is written."""
    store, patient = make_store(timeout=0.5), make_store()
    groups = [await patient.conversation("alice") for _ in range(4)]
    for seq in (1, 2):
        async with AsyncExitStack() as held:
            for group in groups:
                await held.enter_async_context(store.sequencer.hold(group["_id"]))
            sending = [asyncio.create_task(store.send(groups[n % 4])) for n in range(200)]
            await asyncio.sleep(0)
            for task in sending[::5]:
                task.cancel()
            async with asyncio.timeout(PATIENCE):
                outcomes = await asyncio.gather(*sending, return_exceptions=True)
        failed = [outcome for outcome in outcomes if isinstance(outcome, StorageUnavailable)]
        assert len(failed) == 160
        assert OUTCOME_UNKNOWN not in {str(outcome) for outcome in failed}
        assert store.sequencer.count_waiting() == 0
        assert not store.sequencer._waiting
        for group in groups:
            assert (await patient.send(group))["seq"] == seq


async def test_conversations_that_others_lock_do_not_stop_the_rest(make_store: MakeStore) -> None:
    """More of them than go apart at a time; whoever holds them is stuck."""
    store = make_store(timeout=40)
    locked = [await store.conversation("alice") for _ in range(MAX_APART + 2)]
    free = await store.conversation("alice")
    session = store.database.client.start_session()
    async with session, await session.start_transaction():
        for conversation in locked:
            await store.database.counters.update_one(
                {"_id": conversation["_id"]}, {"$inc": {"fence": 1}}, session=session
            )
        sending = []
        for place, conversation in enumerate(locked, 1):  # One by one, so that each is a flight.
            sending.append(asyncio.create_task(store.send(conversation)))
            async with asyncio.timeout(PATIENCE):
                while len(store.sequencer._contended) < min(place, MAX_APART):  # noqa: ASYNC110
                    await asyncio.sleep(0.001)
        async with asyncio.timeout(20):
            for seq in range(1, 6):
                assert (await store.send(free))["seq"] == seq
        assert not any(task.done() for task in sending)
        await session.abort_transaction()
    assert [message["seq"] for message in await asyncio.gather(*sending)] == [1] * len(locked)


async def test_what_still_holds_is_written_in_a_later_epoch(store: Store) -> None:
    """People who come and go do not keep the others from writing; nothing of who is gone is."""
    group, other = await store.conversation("alice", "bob"), await store.conversation("alice")
    await store.change(group["_id"], add=("carol",))
    await store.change(group["_id"], remove=("bob",))

    async def send(user_id: str, conversation: ConversationDocument = group) -> Any:
        message = store.message(conversation["_id"], user_id)
        return await store.sequencer.append(
            message,
            epoch=conversation["epoch"],
            still_allowed=lambda now: (
                user_id in {participant["userId"] for participant in now["participants"]}
            ),
        )

    async def scenario() -> None:
        last = (await stored_seqs(store, group["_id"]) or [0])[-1]
        outcomes = await asyncio.gather(
            *(send(name) for name in ("alice", "bob", "carol") * 4),
            *(send("alice", other) for _ in range(4)),
            return_exceptions=True,
        )
        moved = [isinstance(outcome, EpochChanged) for outcome in outcomes]
        assert moved == [False, True, False] * 4 + [False] * 4
        assert await stored_seqs(store, group["_id"]) == list(range(1, last + 9))

    await prove(
        scenario, sabotage=patch.object(numbering, "_recheck", AsyncMock(return_value=set()))
    )
    now = await store.database.conversations.find_one({"_id": group["_id"]})
    assert now is not None
    current = await store.sequencer.append(
        store.message(group["_id"], "alice"), epoch=now["epoch"], still_allowed=lambda _: False
    )
    assert current.message["seq"] == 9


async def test_whoever_stops_waiting_is_not_written(store: Store) -> None:
    group = await store.conversation("alice")
    first = asyncio.create_task(store.send(group))
    async with asyncio.timeout(PATIENCE):
        while not store.sequencer._busy:  # noqa: ASYNC110
            await asyncio.sleep(0)
    second = asyncio.create_task(store.send(group))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait({first, second})
    assert await stored_seqs(store, group["_id"]) == [1]
    assert not store.sequencer._waiting


async def test_closing_waits_for_what_is_in_flight(store: Store) -> None:
    group = await store.conversation("alice")
    sending = [asyncio.create_task(store.send(group)) for _ in range(50)]
    await asyncio.sleep(0)
    await store.sequencer.close(seconds=60)
    assert all(task.done() for task in sending)


async def test_a_poisoned_message_nobody_waits_for_stops_nobody(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """The caller gives up while its message is being found to be the one that cannot be stored."""
    group = await store.conversation("alice")
    poison: dict[str, Any] = {"metadata": {"x": 2**63}}
    sending = asyncio.create_task(store.send(group, **poison))
    write = batch.write_batch

    async def cancelling(*args: Any, **kwargs: Any) -> Any:
        sending.cancel()
        return await write(*args, **kwargs)

    with patch("chat_aio.store.sequencer.write_batch", cancelling):
        await asyncio.wait({sending})
    other = await store.conversation("alice")
    assert (await store.send(group))["seq"] == (await store.send(other))["seq"] == 1


async def test_a_conversation_is_in_one_flight_at_a_time(store: Store) -> None:
    """Batches collide, are halved and go on apart; nothing is launched twice meanwhile."""
    groups = [await store.conversation("alice") for _ in range(6)]
    write, flying = batch.write_batch, set[str]()
    overlaps, held = list[str](), list[str]()

    async def colliding(*args: Any, **kwargs: Any) -> Any:
        ids = {pending.conversation_id for pending in args[1]}
        overlaps.extend(ids & flying)
        flying.update(ids)
        try:
            await asyncio.sleep(0)
            if len(ids) > 1 and random.random() < 0.7:
                raise Conflict
            return await write(*args, **kwargs)
        finally:
            flying.difference_update(ids)

    async def hold() -> None:
        for group in groups:
            async with store.sequencer.hold(group["_id"]):
                held.extend(flying & {group["_id"]})

    with (
        patch("chat_aio.store.sequencer.write_batch", colliding),
        patch("chat_aio.store.sequencer.turn", lambda _: 0.0),
    ):
        await asyncio.gather(*(store.send(groups[n % 6]) for n in range(120)), hold())
        await asyncio.gather(*(store.send(groups[n % 6]) for n in range(120)), hold())
    assert (overlaps, held) == ([], [])
    for group in groups:
        assert await stored_seqs(store, group["_id"]) == list(range(1, 41))


async def test_a_repeat_is_answered_once_a_majority_has_it(make_store: MakeStore) -> None:
    """A transaction may see what no majority has yet; such a message is not acknowledged."""
    store, hasty = make_store(), make_store(timeout=2)
    group = await store.conversation("alice")
    fields: dict[str, Any] = {"clientMessageId": "key", "requestHash": b"hash"}
    first = await store.send(group, **fields)

    async def not_yet(*_: Any) -> list[Any]:
        return []

    with (
        patch("chat_aio.store.batch.there_are", not_yet),
        pytest.raises(StorageUnavailable, match="outcome is unknown"),
    ):
        await hasty.send(group, **fields)
    assert (await hasty.send(group, **fields))["_id"] == first["_id"]


async def test_closing_does_not_wait_busily_for_a_membership_change(store: Store) -> None:
    group = await store.conversation("alice")
    async with store.sequencer.hold(group["_id"]):
        sending = asyncio.create_task(store.send(group))
        closing = asyncio.create_task(store.sequencer.close(seconds=60))
        await asyncio.sleep(0)
        assert not closing.done()
    await closing
    assert sending.done()
