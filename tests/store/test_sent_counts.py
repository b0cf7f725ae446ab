"""What senders are counted for: unread counts without counting messages, exact in every order of
sends, marks, leaving and coming back, also beside a version that does not count."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio.actions.context import utc_now
from chat_aio.actions.maintenance.repair import repair
from chat_aio.errors import ConversationNotFound
from chat_aio.store import conversations, sent_counts, unread
from chat_aio.store.documents import ConversationDocument, MessageDocument
from chat_aio.store.maintenance import retention
from chat_aio.store.transactions import transact
from tests.store.conftest import MakeStore, Store
from tests.store.test_reading import brute_force, counted

USERS = ("alice", "bob", "carol")
STRANGE = ("a.b", "$set", "0", "%", "ä b")


class Uncounted:
    """Messages counted from the index because the counts did not say."""

    def __init__(self) -> None:
        self.branches = 0


@asynccontextmanager
async def counting(store: Store) -> AsyncIterator[Uncounted]:
    """How many conversations' messages are counted meanwhile."""
    found = Uncounted()
    count_own = unread._count_own

    async def noted(database: Any, user_id: str, readers: Any) -> dict[str, int]:
        found.branches += len(readers)
        return await count_own(database, user_id, readers)

    with patch.object(unread, "_count_own", noted):
        yield found


async def require_true(store: Store, group: str, *user_ids: str) -> None:
    for user_id in user_ids:
        shown = await counted(store, group, user_id)
        assert shown == await brute_force(store, group, user_id), user_id


async def send_uncounted(store: Store, group: str, sender_id: str) -> None:
    """As an earlier version sends."""

    async def body(session: Any) -> None:
        head = await store.database.counters.find_one_and_update(
            {"_id": group}, {"$inc": {"seq": 1}}, return_document=True, session=session
        )
        message = store.message(group, sender_id, seq=head["seq"])
        await store.database.messages.insert_one(message, session=session)

    await transact(store.database, body)


async def join_uncounted(store: Store, group: str, user_id: str) -> None:
    """As an earlier version adds somebody."""
    joining: Any = conversations.new_participant(user_id, role="member", at=utc_now())
    del joining["sentUpToSeq"], joining["sentCount"]
    head = await store.database.counters.find_one_and_update(
        {"_id": group}, {"$inc": {"epoch": 1}}, return_document=True
    )
    await store.database.conversations.update_one(
        {"_id": group},
        {"$push": {"participants": joining}, "$set": {"epoch": head["epoch"]}},
    )


async def leave_uncounted(store: Store, group: str, user_id: str) -> None:
    """As an earlier version removes somebody."""
    head = await store.database.counters.find_one_and_update(
        {"_id": group}, {"$inc": {"epoch": 1}}, return_document=True
    )
    await store.database.conversations.update_one(
        {"_id": group},
        {"$pull": {"participants": {"userId": user_id}}, "$set": {"epoch": head["epoch"]}},
    )


async def remove_old(store: Store, group: str) -> None:
    """Retention removes a few of the oldest messages."""
    (head,) = await retention.list_heads(store.database, conversation_id=group)
    upto = min(head["seq"], head["floorSeq"] + 3)
    if upto > head["floorSeq"]:
        old = retention.Old(conversation_id=group, after=head["floorSeq"], upto=upto)
        await retention.raise_floors(store.database, [old])
        await retention.remove(store.database, old, advance=lambda _: None)


async def partly_removed(store: Store) -> tuple[str, MessageDocument]:
    """A group of alice and bob in which alice has sent five messages, of which retention has
    removed three; its id, and the newest message."""
    group = await store.conversation("alice", "bob")
    for _ in range(4):
        await store.send(group, "alice")
    await remove_old(store, group["_id"])
    return group["_id"], await store.send(group, "alice")


