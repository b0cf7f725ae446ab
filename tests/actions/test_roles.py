"""Roles of messages: over HTTP those that the host allows, in process all of them."""

from collections.abc import Callable
from typing import Any

import pytest

from chat_aio import Hooks
from chat_aio.demo.application import HOOKS
from chat_aio.plugins import Drafts
from chat_aio.schema.models import Role
from tests.conftest import MakePeople
from tests.support.people import Answer, Person

ROLES: tuple[Role, ...] = ("user", "assistant", "system")


async def of_robots(user_id: str) -> set[Any]:
    return {"assistant"} if user_id == "robot" else {"user"}


ALLOWED = Hooks(allowed_roles=of_robots)


async def sent(who: Person, here: str, **given: Any) -> Answer:
    return await who.post(f"/conversations/{here}/messages", {"body": "hi", **given})


async def forwarded(who: Person, here: str, message_id: str, **given: Any) -> Answer:
    return await who.post(f"/messages/{message_id}/forward", {"conversationId": here, **given})


async def test_a_user_has_the_roles_that_the_host_allows(serve: MakePeople) -> None:
    people = await serve(ALLOWED)
    alice, robot = people("alice"), people("robot")
    here = await alice.group("robot")
    plain = await alice.send(here, "hi")
    for who, allowed in ((alice, "user"), (robot, "assistant")):
        for role in ROLES:
            for answer in (
                await sent(who, here, role=role),
                await forwarded(who, here, plain["id"], role=role),
            ):
                if role == allowed:
                    assert (answer.status, answer.json["message"]["role"]) == (201, role)
                else:
                    assert (answer.status, answer.code) == (403, "ROLE_NOT_ALLOWED")
    # Without a role the message has that of a user.
    assert (await sent(alice, here)).status == 201
    assert (await sent(robot, here)).code == "ROLE_NOT_ALLOWED"
    assert (await forwarded(robot, here, plain["id"])).code == "ROLE_NOT_ALLOWED"
    total = len((await alice.get(f"/conversations/{here}/messages")).json["messages"])
    assert total == 6


@pytest.mark.parametrize("role", ["admin", "", 7, ["user"], {"a": 1}])
async def test_what_is_no_role_is_no_input(serve: MakePeople, role: object) -> None:
    alice = (await serve(ALLOWED))("alice")
    answer = await sent(alice, await alice.group(), role=role)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")


async def test_roles_are_checked_after_permission_to_write(serve: MakePeople) -> None:
    """Behind shape, existence and permission, and before idempotency keys."""
    people = await serve(ALLOWED)
    alice = people("alice")
    here = await alice.group()
    await alice.send(here, "hi", clientMessageId="k")
    for who, where, body, refusal in (
        (alice, here, "", (400, "INVALID_INPUT")),
        (alice, "nowhere", "hi", (404, "CONVERSATION_NOT_FOUND")),
        (people("stranger"), here, "hi", (403, "FORBIDDEN_WRITE")),
        (alice, here, "hi", (403, "ROLE_NOT_ALLOWED")),
    ):
        answer = await sent(who, where, role="system", body=body, clientMessageId="k")
        assert (answer.status, answer.code) == refusal


async def test_all_roles_are_allowed_in_process_and_without_the_hook(
    serve: MakePeople, person: Callable[[str], Person]
) -> None:
    alice = (await serve(Hooks(allowed_roles=lambda _: ())))("alice")
    here = await alice.group("robot")
    for role in ROLES:
        message = await alice.chat.api.send_message("alice", here, "hi", role=role)
        assert message.role == role
        copy = await alice.chat.api.forward_message("alice", message.id, here, role=role)
        assert copy.role == role
    free = person("alice")
    here = await free.group()
    assert {(await sent(free, here, role=role)).status for role in ROLES} == {201}


@pytest.mark.parametrize("answer", [None, "user", 7])
async def test_an_answer_that_is_no_collection_is_a_fault(serve: MakePeople, answer: Any) -> None:
    alice = (await serve(Hooks(allowed_roles=lambda _: answer)))("alice")
    here = await alice.group()
    assert (await sent(alice, here)).status == 500


async def test_a_draft_of_an_assistant_has_its_role(serve: MakePeople) -> None:
    """Whatever roles its other messages may have."""
    people = await serve(Hooks(allowed_roles=lambda _: {"user"}), plugins=[Drafts(["robot"])])
    robot = people("robot")
    here = await robot.group("alice")
    draft = (await robot.post(f"/conversations/{here}/drafts", {})).json["draft"]["id"]
    part = {"draftId": draft, "index": 0, "text": "hello"}
    assert (await robot.post(f"/conversations/{here}/drafts/append", part)).status == 200
    done = await robot.post(f"/conversations/{here}/drafts/finish", {"draftId": draft})
    assert done.json["message"]["role"] == "assistant"
    assert (await sent(robot, here, role="assistant")).code == "ROLE_NOT_ALLOWED"


def test_people_of_the_demo_write_as_themselves() -> None:
    assert HOOKS.allowed_roles is not None
    assert HOOKS.allowed_roles("ada") == {"user"}
