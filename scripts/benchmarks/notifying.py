"""The row about notifications: the cost of choosing a message's recipients and delivering to
them."""

import asyncio
from statistics import median

from benchmarks.data import insert, message_document, places, put_conversations
from benchmarks.processes import START_SECONDS, child
from benchmarks.stage import Meter, Stage
from benchmarks.table import Figures, micros, row
from chat_aio.actions.context import new_id

GROUPS = 50
WAIT_SECONDS = 60


@row(
    "P19",
    "Notifications: messages into 50 groups of 4 whose members do not see them; CPU of the process "
    "that decides and delivers, and of mongod, for each message with its three notifications",
)
async def measure_notifications(stage: Stage) -> Figures:
    groups = places("group", GROUPS)
    count = stage.sized(1_000, 200)
    used: list[float] = []
    both: list[float] = []
    async with stage.database("notifying") as database:
        async with stage.services(database):
            pass  # It creates the indexes.
        await put_conversations(database, groups)
        async with child("notifier", stage.url, database.name, stage.loop) as notifier:
            async with asyncio.timeout(START_SECONDS):
                await notifier.say()
            for told in range(1, stage.rounds + 1):
                own = stage.meter([], mongod=True)
                process = Meter([notifier.pid])
                messages = (
                    message_document(
                        groups[number % GROUPS].id,
                        told * count + number // GROUPS,
                        groups[number % GROUPS].user_ids[0],
                        message_id=new_id(),
                    )
                    for number in range(count)
                )
                await insert(database, "messages", messages)
                async with asyncio.timeout(WAIT_SECONDS):
                    await notifier.ask(f"wait {told * count * 3}")
                used.append(process.seconds() / count)
                both.append(own.seconds() / count)
    return {"process": micros(median(used)), "mongod": micros(median(both))}
