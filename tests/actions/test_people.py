"""People: what the host shows of its users, asked for in batches, and left out if it fails."""

import asyncio
import gc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from chat_aio import Chat, Hooks, Profile, Quotas
from chat_aio.actions.profiles import Profiles
from chat_aio.errors import InternalError, InvalidInput
from chat_aio.hooks import UserSearch
from tests.conftest import MakePeople
from tests.support.people import PATIENCE, Person
from tests.support.processes import until

NAMES = {"alice": "Alice Liddell", "bob": "Bob Roberts", "carol": "Carol", "robot": "Robot"}


class Directory:
    """A host's users, and which batches of them were asked for."""

    def __init__(self) -> None:
        self.asked: list[Sequence[str]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.fails = False

    async def profiles(self, user_ids: Sequence[str]) -> Mapping[str, Profile]:
        self.asked.append(user_ids)
        await asyncio.wait_for(self.gate.wait(), PATIENCE)
        if self.fails:
            raise RuntimeError("the directory is down")
        return {user_id: _profile(user_id) for user_id in user_ids if user_id in NAMES}

    def search(self, asked: UserSearch) -> Sequence[str]:
        return [user_id for user_id, name in NAMES.items() if asked.query in name][: asked.limit]

    @property
    def hooks(self) -> Hooks:
        return Hooks(profiles=self.profiles, search_users=self.search)


def _profile(user_id: str) -> Profile:
    avatar = "/avatars/bob.png" if user_id == "bob" else None
    return Profile(name=NAMES[user_id], avatar_url=avatar, is_bot=user_id == "robot")


@pytest.fixture
def directory() -> Directory:
    return Directory()


def of_directory(directory: Directory, **given: Any) -> Profiles:
    return Profiles(directory.profiles, **{"patience": 5.0, "kept_seconds": 60.0, **given})


async def test_users_by_id(serve: MakePeople, directory: Directory) -> None:
    alice = (await serve(directory.hooks))("alice")
    answer = await alice.get("/users?ids=robot,nobody,bob,robot")
    assert answer.json == {
        "users": [
            {"id": "robot", "name": "Robot", "avatarUrl": None, "isBot": True},
            {"id": "bob", "name": "Bob Roberts", "avatarUrl": "/avatars/bob.png", "isBot": False},
        ]
    }


async def test_users_by_name(serve: MakePeople, directory: Directory) -> None:
    alice = (await serve(directory.hooks))("alice")
    found = (await alice.get("/users?q=Rob")).json["users"]
    assert [user["id"] for user in found] == ["bob", "robot"]
    found = (await alice.get("/users?q=Rob&limit=1")).json["users"]
    assert [user["id"] for user in found] == ["bob"]


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("", 400, "INVALID_INPUT"),
        ("?ids=bob&q=b", 400, "INVALID_INPUT"),
        ("?ids=", 400, "INVALID_INPUT"),
        ("?ids=bob,,carol", 400, "INVALID_INPUT"),
        ("?q=%20", 400, "INVALID_INPUT"),
        ("?q=b&limit=0", 400, "INVALID_INPUT"),
        ("?ids=" + ",".join(map(str, range(101))), 400, "INVALID_INPUT"),
        ("?ids=" + ",".join(map(str, range(100))), 200, None),
    ],
)
async def test_what_is_refused(
    serve: MakePeople, directory: Directory, query: str, status: int, code: str | None
) -> None:
    answer = await (await serve(directory.hooks))("alice").get(f"/users{query}")
    assert (answer.status, answer.code) == (status, code)


async def test_a_host_without_it_has_ids(serve: MakePeople) -> None:
    people = await serve()
    alice = people("alice")
    await alice.group("bob")
    assert (await alice.get("/users?ids=bob")).code == "USERS_UNSUPPORTED"
    assert (await alice.get("/users?q=b")).code == "USERS_UNSUPPORTED"
    assert (await alice.get("/conversations?include=users")).json["users"] == {}
    assert "users" not in (await alice.get("/conversations")).json
    people = await serve(Hooks(profiles=lambda _: {}))
    assert (await people("alice").get("/users?q=b")).code == "USERS_UNSUPPORTED"


