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
        known = {"alice": Profile(name="Alice", avatar_url="/alice.png")}
        return {user_id: known[user_id] for user_id in user_ids if user_id in known}

    hooks = Hooks(profiles=profiles)
    people = await serve(plugins=[quick(told)], hooks=hooks, profile_cache_seconds=0.001)
    await ready(database)
    group = await people("alice").group("bob", "carol")
    await people("alice").send(group, "hello")
    await people("bob").send(group, "hi")
    await all_told(database, 2)
    briefs = [notification.brief() for notification in told.all if notification.user_id == "carol"]
    assert [(brief.get("senderName"), brief.get("senderAvatarUrl")) for brief in briefs] == [
        ("Alice", "/alice.png"),
        (None, None),
    ]
    is_failing = True
    await people("alice").send(group, "again")
    await all_told(database, 3)
    assert told.of("carol") == ["hello", "hi", "again"]
