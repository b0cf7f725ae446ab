"""Limits are clamped or refused, cursors are ours or refused."""

from base64 import urlsafe_b64encode
from typing import Any

import pytest

from chat_aio.errors import InvalidInput
from chat_aio.schema import pagination


@pytest.mark.parametrize(
    ("given", "meant"), [(None, 50), (1, 1), (50, 50), (200, 200), (201, 200), (10**30, 200)]
)
def test_limits(given: Any, meant: int) -> None:
    assert pagination.limit_from(given) == meant


@pytest.mark.parametrize("given", [0, -1, True, 1.0, "7", [1]])
def test_limits_that_are_refused(given: Any) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        pagination.limit_from(given)


@pytest.mark.parametrize("text", ["", " 1", "1.0", "-1", "+1", "abc", "²", "\uff11", "0x1", "1e3"])
def test_limits_in_a_query_that_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        pagination.limit_from(pagination.limit_from_query(text))


def test_a_huge_limit_in_a_query_is_clamped() -> None:
    assert pagination.limit_from(pagination.limit_from_query("9" * 5_000)) == 200


def test_cursors_come_back() -> None:
    cursor = pagination.cursor_from("conversations", 1_700_000_000_000, "ü:x")
    assert pagination.position_from("conversations", cursor, int, str) == (1_700_000_000_000, "ü:x")
    assert pagination.position_from("conversations", None, int, str) is None


def forged(text: bytes) -> str:
    return urlsafe_b64encode(text).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "abc",
        "????",
        "ü",
        7,
        True,
        pagination.cursor_from("conversations", 5),
        pagination.cursor_from("messages", "5"),
        pagination.cursor_from("messages", 5, 6),
        pagination.cursor_from("messages"),
        pagination.cursor_from("messages", -1),
        pagination.cursor_from("messages", 2**60),
        pagination.cursor_from("messages", 5) + "=",
        pagination.cursor_from("messages", 5) + "\n",
        forged(b'["messages", 5]'),
        forged(b'["messages",true]'),
        forged(b'["messages",5.0]'),
        forged(b'["messages",18446744073709551616]'),
        forged(b'{"messages":5}'),
        forged(b"5"),
        forged(b"null"),
        forged(b"[]"),
        forged(b"[[],[]]"),
    ],
)
def test_cursors_that_are_not_ours(cursor: Any) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        pagination.position_from("messages", cursor, int)


def test_the_last_full_page_has_no_successor() -> None:
    assert pagination.cut([1, 2, 3], 3) == ([1, 2, 3], None)
    assert pagination.cut([1, 2, 3, 4], 3) == ([1, 2, 3], 3)
    assert pagination.cut([], 3) == ([], None)
