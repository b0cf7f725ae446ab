"""Requests generated from the description, to a real service: none breaks it, and each answer is as
described; also where one request leads to the next."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
import schemathesis
from aiohttp import web
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from pymongo import AsyncMongoClient
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from chat_aio import Chat, Hooks, Profile
from chat_aio.plugins import (
    Attachments,
    Drafts,
    Filter,
    Notifications,
    Presence,
    Receipts,
    Typing,
)
from tests.plugins.notifications.pushing import make_push
from tests.support.conforming import EVERYTHING, description
from tests.support.people import picked_by_header
from tests.support.processes import START_SECONDS

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
API = schemathesis.openapi.from_dict(deepcopy(description())).exclude(path="/stream")
Operation = APIOperation[Any, Any, Any, Any]
OPERATIONS: list[Operation] = [found.ok() for found in API.get_all_operations()]  # type: ignore[union-attr]
BUSY = settings(
    max_examples=int(os.environ.get("CHAT_AIO_GENERATED", "6")),
    derandomize="CHAT_AIO_GENERATED" not in os.environ,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
TOGETHER = 2 * BUSY.max_examples
"""Stories in which one request leads to the next."""
HEADERS = {"X-User": "ada"}
LONGEST_LINE = 1 << 20


@asynccontextmanager
async def served(mongo_url: str, database: str) -> AsyncIterator[str]:
    app = web.Application()
    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        chat = Chat(
            client[database],
            auth=picked_by_header,
            hooks=Hooks(
                can_moderate=lambda asked: asked.user_id == "ada",
                can_delete=lambda asked: asked.user_id == "ada",
                can_send_silently=lambda user_id: user_id == "ada",
                profiles=lambda user_ids: {user_id: Profile(name="x") for user_id in user_ids},
                search_users=lambda asked: [asked.user_id],
            ),
            options=replace(EVERYTHING, replay_buffer_seconds=1, quotas=None),
            plugins=[
                *(Typing(), Presence(), Receipts(), Filter(), Drafts(["ada"])),
                *(Notifications(channels=[make_push()]), Attachments(files_per_day=100_000)),
            ],
        )
        chat.mount(app)
        # What is generated may be longer than aiohttp's own limit, which is not described.
        runner = web.AppRunner(app, max_line_size=LONGEST_LINE)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/api/chat"
        await runner.cleanup()


@pytest.fixture(scope="module")
def service(mongo_url: str) -> Iterator[str]:
    """A service on a loop of its own: the generated requests are made by a synchronous client."""
    told: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.new_event_loop()
    ending = asyncio.Event()

    async def serve() -> None:
        async with served(mongo_url, "test_generated_requests") as base:
            told.put_nowait(base)
            await ending.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    yield asyncio.run_coroutine_threadsafe(told.get(), loop).result(START_SECONDS)
    loop.call_soon_threadsafe(ending.set)
    thread.join(START_SECONDS)
    loop.close()


@API.parametrize()
@BUSY
def test_generated_requests(case: schemathesis.Case[Any], service: str) -> None:
    case.call_and_validate(base_url=service, headers=HEADERS, checks=CHECKS)


@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_many_generated_requests(operation: Operation, service: str) -> None:
    """Further ones, without those at the limits of each field, which the others are as well."""
    every = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in GenerationMode))

    @settings(BUSY, max_examples=24)
    @given(every)
    def is_as_described(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(base_url=service, headers=HEADERS, checks=CHECKS)

    is_as_described()


class Story(API.as_state_machine()):  # type: ignore[misc]
    """One request leads to the next, by the links of what was made."""

    base = ""

    def get_call_kwargs(self, case: schemathesis.Case[Any]) -> dict[str, Any]:
        return {"headers": HEADERS, "base_url": self.base}

    def validate_response(self, response: Any, case: schemathesis.Case[Any], **_: Any) -> None:
        case.validate_response(response, checks=CHECKS)


def test_one_request_leads_to_the_next(service: str) -> None:
    Story.base = service
    run_state_machine_as_test(
        Story, settings=settings(BUSY, max_examples=TOGETHER, stateful_step_count=20)
    )
