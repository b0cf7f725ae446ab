"""The check of `scripts/check`, over a test's database."""

import sys
from pathlib import Path

from chat_aio.store.database import Database
from tests.conftest import Database as Handle

sys.path.append(str(Path(__file__).parents[2] / "scripts"))

from tools.checking import violations_in


async def expect_no_violation(handle: Handle) -> None:
    """All that must hold in a chat's database does."""
    assert await violations_in(Database(handle)) == []
