"""Rows about reading: lists with many unread messages, long lists, large groups, and far pages."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from time import perf_counter

from benchmarks.data import Place, put_conversations, put_messages
from benchmarks.floors import page_at
from benchmarks.load import Connection, get, percentile
from benchmarks.stage import BenchDatabase, Stage, connected
from benchmarks.table import Figures, at_most, ms, row, times
from chat_aio.schema.pagination import cursor_from

CONVERSATIONS = 50
MESSAGES = 10
WARM_CALLS = 10

Timed = Callable[[], Awaitable[float]]


async def in_turns(count: int, *timed: Timed) -> list[list[float]]:
    """Run these in turn, `count` times, after some warm-up runs that are not counted."""
    taken = [[await call() for call in timed] for _ in range(WARM_CALLS + count)]
    return [list(timings) for timings in zip(*taken[WARM_CALLS:], strict=True)]


def p50(values: Sequence[float]) -> float:
    return percentile(values, 50)


def asked(connection: Connection, request: bytes) -> Timed:
    return lambda: connection.timed(request)


def list_of(connection: Connection, user_id: str) -> Timed:
    return asked(connection, get("/conversations", user_id))


def places_of(user_id: str, *messages: int, members: int = 4) -> list[Place]:
    """A conversation of `user_id` and others, `members` in all, for each number of messages."""
    return [
        Place(
            f"{user_id}-{number:02}",
            (user_id, *(f"{user_id}-{number:02}-u{other}" for other in range(members - 1))),
            message,
        )
        for number, message in enumerate(messages)
    ]


async def load_lists(
    stage: Stage, database: BenchDatabase, lists: Sequence[Sequence[Place]], *, own: bool
) -> None:
    """The conversations of some users, filled by themselves or by the others in them."""
    found = [place for users in lists for place in users]
    await put_conversations(database, found)
    await put_messages(
        stage,
        database,
        ((place, place.user_ids[:1] if own else place.user_ids[1:]) for place in found),
    )


@row(
    "P7",
    "GET conversations: 50 of them with 10,000 unread messages in each, against 10 in each",
    at_most("ratio", 1.2),
)
async def measure_unread_lists(stage: Stage) -> Figures:
    many = stage.sized(10_000, 1_000)
    lists = [places_of("few", *[10] * CONVERSATIONS), places_of("many", *[many] * CONVERSATIONS)]
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("unread"))
        await load_lists(stage, database, lists, own=False)
        services = await stack.enter_async_context(stage.services(database))
        (connection,) = await stack.enter_async_context(connected(services))
        users = (list_of(connection, name) for name in ("few", "many"))
        few, behind = await in_turns(stage.sized(300, 100), *users)
    return {
        "p50 of 10": ms(p50(few)),
        f"p50 of {many:,}": ms(p50(behind)),
        "ratio": times(p50(behind) / p50(few)),
    }


@row(
    "P7b",
    "GET conversations: 50, one of them with 100,000 own messages since the last read, against 10; "
    "also with 1,000 own messages in each of the 50",
    at_most("ratio", 1.3),
)
async def measure_own_lists(stage: Stage) -> Figures:
    rest, many = [0] * (CONVERSATIONS - 1), stage.sized(100_000, 10_000)
    lists = [
        places_of("few", 10, *rest),
        places_of("many", many, *rest),
        places_of("spread", *[1_000] * CONVERSATIONS),
    ]
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("own"))
        await load_lists(stage, database, lists, own=True)
        services = await stack.enter_async_context(stage.services(database))
        (connection,) = await stack.enter_async_context(connected(services))
        first = await list_of(connection, "many")()
        users = (list_of(connection, name) for name in ("few", "many", "spread"))
        few, long, spread = await in_turns(stage.sized(200, 50), *users)
    return {
        "p50 of 10": ms(p50(few)),
        f"p50 of {many:,}": ms(p50(long)),
        "its first call": ms(first),
        "p50 of 50 x 1,000": ms(p50(spread)),
        "ratio of that": times(p50(spread) / p50(few)),
        "ratio": times(p50(long) / p50(few)),
    }


@row(
    "P8",
    "GET conversations: a member of 3,000 conversations (groups of 4), against one of 50; and "
    "groups of 256 against groups of 4 (50 conversations each)",
    at_most("p50 of 3,000", 20),
    at_most("256 ÷ 4", 6),
)
async def measure_long_lists(stage: Stage) -> Figures:
    lists = [
        places_of("few", *[MESSAGES] * CONVERSATIONS),
        places_of("many", *[MESSAGES] * 3_000),
        places_of("crowd", *[MESSAGES] * CONVERSATIONS, members=256),
    ]
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("lists"))
        await load_lists(stage, database, lists, own=False)
        services = await stack.enter_async_context(stage.services(database))
        (connection,) = await stack.enter_async_context(connected(services))
        users = (list_of(connection, name) for name in ("few", "many", "crowd"))
        few, many, crowd = await in_turns(stage.sized(80, 30), *users)
    return {
        "p50 of 50": ms(p50(few)),
        "3,000 ÷ 50": times(p50(many) / p50(few)),
        "p50 of groups of 256": ms(p50(crowd)),
        "p50 of 3,000": ms(p50(many)),
        "256 ÷ 4": times(p50(crowd) / p50(few)),
    }


@row(
    "P9",
    "GET messages: page of 50, 1,000,000 back, against the head; the head against the raw find of "
    "its documents by pymongo (F4)",
    at_most("far ÷ head", 1.1),
    at_most("÷ F4", 3),
)
async def measure_pages(stage: Stage) -> Figures:
    back = stage.sized(1_000_000, 100_000)
    (place,) = places_of("reader", back + 200)
    path = f"/conversations/{place.id}/messages?limit=50"
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("pages"))
        await load_lists(stage, database, [[place]], own=False)
        services = await stack.enter_async_context(stage.services(database))
        (connection,) = await stack.enter_async_context(connected(services))

        async def raw() -> float:
            began = perf_counter()
            await page_at(database, place.id, back + 201)
            return perf_counter() - began

        cursor = cursor_from("messages", 200)
        head, far, floor = await in_turns(
            stage.sized(400, 150),
            asked(connection, get(path, "reader")),
            asked(connection, get(f"{path}&cursor={cursor}", "reader")),
            raw,
        )
    return {
        "p50 at the head": ms(p50(head)),
        f"{back:,} back": ms(p50(far)),
        "F4": ms(p50(floor)),
        "far ÷ head": times(p50(far) / p50(head)),
        "÷ F4": times(p50(head) / p50(floor)),
    }


@row(
    "P17",
    "GET conversations: 50 with their last messages and heads in one request, against the plain "
    "list, and against the list and a request for each last message",
    at_most("÷ plain", 2.5),
    at_most("÷ 51 requests", 0.3),
)
async def measure_whole_lists(stage: Stage) -> Figures:
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("whole"))
        lists = [places_of("reader", *[MESSAGES] * CONVERSATIONS)]
        await load_lists(stage, database, lists, own=False)
        services = await stack.enter_async_context(stage.services(database))
        (connection,) = await stack.enter_async_context(connected(services))
        whole = get("/conversations?include=lastMessage,unread", "reader")
        each_last = [
            get(f"/conversations/{place.id}/messages?limit=1", "reader") for place in lists[0]
        ]

        async def one_by_one() -> float:
            taken = [await connection.timed(request) for request in each_last]
            return sum(taken) + await list_of(connection, "reader")()

        plain, one, many = await in_turns(
            stage.sized(100, 40),
            list_of(connection, "reader"),
            asked(connection, whole),
            one_by_one,
        )
    return {
        "p50 plain": ms(p50(plain)),
        "p50 of all in one": ms(p50(one)),
        "p50 of 51 requests": ms(p50(many)),
        "÷ plain": times(p50(one) / p50(plain)),
        "÷ 51 requests": times(p50(one) / p50(many)),
    }