async def test_lookups_have_a_quota(serve: MakePeople, directory: Directory) -> None:
    alice = (await serve(directory.hooks, quotas=Quotas(user_lookups_per_minute=2)))("alice")
    assert (await alice.get("/users?q=b")).status == 200
    assert (await alice.get("/users?ids=bob")).status == 200
    assert (await alice.get("/users?q=b")).code == "RATE_LIMITED"


async def talk(alice: Person, bob: Person, carol: Person) -> str:
    """A group in which each user is shown in another way."""
    group = await alice.group("bob", "carol", "robot")
    first = await bob.send(group, "tea?", mentions=["robot"])
    await alice.send(group, "tea", replyToMessageId=first["id"], threadRootMessageId=first["id"])
    elsewhere = await carol.group()
    theirs = await carol.send(elsewhere, "tea from elsewhere")
    await carol.call("POST", f"/conversations/{elsewhere}/participants", json={"userIds": ["bob"]})
    answer = await bob.post(f"/messages/{theirs['id']}/forward", {"conversationId": group})
    assert answer.status == 201
    return group


async def test_pages_come_with_their_users(serve: MakePeople, directory: Directory) -> None:
    people = await serve(directory.hooks)
    alice = people("alice")
    group = await talk(alice, people("bob"), people("carol"))
    api, path = alice.chat.api, f"/conversations/{group}"
    root = (await alice.listed(f"{path}/messages"))[-1]["id"]
    everybody = {"alice", "bob", "carol", "robot"}
    of_group = await api.list_messages("alice", group, include=["users"])
    assert {*(of_group.users or ())} == {"bob", "carol", "robot"}
    found = await api.search_messages("alice", "tea", include=["users"])
    assert {*(found.users or ())} == everybody
    for where, expected in (
        (f"{path}/messages?", {"bob", "carol", "robot"}),
        (f"{path}/threads/{root}/messages?", {"alice", "bob"}),
        ("/search/messages?q=tea&", everybody),
        ("/conversations?", everybody),
    ):
        users = (await alice.get(f"{where}include=users")).json["users"]
        assert {*users} == expected, where
        assert all(user["name"] == NAMES[name] for name, user in users.items())


async def test_a_list_with_last_messages_has_their_senders(
    serve: MakePeople, directory: Directory
) -> None:
    people = await serve(directory.hooks)
    alice = people("alice")
    others = [f"b{n:02}" for n in range(20)]
    group = await alice.group(*others, "bob")
    await people("bob").send(group, "x")
    listed = (await alice.get("/conversations?include=users")).json["users"]
    assert {*listed} == {"alice"}  # Bob is not among the first participants.
    listed = (await alice.get("/conversations?include=lastMessage,users")).json["users"]
    assert {*listed} == {"alice", "bob"}


async def test_conversations_are_found_by_names_of_people(
    serve: MakePeople, directory: Directory
) -> None:
    alice = (await serve(directory.hooks))("alice")
    direct = await alice.direct("bob")
    await alice.direct("carol")
    found = (await alice.get("/conversations?q=Roberts")).json["conversations"]
    assert [conversation["id"] for conversation in found] == [direct]
    # One's own name does not find everything.
    assert (await alice.get("/conversations?q=Liddell")).json["conversations"] == []


async def test_pages_stand_without_a_directory_that_fails(
    serve: MakePeople, directory: Directory
) -> None:
    directory.fails = True
    alice = (await serve(directory.hooks))("alice")
    direct = await alice.direct("bob")
    answer = (await alice.get("/conversations?include=users")).json
    assert [conversation["id"] for conversation in answer["conversations"]] == [direct]
    assert answer["users"] == {}
    assert (await alice.get("/users?ids=bob")).status == 500
    directory.fails = False
    assert (await alice.get("/users?ids=bob")).json["users"][0]["name"] == "Bob Roberts"


