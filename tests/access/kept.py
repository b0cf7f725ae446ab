"""What the database holds, to see that something has changed nothing in it."""

from chat_aio.store.database import COLLECTIONS
from tests.conftest import Database

PASSING = {"presence", "processes", "signals"}
"""What is written behind an answer, and holds nothing of what people say."""


async def contents(database: Database) -> dict[str, str]:
    """A hash of each collection, as mongod makes it."""
    wanted = [collection for collection in COLLECTIONS if collection not in PASSING]
    found = await database.command("dbHash", collections=wanted)
    return dict(found["collections"])
