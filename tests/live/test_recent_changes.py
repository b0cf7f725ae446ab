"""What a replay leaves out is named after it: a client that was away refetches that alone."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from chat_aio import Chat
from chat_aio.live.replay.recent_changes import MOST_NAMED
from chat_aio.store import recent_changes
from tests.admin.running import DO, run
from tests.conftest import Database, MakePeople
from tests.support.ageing import age
from tests.support.people import Person
from tests.support.views import View, shown_to

OPTIONS: dict[str, Any] = {
    "extra_events": True,
    "room_controls": True,
    "inbox": True,
    "editable_metadata": True,
}
KINDS = ("members", "name", "metadata", "reactions", "pins", "ownMarks", "removed")
AWAY = ("10 s", "10 min", "a restart")

Place = Callable[[str], Person]


class Setting:
    """Alice, Bob who was away, a group and a direct conversation of them, and what was said."""

    def __init__(self, person: Place) -> None:
        self.person = person
        self.alice, self.bob = person("alice"), person("bob")
        self.group = self.direct = ""
        self.old: dict[str, Any] = {}
        self.view = View("bob")

    async def begin(self, database: Database) -> None:
        self.group = await self.alice.group("bob", "carol")
        self.direct = await self.alice.direct("bob")
        self.old = await self.alice.send(self.group, "old")
        await self.alice.send(self.direct, "old too")
        # So that nothing of this counts as recent.
        await age(database)
        await self.leave()

    async def leave(self) -> None:
        """Bob sees a last message and goes away."""
        async with self.bob.tab() as tab:
            await self.alice.send(self.direct, "the last that Bob sees")
            await tab.event("message.created")
            self.view.position = tab.last_event_id
        await self.view.fetch_all(self.person)
        self.view.fetched.clear()
        self.view.lists = 0


async def changed(person: Place, position: str | None, user_id: str = "bob") -> Any:
    """The event of a client that comes back, with the kinds alone that name a conversation."""
    async with person(user_id).tab(position) as tab:
        frames = await tab.until(lambda frame: frame.event == "stream.changed")
    assert [frame.event for frame in frames].count("stream.reset") == 0
    told = frames[-1].data
    named = {kind: ids for kind, ids in told["conversations"].items() if ids}
    return "all" if told["all"] else named


async def returned(
    setting: Setting, database: Database, serve: MakePeople, away: str
) -> tuple[Place, Any]:
    """The process that Bob comes back to, after so long, and what it names."""
    person = setting.person
    if away == "10 min":
        # Another process, which remembers nothing of what has become older.
        person = await serve(**OPTIONS, replay_buffer_bytes=1)
        await age(database)
    elif away == "a restart":
        await setting.alice.chat.close()
        person = await serve(**OPTIONS)
    return person, await changed(person, setting.view.position)


async def join(setting: Setting) -> tuple[str, str]:
    answer = await setting.alice.post(
        f"/conversations/{setting.group}/participants", {"userIds": ["dave"]}
    )
    assert answer.status == 200
    return "members", setting.group


async def promote(setting: Setting) -> tuple[str, str]:
    answer = await setting.alice.call(
        "PATCH",
        f"/conversations/{setting.group}/participants",
        json={"userId": "carol", "role": "admin"},
    )
    assert answer.status == 200, answer
    return "members", setting.group


async def set_members(setting: Setting) -> tuple[str, str]:
    """Somebody comes, somebody goes, and a role changes, at once."""
    await setting.alice.chat.conversations.set_participants(
        "alice", setting.group, {"alice": "admin", "bob": "admin", "dave": "member"}
    )
    return "members", setting.group


async def new_group(setting: Setting) -> tuple[str, str]:
    return "members", await setting.alice.group("bob")


async def new_direct(setting: Setting) -> tuple[str, str]:
    return "members", await setting.person("erin").direct("bob")


async def rename(setting: Setting) -> tuple[str, str]:
    answer = await setting.alice.call(
        "PATCH", f"/conversations/{setting.group}", json={"name": "a new name"}
    )
    assert answer.status == 200
    return "name", setting.group


async def freeze(setting: Setting) -> tuple[str, str]:
    answer = await setting.alice.call(
        "PATCH", f"/conversations/{setting.group}", json={"frozen": True}
    )
    assert answer.status == 200
    return "name", setting.group


async def describe(setting: Setting) -> tuple[str, str]:
    answer = await setting.alice.call(
        "PATCH", f"/conversations/{setting.group}", json={"metadata": {"order": 7}}
    )
    assert answer.status == 200, answer
    return "metadata", setting.group


async def react(setting: Setting) -> tuple[str, str]:
    await setting.alice.react(setting.old["id"], "👍")
    return "reactions", setting.group


async def pin(setting: Setting) -> tuple[str, str]:
    answer = await setting.alice.post(
        f"/conversations/{setting.group}/pins", {"messageId": setting.old["id"]}
    )
    assert answer.status == 200, answer
    return "pins", setting.group


async def read_elsewhere(setting: Setting) -> tuple[str, str]:
    await setting.bob.read(setting.group, setting.old["id"])
    return "ownMarks", setting.group


async def mark_unread(setting: Setting) -> tuple[str, str]:
    answer = await setting.bob.post(
        f"/conversations/{setting.group}/unread", {"messageId": setting.old["id"]}
    )
    assert answer.status == 200, answer
    return "ownMarks", setting.group


async def throw_out(setting: Setting) -> tuple[str, str]:
    answer = await setting.alice.call(
        "DELETE", f"/conversations/{setting.group}/participants", json={"userId": "bob"}
    )
    assert answer.status == 200, answer
    return "removed", setting.group


async def delete(setting: Setting) -> tuple[str, str]:
    await setting.alice.chat.conversations.delete_conversation("shop", setting.group)
    return "removed", setting.group


Act = Callable[[Setting], Awaitable[tuple[str, str]]]
ACTS: tuple[Act, ...] = (
    *(join, promote, set_members, new_group, new_direct, rename, freeze, describe, react, pin),
    *(read_elsewhere, mark_unread, throw_out, delete),
)


def timeless(shown: Any) -> Any:
    """Without times, which `age` changes."""
    if isinstance(shown, dict):
        return {name: timeless(shown[name]) for name in shown if not str(name).endswith("At")}
    return [timeless(part) for part in shown] if isinstance(shown, list | tuple) else shown


@pytest.mark.parametrize("away", AWAY)
@pytest.mark.parametrize("act", ACTS, ids=[act.__name__ for act in ACTS])
async def test_each_kind_is_named_and_refetched_alone(
    serve: MakePeople, database: Database, act: Act, away: str
) -> None:
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    kind, conversation_id = await act(setting)
    person, named = await returned(setting, database, serve, away)
    assert named == {kind: [conversation_id]}
    view = setting.view
    async with person("bob").tab(view.position) as tab:
        for frame in await tab.until(lambda frame: frame.event == "stream.changed"):
            await view.take(frame, person)
    assert {name.partition("/")[0] for name in view.fetched} <= {conversation_id}
    assert view.lists == 0
    assert timeless(view.shown()) == timeless(await shown_to("bob", person))


async def test_all_kinds_at_once_and_several_conversations(
    serve: MakePeople, database: Database
) -> None:
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    other = await setting.alice.group("bob")
    for act in (join, rename, describe, react, pin, read_elsewhere):
        await act(setting)
    assert await changed(setting.person, setting.view.position) == {
        **{kind: [setting.group] for kind in KINDS if kind not in ("members", "removed")},
        "members": sorted([setting.group, other]),
    }


async def test_what_others_read_is_not_named(serve: MakePeople, database: Database) -> None:
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    await setting.person("carol").read(setting.group, setting.old["id"])
    assert await changed(setting.person, setting.view.position) == {}
    named = await changed(setting.person, setting.view.position, "carol")
    assert named == {"ownMarks": [setting.group]}


async def test_nothing_has_changed(serve: MakePeople, database: Database) -> None:
    """The event comes all the same: the client then knows that it needs not refetch."""
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    assert await changed(setting.person, setting.view.position) == {}


async def test_a_mark_that_changes_nothing_is_none(serve: MakePeople, database: Database) -> None:
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    newer = await setting.alice.send(setting.group, "newer")
    await setting.bob.read(setting.group, newer["id"])
    await age(database)
    await setting.leave()
    await setting.bob.read(setting.group, setting.old["id"])
    assert await changed(setting.person, setting.view.position) == {}


async def test_a_mark_that_ends_one_as_unread(serve: MakePeople, database: Database) -> None:
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    await setting.bob.read(setting.group, setting.old["id"])
    await mark_unread(setting)
    await age(database)
    await setting.leave()
    await setting.bob.read(setting.group, setting.old["id"])
    stored = await database["conversations"].find_one({"_id": setting.group})
    assert stored is not None
    assert all("unreadFrom" not in person for person in stored["participants"])
    assert await changed(setting.person, setting.view.position) == {"ownMarks": [setting.group]}


async def test_both_parts_of_a_mark_at_once(serve: MakePeople, database: Database) -> None:
    """It moves the read state and ends a mark as unread: one time is set once."""
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    await mark_unread(setting)
    await age(database)
    await setting.leave()
    await setting.bob.read(setting.group, setting.old["id"])
    assert await changed(setting.person, setting.view.position) == {"ownMarks": [setting.group]}


async def test_removed_and_added_again(serve: MakePeople, database: Database) -> None:
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    await throw_out(setting)
    answer = await setting.alice.post(
        f"/conversations/{setting.group}/participants", {"userIds": ["bob"]}
    )
    assert answer.status == 200
    assert await changed(setting.person, setting.view.position) == {"members": [setting.group]}


async def test_nothing_later_of_a_conversation_that_one_is_removed_from(
    serve: MakePeople, database: Database
) -> None:
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    await throw_out(setting)
    for act in (join, rename, react, pin):
        await act(setting)
    assert await changed(setting.person, setting.view.position) == {"removed": [setting.group]}


async def test_reactions_to_hidden_messages_are_not_named(
    serve: MakePeople, database: Database
) -> None:
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    path = f"/conversations/{setting.group}"
    answer = await setting.alice.call("PATCH", path, json={"history": "since_join"})
    assert answer.status == 200, answer
    await setting.alice.post(f"{path}/participants", {"userIds": ["dave"]})
    await age(database)
    shown = await setting.alice.send(setting.group, "from here on")
    await setting.alice.react(setting.old["id"], "👍")
    position = f"{setting.group}:{shown['seq']}"
    person = await serve(**OPTIONS, replay_buffer_bytes=1)
    assert await changed(person, position, "dave") == {}
    assert await changed(person, position) == {"reactions": [setting.group]}
    await setting.alice.react(shown["id"], "👍")
    assert await changed(person, position, "dave") == {"reactions": [setting.group]}


@pytest.mark.parametrize("count", [MOST_NAMED, MOST_NAMED + 1])
async def test_more_than_may_be_named(serve: MakePeople, database: Database, count: int) -> None:
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    api = setting.alice.chat.api
    for _ in range(count):
        await api.create_group_conversation("alice", user_ids=["bob"])
    named = await changed(setting.person, setting.view.position)
    assert named == "all" if count > MOST_NAMED else len(named["members"]) == count


@pytest.mark.parametrize("position", ["nonsense", "nowhere:7"])
async def test_a_position_that_is_not_known(
    serve: MakePeople, database: Database, position: str
) -> None:
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    assert await changed(setting.person, position) == "all"


async def test_a_position_older_than_a_week(serve: MakePeople, database: Database) -> None:
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    person = await serve(**OPTIONS, replay_buffer_bytes=1)
    await age(database, minutes=7 * 24 * 60 - 10)
    assert await changed(person, setting.view.position) == {}
    await age(database, minutes=10)
    assert await changed(person, setting.view.position) == "all"


async def test_a_moment_is_a_position(serve: MakePeople, database: Database) -> None:
    person = await serve(**OPTIONS)
    async with person("bob").tab() as tab:
        await tab.next()
        position = tab.last_event_id
    assert position
    assert position.startswith("::")
    assert await changed(person, position) == {}
    group = await person("alice").group("bob")
    assert await changed(person, position) == {"members": [group]}


async def test_a_reset_needs_none(serve: MakePeople, database: Database) -> None:
    setting = Setting(await serve(**OPTIONS, replay_limit=1))
    await setting.begin(database)
    for number in range(3):
        await setting.alice.send(setting.group, f"{number}")
    async with setting.bob.tab(setting.view.position) as tab:
        await tab.event("stream.reset")
        await rename(setting)
        frames = await tab.until(lambda frame: frame.event == "conversation.updated")
    assert "stream.changed" not in [frame.event for frame in frames]


async def test_a_new_stream_needs_none(serve: MakePeople, database: Database) -> None:
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    async with setting.bob.tab() as tab:
        await rename(setting)
        await tab.event("conversation.updated")


async def test_it_follows_the_replay_and_precedes_live_events(
    serve: MakePeople, database: Database
) -> None:
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    await rename(setting)
    for number in range(3):
        await setting.alice.send(setting.group, f"{number}")
    await setting.alice.told_all()
    async with setting.bob.tab(setting.view.position) as tab:
        frames = await tab.until(lambda frame: frame.event == "stream.changed")
        position = tab.last_event_id
        await setting.alice.send(setting.group, "live")
        await tab.event("message.created")
    assert [frame.event for frame in frames if frame.event] == [
        *("message.created",) * 3,
        "stream.changed",
    ]
    # A client that is cut off before or behind it comes back with its old position.
    assert position == setting.view.position
    assert await changed(setting.person, position) == {"name": [setting.group]}


async def test_without_the_option_nothing_is_stored_or_said(
    serve: MakePeople, database: Database
) -> None:
    setting = Setting(await serve(room_controls=True, inbox=True, editable_metadata=True))
    await setting.begin(database)
    for act in (join, rename, describe, react, pin, read_elsewhere):
        await act(setting)
    await setting.alice.told_all()
    async with setting.bob.tab(setting.view.position) as tab:
        await setting.alice.send(setting.group, "live")
        frames = await tab.until(lambda frame: frame.event is not None)
    assert frames[-1].event == "message.created"
    stored = str(await database["conversations"].find().to_list(None))
    assert "changedAt" not in stored
    assert "markedAt" not in stored
    assert "reactedAt" not in str(await database["messages"].find().to_list(None))


async def test_a_change_of_another_program_has_only_its_stamp(
    serve: MakePeople, database: Database
) -> None:
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    stamp = {"id": "theirs", "kind": "conversation.updated", "actorId": "alice"}
    await database["conversations"].update_one(
        {"_id": setting.group},
        {
            "$set": {
                "name": "theirs",
                "change": {**stamp, "at": setting.alice.chat._context.clock()},
            }
        },
    )
    named = await changed(setting.person, setting.view.position)
    assert named == {kind: [setting.group] for kind in ("members", "name", "metadata", "pins")}


async def test_rows_of_another_program_in_a_wrong_shape_are_left_out(
    serve: MakePeople, database: Database
) -> None:
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    await rename(setting)
    now = setting.alice.chat._context.clock()
    await database["conversations"].insert_many(
        [
            {"_id": "no people", "participants": {"userId": "bob"}, "change": {"at": now}},
            {
                "_id": "no times",
                "participants": [{"userId": "bob"}],
                "changedAt": "now",
                "change": {"at": now},
            },
        ],
        bypass_document_validation=True,
    )
    assert await changed(setting.person, setting.view.position) == {"name": [setting.group]}


async def test_many_who_return_share_the_reads(serve: MakePeople, database: Database) -> None:
    person = await serve(**OPTIONS)
    alice = person("alice")
    users = [f"user {number}" for number in range(40)]
    group = await alice.group(*users)
    await alice.send(group, "old")
    await age(database)
    last = await alice.send(group, "the last")
    await alice.call("PATCH", f"/conversations/{group}", json={"name": "new"})
    await person(users[0]).read(group, last["id"])
    position = f"{group}:{last['seq']}"
    named = await asyncio.gather(*(changed(person, position, user_id) for user_id in users))
    assert named[0] == {"name": [group], "ownMarks": [group]}
    assert named[1:] == [{"name": [group]}] * 39


async def test_a_change_right_after_the_read_is_delivered_live(
    serve: MakePeople, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stream is subscribed before the read, so nothing falls between the two."""
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    read = recent_changes.list_reacted

    async def then_react(*given: Any, **more: Any) -> Any:
        found = await read(*given, **more)
        await rename(setting)
        await react(setting)
        return found

    monkeypatch.setattr(recent_changes, "list_reacted", then_react)
    async with setting.bob.tab(setting.view.position) as tab:
        told = await tab.event("stream.changed")
        assert not any(told["conversations"].values())
        await tab.event("conversation.updated")
        await tab.event("reaction.added")


