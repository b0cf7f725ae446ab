"""Whatever five people do, through either door: the chat is what the contract says it is."""

import asyncio
import os
import secrets
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from pymongo import AsyncMongoClient

from tests.scenarios.model.doors import Site
from tests.scenarios.model.gathering import GATHER, Gathering
from tests.scenarios.model.looking import LOOK, Looking
from tests.scenarios.model.policing import POLICE, Policing
from tests.scenarios.model.talking import TALK, Talking

SHORT = settings(
    max_examples=6,
    stateful_step_count=60,
    derandomize=True,
    database=None,
    print_blob=True,
    phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.too_slow],
)
LONG = settings(
    SHORT,
    max_examples=int(os.environ.get("CHAT_AIO_MODEL_EXAMPLES", "40")),
    stateful_step_count=120,
    derandomize="CHAT_AIO_MODEL_EXAMPLES" not in os.environ,
)
"""The same histories every time, unless a number is given: then others in every run."""


class Everything(Talking, Gathering, Policing, Looking):
    """All steps there are."""

    actions = {**TALK, **GATHER, **POLICE, **LOOK}


@pytest.fixture(scope="module", autouse=True)
def site(mongo_url: str) -> Iterator[None]:
    """One chat for all examples, on a loop of its own."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        try:
            Everything.site = runner.run(_serve(stack, runner, mongo_url))
            yield
        finally:
            runner.run(stack.aclose())


async def _serve(stack: AsyncExitStack, runner: asyncio.Runner, mongo_url: str) -> Site:
    client = await stack.enter_async_context(AsyncMongoClient[dict[str, object]](mongo_url))
    name = f"test_{secrets.token_hex(6)}"
    stack.push_async_callback(client.drop_database, name)
    return await stack.enter_async_context(Site(runner, client[name]).served())


def test_both_doors_do_what_the_contract_says() -> None:
    run_state_machine_as_test(Everything, settings=SHORT)


@pytest.mark.long
def test_both_doors_do_so_for_long() -> None:
    run_state_machine_as_test(Everything, settings=LONG)
