"""Errors, options, hooks and shapes by themselves."""

from datetime import UTC, datetime
from typing import Any

import pytest

from chat_aio import ChatError, Options
from chat_aio.errors import InternalError, MessageRejected
from chat_aio.hooks import call
from chat_aio.schema.wire import timestamp
from chat_aio.store.documents import ReactionDocument
from chat_aio.store.mapping import grouped


def test_an_error_code_cannot_be_declared_twice() -> None:
    with pytest.raises(TypeError, match="declared twice"):
        type("Again", (ChatError,), {"code": "INVALID_INPUT", "status": 400})
    assert all(error.__doc__ for error in ChatError.catalogue.values())


@pytest.mark.parametrize("name", ["max_body_bytes", "hook_timeout_seconds", "replay_limit"])
@pytest.mark.parametrize("value", [0, -1])
def test_options_that_make_no_sense(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        Options(**{name: value})


async def test_hooks_may_be_sync_or_async() -> None:
    async def later(value: int) -> int:
        return value + 1

    assert await call(later, 1, limit=1) == 2
    assert await call(lambda value: value + 2, 1, limit=1) == 3


async def test_a_failing_hook_is_an_internal_error_unless_it_may_pass() -> None:
    def fails(error: Exception) -> None:
        raise error

    with pytest.raises(InternalError):
        await call(fails, ValueError("secret"), limit=1)
    with pytest.raises(InternalError):
        await call(fails, MessageRejected("no"), limit=1)
    with pytest.raises(MessageRejected, match="no"):
        await call(fails, MessageRejected("no"), limit=1, passing=(MessageRejected,))


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 1, 2, 3, 4, 5, 6_000, UTC), "2026-01-02T03:04:05.006Z"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00.000Z"),
    ],
)
def test_timestamps(moment: datetime, text: str) -> None:
    assert timestamp(moment) == text


def test_reactions_are_grouped_earliest_first() -> None:
    def reaction(emoji: str, user_id: str) -> ReactionDocument:
        return {"emoji": emoji, "userId": user_id, "createdAt": datetime(2026, 1, 1, tzinfo=UTC)}

    rows: list[Any] = [reaction("👍", "b"), reaction("x", "c"), reaction("👍", "a")]
    assert grouped(rows) == [
        {"emoji": "👍", "count": 2, "userIds": ["b", "a"]},
        {"emoji": "x", "count": 1, "userIds": ["c"]},
    ]