async def test_many_at_once_are_asked_for_once(directory: Directory) -> None:
    directory.gate.clear()
    profiles = of_directory(directory)
    asking = [asyncio.create_task(profiles.find(["bob", f"x{n}"])) for n in range(50)]
    async with asyncio.timeout(PATIENCE):
        while len(directory.asked) < 50:  # noqa: ASYNC110
            await asyncio.sleep(0)
    directory.gate.set()
    assert [{*result} for result in await asyncio.gather(*asking)] == [{"bob"}] * 50
    assert sum("bob" in user_ids for user_ids in directory.asked) == 1
    assert {*await profiles.find(["bob", "x7"])} == {"bob"}  # Unknown ones are kept as well.
    assert len(directory.asked) == 50


async def test_a_caller_that_leaves_takes_nobody_along(directory: Directory) -> None:
    directory.gate.clear()
    profiles = of_directory(directory)
    leaving, staying = (asyncio.create_task(profiles.find(["bob"])) for _ in range(2))
    async with asyncio.timeout(PATIENCE):
        while not directory.asked:  # noqa: ASYNC110
            await asyncio.sleep(0)
    leaving.cancel()
    directory.gate.set()
    assert {*await staying} == {"bob"}
    assert len(directory.asked) == 1


async def test_batches_and_what_is_kept(directory: Directory) -> None:
    profiles = of_directory(directory, most=150)
    many = [f"u{n}" for n in range(250)]
    await profiles.find(many)
    assert [len(user_ids) for user_ids in directory.asked] == [100, 100, 50]
    await profiles.find(many[-150:])
    assert len(directory.asked) == 3
    await profiles.find(many[:1])
    assert len(directory.asked) == 4


async def test_nothing_is_kept_for_no_time(directory: Directory) -> None:
    profiles = of_directory(directory, kept_seconds=0.0)
    await profiles.find(["bob"])
    await profiles.find(["bob"])
    assert len(directory.asked) == 2


@pytest.mark.parametrize("answer", [None, ["bob"], 5])
async def test_a_hook_that_answers_nonsense(answer: Any) -> None:
    profiles = Profiles(lambda _: answer, patience=5.0, kept_seconds=60.0)
    with pytest.raises(InternalError):
        await profiles.find(["bob"])


@pytest.mark.parametrize("wrong", ["is_bot", "name"])
async def test_a_profile_that_cannot_be_shown_is_left_out(serve: MakePeople, wrong: str) -> None:
    bad: Any = {"name": "Bob", "is_bot": None} if wrong == "is_bot" else {"name": "\ud800"}
    found = {"bob": Profile(**bad), "carol": Profile(name="Carol")}
    alice = (await serve(Hooks(profiles=lambda _: found)))("alice")
    await alice.direct("bob")
    assert (await alice.get("/conversations?include=users")).json["users"] == {}
    users = (await alice.get("/users?ids=bob,carol")).json["users"]
    assert [user["id"] for user in users] == ["carol"]


async def test_a_directory_that_is_late_is_let_rest(directory: Directory) -> None:
    directory.gate.clear()
    profiles = of_directory(directory, patience=0.05)
    for _ in range(3):
        with pytest.raises(InternalError):
            await profiles.find(["bob"])
    assert len(directory.asked) == 1
    directory.gate.set()


async def test_batches_that_fail_together_are_one_error(
    directory: Directory, caplog: pytest.LogCaptureFixture
) -> None:
    directory.fails = True
    profiles = of_directory(directory)
    with pytest.raises(InternalError):
        await profiles.find(f"u{n}" for n in range(250))
    assert len(directory.asked) == 3
    gc.collect()
    await asyncio.sleep(0)
    assert "never retrieved" not in caplog.text


