"""The number of unread messages in each notification."""

from unittest.mock import patch

from chat_aio.actions import plugin_api
from tests.conftest import Database, MakePeople
from tests.plugins.notifications.telling import Told, all_told, quick, ready


async def test_it_is_the_one_at_that_time(serve: MakePeople, database: Database) -> None:
    told = Told()
    people = await serve(plugins=[quick(told)], inbox=True)
    await ready(database)
    alice, bob = people("alice"), people("bob")
    muted, group = await alice.group("bob"), await alice.group("bob")
    assert (await bob.post("/moderation/mutes", {"conversationId": muted})).status == 200
    await alice.send(muted, "not told")
    await alice.send(group, "told")
    await all_told(database, 2)
    (notification,) = told.all
    assert notification.unread == await bob.chat.inbox.count_unread("bob")
    assert notification.unread is not None
    assert (notification.unread.all.messages, notification.unread.unmuted.messages) == (2, 1)
    assert notification.brief()["badge"] == 1


async def test_without_the_option_there_is_none(serve: MakePeople, database: Database) -> None:
    told = Told()
    people = await serve(plugins=[quick(told)])
    await ready(database)
    await people("alice").send(await people("alice").direct("bob"), "hello")
    await all_told(database, 1)
    assert told.all[0].unread is None
    assert not {"unread", "badge"} & told.all[0].brief().keys()


async def test_a_count_that_fails_holds_no_notification_up(
    serve: MakePeople, database: Database
) -> None:
    told = Told()
    people = await serve(plugins=[quick(told)], inbox=True)
    await ready(database)
    with patch.object(plugin_api, "count_unread", side_effect=ValueError("a bug of the host's")):
        await people("alice").send(await people("alice").direct("bob"), "hello")
        await all_told(database, 1)
    assert [notification.unread for notification in told.all] == [None]
