"""The check of `chat-aio check`, over a test's database."""

from chat_aio.actions.maintenance.check.database import violations_in
from chat_aio.store.database import Database
from tests.conftest import Database as Handle


async def expect_no_violation(handle: Handle) -> None:
    """All that must hold in a chat's database does."""
    assert await violations_in(Database(handle)) == []
