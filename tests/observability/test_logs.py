"""Records of the log have fields; as JSON they are told."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from chat_aio.server import logging_setup
from tests.observability.conftest import Measure
from tests.support.people import BASE

FIELDS = ("method", "route", "request_id")


@contextmanager
def nothing_configured() -> Iterator[None]:
    """As in a process that has just begun."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def test_a_line_of_json_for_each_record(capsys: pytest.CaptureFixture[str]) -> None:
    with nothing_configured():
        logging_setup.log_to_stderr("json")
        named = {"conversation_id": "c"}
        logging.getLogger("chat_aio.some").warning("%d were lost", 3, extra=named)
    line = json.loads(capsys.readouterr().err)
    assert line["message"] == "3 were lost"
    assert (line["level"], line["logger"]) == ("WARNING", "chat_aio.some")
    assert line["conversation_id"] == "c"
    assert line["time"].endswith("+00:00")


def test_text_is_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    with nothing_configured():
        logging_setup.log_to_stderr()
        logging.getLogger("chat_aio.some").info("hello")
    assert capsys.readouterr().err.endswith(" INFO chat_aio.some hello\n")


async def test_what_failed_is_named(measure: Measure, caplog: pytest.LogCaptureFixture) -> None:
    async def auth(_: Any) -> None:
        raise ValueError

    measured = await measure()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chat_aio.web.middleware.authenticated", auth)
        answer = await measured("ada").get("/conversations")
    (record,) = [logged for logged in caplog.records if logged.name == "chat_aio.web.middleware"]
    assert [vars(record)[field] for field in FIELDS] == [
        *("GET", f"{BASE}/conversations", answer.headers["X-Request-Id"])
    ]