class World:
    """A group of which anything may become in some steps; `earlier` is whether an earlier version
    works beside."""

    def __init__(self, stores: list[Store], group: ConversationDocument, *, earlier: bool) -> None:
        self.stores = stores
        self.group = group
        self.inside = [*USERS]
        self.earlier = earlier

    async def step(self, dice: random.Random) -> None:
        store, user_id = dice.choice(self.stores), dice.choice(USERS)
        acts: list[Callable[[], Any]] = [
            *3 * [partial(self.send, store, user_id)],
            *2 * [partial(self.mark, store, user_id, dice)],
            partial(self.turn, store, user_id, dice),
            partial(remove_old, store, self.group["_id"]),
        ]
        if self.earlier:
            acts.append(partial(send_uncounted, store, self.group["_id"], user_id))
        await dice.choice(acts)()

    async def send(self, store: Store, user_id: str) -> None:
        if user_id in self.inside:
            await store.send(self.group, user_id)

    async def mark(self, store: Store, user_id: str, dice: random.Random) -> None:
        here = {"conversationId": self.group["_id"]}
        found = await store.database.messages.find(here).sort("seq", -1).to_list(6)
        if found:
            chosen = dice.choice([found[0], dice.choice(found)])
            await store.read_marks.mark(self.group["_id"], user_id, chosen["_id"])

    async def turn(self, store: Store, user_id: str, dice: random.Random) -> None:
        """In or out."""
        if user_id in self.inside and len(self.inside) > 1:
            self.inside.remove(user_id)
            if self.earlier and dice.random() < 0.5:
                await leave_uncounted(store, self.group["_id"], user_id)
                changed = await conversations.find(store.database, self.group["_id"])
            else:
                changed = await store.change(self.group["_id"], remove=(user_id,))
        elif user_id not in self.inside and self.earlier and dice.random() < 0.5:
            self.inside.append(user_id)
            await join_uncounted(store, self.group["_id"], user_id)
            changed = await conversations.find(store.database, self.group["_id"])
        else:
            self.inside = [*{*self.inside, user_id}]
            changed = await store.change(self.group["_id"], add=(user_id,))
        self.group = changed or self.group


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 6))]
)
async def test_counts_are_true_in_any_order(
    make_store: MakeStore, seed: int, earlier: bool
) -> None:
    dice = random.Random(seed)
    stores = [make_store(), make_store()]
    group = await stores[0].conversation(*USERS)
    world = World(stores, group, earlier=earlier)
    with patch.object(unread, "KEPT_FROM", 2):
        for _ in range(60):
            await world.step(dice)
            await require_true(dice.choice(stores), group["_id"], *world.inside)


async def test_counts_are_true_while_all_happens_at_once(make_store: MakeStore) -> None:
    """Sends, marks and people who come and go, through two processes. Whatever a list has shown on
    the way, nothing wrong is kept."""
    stores = [make_store(), make_store()]
    group = await stores[0].conversation("keeper", *USERS)
    name = group["_id"]

    async def send(store: Store, user_id: str) -> None:
        for _ in range(25):
            found = await conversations.find(store.database, name)
            inside = found and [participant["userId"] for participant in found["participants"]]
            if found and inside and user_id in inside:
                message = store.message(name, user_id)
                appended = store.sequencer.append(
                    message, epoch=found["epoch"], still_allowed=lambda _: True
                )
                sent = (await appended).message
                await store.read_marks.mark(name, user_id, sent["_id"])

    async def turn(store: Store, user_id: str) -> None:
        for _ in range(8):
            await store.change(name, remove=(user_id,))
            await store.change(name, add=(user_id,))

    async def look(store: Store) -> None:
        for _ in range(30):
            for user_id in USERS:
                assert await maybe_counted(store, name, user_id) >= 0

    await asyncio.gather(
        *(send(store, user_id) for store in stores for user_id in ("keeper", *USERS)),
        *(turn(store, user_id) for store in stores for user_id in USERS),
        *(look(store) for store in stores),
    )
    await require_true(stores[0], name, "keeper", *USERS)
    for user_id in ("keeper", *USERS):
        await stores[1].send(await _now(stores[1], name), user_id)
    await require_true(stores[1], name, "keeper", *USERS)


async def send_checked(store: Store, group: ConversationDocument, sender_id: str) -> None:
    """As the chat sends: checked again if the epoch has moved."""
    message = store.message(group["_id"], sender_id)
    await store.sequencer.append(message, epoch=group["epoch"], still_allowed=lambda _: True)


async def _now(store: Store, name: str) -> ConversationDocument:
    found = await conversations.find(store.database, name)
    assert found
    return found


async def maybe_counted(store: Store, name: str, user_id: str) -> int:
    """The unread count that is shown, 0 if they are not in the group."""
    heads = await conversations.list_heads(store.database, [name], limit=1, counts_of=[user_id])
    found = await conversations.find_many(store.database, [name])
    shown = await unread.count_unread(store.database, user_id, [found[name]], {name: heads[0]})
    return shown.get(name, 0)


