"""A process that locks a conversation in a transaction, and is killed in the middle of it."""

import asyncio
import sys

PROGRAM = """
import sys, time
from pymongo import MongoClient

url, database, conversation_id = sys.argv[1:]
session = MongoClient(url).start_session()
session.start_transaction()
counters = session.client[database]["counters"]
assert counters.find_one_and_update({"_id": conversation_id}, {"$inc": {"seq": 1}}, session=session)
print("locked", flush=True)
time.sleep(600)
"""


async def killed_amid_transaction(mongo_url: str, database: str, conversation_id: str) -> None:
    """Leave a conversation locked by a process that is no more (SIGKILL)."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROGRAM, mongo_url, database, conversation_id),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    said = await process.stdout.readline()
    process.kill()
    await process.wait()
    assert said == b"locked\n"