async def test_without_profiles_nobody_is_searched(serve: MakePeople) -> None:
    asked: list[UserSearch] = []

    def search(given: UserSearch) -> list[str]:
        asked.append(given)
        return []

    alice = (await serve(Hooks(search_users=search)))("alice")
    assert (await alice.get("/users?q=b")).code == "USERS_UNSUPPORTED"
    assert asked == []


async def test_a_search_that_answers_nonsense(serve: MakePeople, directory: Directory) -> None:
    answer: Any = (letter for letter in "ab")
    hooks = Hooks(profiles=directory.profiles, search_users=lambda _: answer)
    alice = (await serve(hooks))("alice")
    assert (await alice.get("/users?q=x")).status == 500
    assert (await alice.get("/conversations?q=x")).status == 200


async def test_one_wrong_profile_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    answer: Any = {"bob": "Bob", "carol": Profile(name="Carol")}
    profiles = Profiles(lambda _: answer, patience=5.0, kept_seconds=60.0)
    assert {*await profiles.find(["bob", "carol"])} == {"carol"}
    assert "Profile" in caplog.text


async def test_a_changed_profile_is_shown_by_every_process(serve: MakePeople) -> None:
    names = {"bob": "Bob", "carol": "Carol"}
    fetched: list[str] = []

    async def profiles(user_ids: Sequence[str]) -> Mapping[str, Profile]:
        fetched.extend(user_ids)
        return {user_id: Profile(name=names[user_id]) for user_id in user_ids}

    one, other = await serve(Hooks(profiles=profiles)), await serve(Hooks(profiles=profiles))

    async def shown(people: Callable[[str], Person]) -> list[str]:
        answer = await people("alice").get("/users?ids=bob,carol")
        return [user["name"] for user in answer.json["users"]]

    async with one("bob").tab(), other("bob").tab() as tab:
        for people in (one, other):
            assert await shown(people) == ["Bob", "Carol"]
        names |= {"bob": "Robert", "carol": "Caroline"}
        for people in (one, other):
            assert await shown(people) == ["Bob", "Carol"]
        fetched.clear()
        await one("alice").chat.invalidate_profiles(["bob", "bob"])
        # What is sent after it comes after it.
        here = await one("alice").direct("bob")
        await one("alice").send(here, "hi")
        await tab.event("message.created")
        for people in (one, other):
            assert await shown(people) == ["Robert", "Carol"]
        assert fetched == ["bob", "bob"]


async def test_a_profile_that_was_asked_for_before_the_change_is_not_kept(
    directory: Directory,
) -> None:
    profiles = of_directory(directory)
    directory.gate.clear()
    early = asyncio.create_task(profiles.find(["bob"]))
    await until(lambda: len(directory.asked) == 1)
    profiles.forget(["bob"])
    late = asyncio.create_task(profiles.find(["bob"]))
    await until(lambda: len(directory.asked) == 2)
    directory.gate.set()
    assert {*await early, *await late} == {"bob"}
    await profiles.find(["bob"])
    assert len(directory.asked) == 2  # The second answer is kept.
    profiles.forget_all()
    await profiles.find(["bob"])
    assert len(directory.asked) == 3


@pytest.mark.parametrize("wrong", ["bob", [""], ["x\0"], [7], ["a" * 257]])
async def test_ids_whose_profiles_cannot_be_forgotten(chat: Chat, wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        await chat.invalidate_profiles(wrong)


@pytest.mark.parametrize(
    "given",
    [
        {"name": " "},
        {"name": "x", "avatar_url": "javascript:alert(1)"},
        {"name": "x", "avatar_url": "//elsewhere.example/x.png"},
        {"name": "x", "avatar_url": "data:image/png;base64,x"},
    ],
)
def test_profiles_that_are_none(given: Any) -> None:
    with pytest.raises(ValueError, match=r"Profile\("):
        Profile(**given)
