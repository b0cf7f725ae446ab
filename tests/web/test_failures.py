"""Failures beyond the caller's control: opaque, logged under the answer's id, never half done."""

import logging
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio.store import conversations
from tests.support.people import Person

People = Callable[[str], Person]


async def test_a_bug_is_an_opaque_500_with_an_id(
    person: People, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> None:
        raise KeyError("a secret")

    with patch.object(conversations, "ids_of_user", broken):
        answer = await person("alice").get("/conversations")
    assert (answer.status, answer.code) == (500, "INTERNAL_ERROR")
    assert "secret" not in str(answer.json)
    (record,) = [logged for logged in caplog.records if logged.levelno == logging.ERROR]
    assert answer.headers["X-Request-Id"] in record.getMessage()
    assert "/conversations" in record.getMessage()
    assert (await person("alice").get("/conversations")).status == 200


async def test_nothing_that_people_say_is_logged(
    person: People, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="chat_aio")
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    await alice.send(conversation_id, "canary in a body", metadata={"canary": "in metadata"})
    await alice.post(f"/conversations/{conversation_id}/messages", {"body": 7, "canary": 1})
    assert "canary" not in caplog.text
