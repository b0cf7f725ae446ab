"""Groups with room controls: what their admins and members request."""

from collections.abc import Callable
from typing import Any

from chat_aio import Chat
from tests.conftest import MakeChat
from tests.support.people import Answer, Person

People = Callable[[str], Person]
NO_ADMIN = (403, "NOT_CONVERSATION_ADMIN")


async def two(make_chat: MakeChat) -> list[Chat]:
    return [await make_chat(room_controls=True), await make_chat(room_controls=True)]


async def update(who: Person, group: str, **given: Any) -> Answer:
    return await who.call("PATCH", f"/conversations/{group}", json=given)


async def say(who: Person, group: str, body: str = "a word", **given: Any) -> Answer:
    return await who.post(f"/conversations/{group}/messages", {"body": body, **given})


async def ban(who: Person, group: str, user_id: str, **given: Any) -> Answer:
    return await who.post(f"/conversations/{group}/bans", {"userId": user_id, **given})


async def lift(who: Person, group: str, user_id: str) -> Answer:
    return await who.call("DELETE", f"/conversations/{group}/bans/{user_id}")


async def banned(who: Person, group: str, query: str = "") -> Answer:
    return await who.get(f"/conversations/{group}/bans{query}")


def refusal(answer: Answer) -> tuple[int, str | None]:
    return answer.status, answer.code