async def erase_in_process(database: Database, _: str) -> None:
    async with Chat(database, admin=database) as chat:
        erased = await chat.admin.erase_user("carol", by="host")
    # A departure would name the user until the next pass.
    assert "departures" not in erased.counts


async def erase_by_command(database: Database, url: str) -> None:
    place = {"CHAT_AIO_MONGO_URL": url, "CHAT_AIO_DATABASE": database.name}
    done = await run("users", "erase", "carol", *DO, **place)
    assert done.code == 0, done


@pytest.mark.parametrize("erase", [erase_in_process, erase_by_command])
async def test_what_an_operator_erases_is_named(
    serve: MakePeople,
    database: Database,
    client_url: str,
    erase: Callable[[Database, str], Awaitable[None]],
) -> None:
    """Operators do not know the options of the service: changes are dated all the same."""
    setting = Setting(await serve(**OPTIONS))
    await setting.begin(database)
    carol = setting.person("carol")
    await promote(setting)
    answer = await carol.call("PATCH", f"/conversations/{setting.group}", json={"name": "Carol's"})
    assert answer.status == 200, answer
    await carol.react(setting.old["id"], "👍")
    await age(database)
    await setting.leave()
    await erase(database, client_url)
    named = await changed(setting.person, setting.view.position)
    assert named == {kind: [setting.group] for kind in ("members", "name", "reactions")}
