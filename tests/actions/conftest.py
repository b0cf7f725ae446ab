"""People of a chat that has a moderator."""

import pytest

from chat_aio import Hooks
from tests.conftest import MakePeople
from tests.support.moderating import People, is_mod


@pytest.fixture
async def moderated(serve: MakePeople) -> People:
    """People of whom `mod` is a moderator."""
    return await serve(Hooks(can_moderate=is_mod))