async def test_nothing_is_counted_for_a_list(store: Store) -> None:
    """For those who only read, who wrote last, who never marked, who read on without writing, and
    who came back, also after a retention."""
    group = await store.conversation(*USERS, "reader", "listener")
    name = group["_id"]
    for number in range(30):
        await store.send(group, USERS[number % 2])
    for user_id in ("bob", "listener"):
        newest = await store.send(group, user_id)
        await store.read_marks.mark(name, user_id, newest["_id"])
    later = [await store.send(group, "bob") for _ in range(3)]
    await store.read_marks.mark(name, "listener", later[1]["_id"])
    await remove_old(store, name)
    await store.change(name, remove=("carol",))
    await store.change(name, remove=("alice",))
    changed = await store.change(name, add=("alice", "carol"))
    assert changed
    await store.send(changed, "alice")
    async with counting(store) as found:
        await require_true(store, name, *USERS, "reader", "listener")
    assert found.branches == 0


async def test_a_read_state_that_a_repair_has_lowered(store: Store) -> None:
    group = await store.conversation("alice", "bob")
    sent = [await store.send(group, "alice") for _ in range(4)]
    await store.read_marks.mark(group["_id"], "alice", sent[3]["_id"])
    await store.database.conversations.update_one(
        {"participants.userId": "alice"}, {"$set": {"participants.$.lastReadSeq": 1}}
    )
    await require_true(store, group["_id"], "alice")


@pytest.mark.parametrize("late", ["a mark", "a list"])
async def test_counts_that_begin_anew_beside_something_slow(store: Store, late: str) -> None:
    """What was concluded from counts that lacked messages is not kept when they have them all."""
    group = await store.conversation("alice", "bob")
    name = group["_id"]
    sent = [await store.send(group, "alice") for _ in range(3)]
    for _ in range(3):
        await send_uncounted(store, name, "alice")
    newest = await store.database.messages.find_one({"seq": 6})
    find_head, count_own = conversations.find_head, unread._count_own

    async def then_recount(*given: Any, **named: Any) -> Any:
        found = await (find_head if late == "a mark" else count_own)(*given, **named)
        await repair(store.database, name, dry_run=False)
        return found

    if late == "a mark":
        with patch.object(conversations, "find_head", then_recount):
            await store.read_marks.mark(name, "alice", newest["_id"])
    else:
        await store.read_marks.mark(name, "alice", sent[0]["_id"])
        with patch.object(unread, "_count_own", then_recount), patch.object(unread, "KEPT_FROM", 2):
            assert await counted(store, name, "alice") == 0
    await store.send(await _now(store, name), "bob")
    await require_true(store, name, "alice")


async def test_a_mark_beside_a_repair(store: Store) -> None:
    """The counts begin anew behind the floor: the count that the mark has read is of before."""
    name, newest = await partly_removed(store)
    find_head = conversations.find_head

    async def then_repair(*given: Any, **named: Any) -> Any:
        head = await find_head(*given, **named)
        await send_uncounted(store, name, "bob")
        assert await repair(store.database, name, dry_run=False)
        return head

    with patch.object(conversations, "find_head", then_repair):
        await store.read_marks.mark(name, "alice", newest["_id"])
    for _ in range(5):
        await store.send(await _now(store, name), "alice")
    await require_true(store, name, "alice")


async def test_who_left_without_the_chat_and_has_nothing_any_more(store: Store) -> None:
    group = await store.conversation("alice", "bob")
    name = group["_id"]
    for _ in range(3):
        await store.send(group, "alice")
    await leave_uncounted(store, name, "alice")
    await remove_old(store, name)
    changed = await store.change(name, add=("alice",))
    assert changed
    for _ in range(4):
        await store.send(changed, "bob")
    async with counting(store) as found:
        await require_true(store, name, "alice")
    assert found.branches == 0


@pytest.mark.parametrize("count", [-3, 5])
async def test_a_count_that_cannot_be_is_not_believed(store: Store, count: int) -> None:
    group = await store.conversation("alice", "bob")
    await store.send(group, "bob")
    spoilt = {"$set": {"sent.alice": count}}
    await store.database.counters.update_one({"_id": group["_id"]}, spoilt)
    assert await counted(store, group["_id"], "alice") == 1


async def test_unreadable_counts_beside_a_lost_message(store: Store) -> None:
    """Their user cannot send until they are repaired."""
    group = await store.conversation("alice", "bob")
    first = await store.send(group, "alice")
    await store.send(group, "alice")
    await store.database.messages.delete_one({"_id": first["_id"]})
    await store.database.counters.update_one(
        {"_id": group["_id"]}, {"$set": {"sent.alice": {"y": 1}}}, bypass_document_validation=True
    )
    with pytest.raises(ConversationNotFound):
        await store.send(group, "alice")
    assert (await store.send(group, "bob"))["seq"] == 3
    assert await repair(store.database, group["_id"], dry_run=False)
    assert (await store.send(await _now(store, group["_id"]), "alice"))["seq"] == 4


