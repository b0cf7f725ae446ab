"""What people and moderators ask for, over HTTP."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from chat_aio.hooks import ModerationContext
from tests.support.ageing import next_millisecond
from tests.support.people import Answer, Person

People = Callable[[str], Person]


def is_mod(asked: ModerationContext) -> bool:
    return asked.user_id == "mod"


async def block(who: Person, user_id: Any) -> Answer:
    answer = await who.post("/moderation/blocks", {"targetUserId": user_id})
    await next_millisecond()
    return answer


async def unblock(who: Person, user_id: Any) -> Answer:
    return await who.call("DELETE", "/moderation/blocks", json={"targetUserId": user_id})


async def ban(who: Person, user_id: Any, **given: Any) -> Answer:
    return await who.post("/moderation/bans", {"targetUserId": user_id, **given})


async def report(who: Person, kind: Any, target: Any, reason: Any = "spam") -> Answer:
    body = {"targetType": kind, "targetId": target, "reason": reason}
    answer = await who.post("/moderation/reports", body)
    await next_millisecond()
    return answer


async def settle(who: Person, report_id: str, **given: Any) -> Answer:
    return await who.call("PATCH", f"/moderation/reports/{report_id}", json=given)


def later(**span: int) -> str:
    return (datetime.now(UTC) + timedelta(**span)).isoformat()
