"""Lists over rows with equal times: their pages have every row once, in the order of the ids."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, NamedTuple

import pytest

from chat_aio import Hooks
from chat_aio.plugins import BlockedWords, Filter
from tests.conftest import Database, MakePeople
from tests.support.moderating import People, ban, block, is_mod, report
from tests.support.people import Answer, Person

COUNT = 5
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
MODERATED = Hooks(can_moderate=is_mod)

Reader = tuple[Person, str]
"""Who reads a list, and its path."""


async def made(answers: list[Answer]) -> None:
    for answer in answers:
        assert answer.status in (200, 201), answer


async def bans(people: People) -> Reader:
    await made([await ban(people("mod"), f"user {number}") for number in range(COUNT)])
    return people("mod"), "/moderation/bans"


async def blocks(people: People) -> Reader:
    await made([await block(people("alice"), f"user {number}") for number in range(COUNT)])
    return people("alice"), "/moderation/blocks"


async def mutes(people: People) -> Reader:
    alice = people("alice")
    groups = [await alice.group() for _ in range(COUNT)]
    await made([await alice.post("/moderation/mutes", {"conversationId": at}) for at in groups])
    return alice, "/moderation/mutes"


async def reports(people: People) -> Reader:
    await made([await report(people("alice"), "user", f"user {n}") for n in range(COUNT)])
    return people("mod"), "/moderation/reports"


async def report_groups(people: People) -> Reader:
    await reports(people)
    return people("mod"), "/moderation/tools/report-groups"


async def group_bans(people: People) -> Reader:
    alice = people("alice")
    path = f"/conversations/{await alice.group()}/bans"
    await made([await alice.post(path, {"userId": f"user {n}"}) for n in range(COUNT)])
    return alice, path


async def join_requests(people: People) -> Reader:
    alice = people("alice")
    path = f"/conversations/{await alice.group()}/join-requests"
    await made([await people(f"user {number}").post(path) for number in range(COUNT)])
    return alice, path


async def mentions(people: People) -> Reader:
    group = await people("alice").group("bob")
    for number in range(COUNT):
        await people("alice").send(group, f"m{number}", mentions=["bob"])
    return people("bob"), "/mentions"


async def threads(people: People) -> Reader:
    alice = people("alice")
    group = await alice.group()
    for number in range(COUNT):
        root = await alice.send(group, f"m{number}")
        await alice.send(group, "a reply", threadRootMessageId=root["id"])
    return alice, "/threads"


async def held_messages(people: People) -> Reader:
    group = await people("alice").group()
    for number in range(COUNT):
        path = f"/conversations/{group}/messages"
        held = await people("alice").post(path, {"body": f"bad {number}"})
        assert held.code == "MESSAGE_HELD"
    return people("mod"), "/moderation/held"


class Listing(NamedTuple):
    """A list: `rows` of an answer have `key_of` where a document of `collection` has `key`."""

    fill: Callable[[People], Awaitable[Reader]]
    collection: str
    rows: str
    key_of: Callable[[Any], str] = itemgetter("id")
    key: str = "_id"
    at: str = "createdAt"


LISTINGS = [
    Listing(bans, "bans", "bans"),
    Listing(blocks, "blocks", "blocks", itemgetter("blockedUserId"), "blockedUserId"),
    Listing(mutes, "mutes", "mutes", itemgetter("conversationId"), "conversationId"),
    Listing(reports, "reports", "reports"),
    Listing(report_groups, "reports", "reportGroups", lambda group: group["latest"]["id"]),
    Listing(
        group_bans, "conversation_bans", "conversationBans", itemgetter("userId"), key="userId"
    ),
    Listing(join_requests, "join_requests", "joinRequests"),
    Listing(mentions, "messages", "mentions", lambda row: row["message"]["id"]),
    Listing(threads, "messages", "threads", lambda row: row["root"]["id"], at="thread.lastReplyAt"),
    Listing(held_messages, "held_messages", "heldMessages"),
]


@pytest.mark.parametrize("listing", LISTINGS, ids=lambda listing: listing.fill.__name__)
async def test_pages_of_equal_times_have_every_row_once_in_the_order_of_ids(
    serve: MakePeople, database: Database, listing: Listing
) -> None:
    """`test_conversations.py` has the list of conversations."""
    held = Filter([BlockedWords(["bad"], action="hold", reason="a listed word")])
    people = await serve(
        MODERATED, plugins=[held], room_controls=True, inbox=True, moderation_tools=True
    )
    who, path = await listing.fill(people)
    documents, at = database[listing.collection], listing.at
    await documents.update_many({at: {"$exists": True}}, {"$set": {at: MOMENT}})
    kept = await documents.find({at: MOMENT}).sort("_id", -1).to_list(None)
    found: list[str] = []
    more: dict[str, str] = {}
    while True:
        page = (await who.get(path, params={"limit": "2", **more})).json
        found += map(listing.key_of, page[listing.rows])
        if page["nextCursor"] is None:
            break
        more = {"cursor": page["nextCursor"]}
    assert found == [document[listing.key] for document in kept]
    assert len(found) == COUNT