@pytest.mark.parametrize("spoilt", [{"sent.alice": "many"}, {"counted": 1.5}, {"sent": ["x", 7]}])
async def test_unreadable_counts_in_a_batch(store: Store, spoilt: dict[str, Any]) -> None:
    """The other conversations of the batch are written, and no number is lost."""
    groups = [await store.conversation("alice", "bob") for _ in range(3)]
    name = groups[1]["_id"]
    await store.send(groups[1], "alice")
    await store.database.counters.update_one(
        {"_id": name}, {"$set": spoilt}, bypass_document_validation=True
    )
    sending = (store.send(group, "alice") for group in groups)
    first, broken, last = await asyncio.gather(*sending, return_exceptions=True)
    assert isinstance(broken, ConversationNotFound)
    assert isinstance(first, dict)
    assert isinstance(last, dict)
    assert (first["seq"], last["seq"]) == (1, 1)
    head = await store.database.counters.find_one({"_id": name})
    assert head["seq"] == 1


async def test_counts_that_are_no_document(store: Store) -> None:
    group = await store.conversation("alice", "bob")
    await store.database.counters.update_one(
        {"_id": group["_id"]}, {"$set": {"sent": ["x", 7]}}, bypass_document_validation=True
    )
    with pytest.raises(ConversationNotFound):
        await store.send(group, "alice")
    assert await repair(store.database, group["_id"], dry_run=False)
    assert (await store.send(await _now(store, group["_id"]), "alice"))["seq"] == 1


async def test_what_was_sent_since_a_message_that_is_not_the_newest(store: Store) -> None:
    """It is counted, and a long count is kept."""
    group = await store.conversation(*USERS)
    name = group["_id"]
    first, *_ = [await store.send(group, "alice") for _ in range(8)]
    await store.read_marks.mark(name, "alice", first["_id"])
    with patch.object(unread, "KEPT_FROM", 5):
        for branches in (1, 0):
            async with counting(store) as found:
                assert await counted(store, name, "alice") == 0
            assert found.branches == branches


@pytest.mark.parametrize("user_id", STRANGE)
async def test_any_id_is_counted(store: Store, user_id: str) -> None:
    group = await store.conversation(user_id, *STRANGE)
    name = group["_id"]
    for _ in range(3):
        await store.send(group, user_id)
    await store.send(group, next(user for user in STRANGE if user != user_id))
    async with counting(store) as found:
        await require_true(store, name, *STRANGE)
    await store.change(name, remove=(user_id,))
    head = await store.database.counters.find_one({"_id": name})
    assert (found.branches, sent_counts.count_of(head, user_id)) == (0, 0)
    assert sum(head["sent"].values()) == 1
    await store.change(name, add=(user_id,))
    assert await counted(store, name, user_id) == 1


async def test_a_batch_counts_each_of_its_senders(store: Store) -> None:
    groups = [await store.conversation(*USERS) for _ in range(3)]
    await asyncio.gather(
        *(store.send(group, user_id) for _ in range(20) for group in groups for user_id in USERS)
    )
    for counter in await store.database.counters.find().to_list():
        assert (counter["seq"], counter["counted"]) == (60, 60)
        assert counter["sent"] == dict.fromkeys(USERS, 20)


async def test_a_mark_of_who_has_just_come_back(store: Store) -> None:
    """Their count began anew after the mark had read the head: what it says is not kept."""
    name, newest = await partly_removed(store)
    find_head = conversations.find_head

    async def back_meanwhile(*given: Any, **named: Any) -> Any:
        head = await find_head(*given, **named)
        await store.change(name, remove=("alice",))
        await store.change(name, add=("alice",))
        assert head
        assert sent_counts.count_of(head, "alice") == 5
        return head

    with patch.object(conversations, "find_head", back_meanwhile):
        await store.read_marks.mark(name, "alice", newest["_id"])
    changed = await _now(store, name)
    await store.send(changed, "bob")
    await store.send(changed, "alice")
    await require_true(store, name, "alice", "bob")


async def test_a_list_that_began_before_they_came_back(store: Store) -> None:
    """Its head is older than its conversation: it counts messages instead."""
    group = await store.conversation("alice", "bob")
    name = group["_id"]
    await store.send(group, "alice")
    await store.change(name, remove=("alice",))
    heads = await conversations.list_heads(store.database, [name], limit=1, counts_of=["alice"])
    await store.change(name, add=("alice",))
    found = await conversations.find_many(store.database, [name])
    shown = await unread.count_unread(store.database, "alice", [found[name]], {name: heads[0]})
    assert shown == {name: 0}
