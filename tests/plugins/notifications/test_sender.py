"""The sender's name and image in each notification."""

from collections.abc import Sequence

from chat_aio import Hooks, Profile
from tests.conftest import Database, MakePeople
from tests.plugins.notifications.telling import Told, all_told, quick, ready


async def test_they_are_those_of_the_host(serve: MakePeople, database: Database) -> None:
    """Of unknown users, and if the hook fails, there are none."""
    told, is_failing = Told(), False

    def profiles(user_ids: Sequence[str]) -> dict[str, Profile]:
        if is_failing:
            raise ValueError("a bug of the host's")
        known = {"alice", "dave"} & {*user_ids}
        return {name: Profile(name=name.title(), avatar_url=f"/{name}.png") for name in known}

    hooks = Hooks(profiles=profiles)
    people = await serve(plugins=[quick(told)], hooks=hooks)
    await ready(database)
    group = await people("alice").group("bob", "carol", "dave")
    await people("alice").send(group, "hello")
    await people("bob").send(group, "hi")
    await all_told(database, 2)
    is_failing = True
    await people("dave").send(group, "hey")  # Nobody has asked about them before.
    await all_told(database, 3)
    assert told.of("carol") == ["hello", "hi", "hey"]
    briefs = [notification.brief() for notification in told.all if notification.user_id == "carol"]
    assert [(brief.get("senderName"), brief.get("senderAvatarUrl")) for brief in briefs] == [
        ("Alice", "/alice.png"),
        (None, None),
        (None, None),
    ]
