"""Checking what stands beside a conversation: invites and join requests of a group, blocks between
the two of a direct one."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from chat_aio.actions.invites import MAX_INVITES
from chat_aio.store.blocks import block_id
from tools.check_conversation import Seen
from tools.check_found import Violation, is_whole
from tools.check_participants import is_erased

Rows = list[dict[str, Any]]


async def beside(seen: Seen) -> tuple[list[Violation], Counter[str]]:
    """What must hold of these, and how many were looked at."""
    here = {"conversationId": seen.id}
    links = await _rows(seen.database.invites.find(here, session=seen.session))
    violations = [*_invites(seen, links)]
    kinds: Counter[str] = Counter()
    named: Counter[str] = Counter()
    asked = seen.database.join_requests.find(here, session=seen.session)
    inside = {each["userId"] for each in seen.participants}
    async for request in asked:
        kinds["join_requests"] += 1
        named[request.get("inviteCode")] += 1
        violations += _join_request(seen, request, inside)
    violations += _used(seen, links, named)
    if (seen.conversation or {}).get("type") == "direct":
        violations += await _blocks(seen)
    return violations, kinds + Counter(invites=len(links))


def _is_group(seen: Seen) -> bool:
    return (seen.conversation or {}).get("type") == "group"


def _invites(seen: Seen, links: Rows) -> Iterator[Violation]:
    if len(links) > MAX_INVITES:
        yield seen.violation("invites.too-many", len(links), f"at most {MAX_INVITES}", of="invites")
    for each in links:
        uses, most = each.get("uses"), each.get("maxUses")
        if not _is_group(seen):
            yield _beside(seen, "invite.conversation", each, "no group", "a group")
        if not is_whole(uses):
            yield _beside(seen, "invite.uses", each, uses, "a whole number")
        elif is_whole(most) and uses > most:
            yield _beside(seen, "invite.uses", each, uses, f"at most {most}")


def _used(seen: Seen, links: Rows, named: Mapping[str, int]) -> Iterator[Violation]:
    """Each request that names a link has taken a use of it."""
    for each in links:
        if is_whole(each.get("uses")) and each["uses"] < named.get(each["_id"], 0):
            expected = f"{named[each['_id']]} or more: so many requests name it"
            yield _beside(seen, "invite.uses", each, each["uses"], expected)


def _join_request(seen: Seen, request: Mapping[str, Any], inside: set[str]) -> Iterator[Violation]:
    status, who = request.get("status"), request.get("userId")
    if not _is_group(seen):
        yield _beside(seen, "join-request.conversation", request, "no group", "a group")
    elif status == "pending" and who in inside:
        found = f"pending, of the participant {who}"
        yield _beside(seen, "join-request.pending", request, found, "approved")
    decided = [
        isinstance(request.get("resolvedAt"), datetime),
        isinstance(request.get("resolvedBy"), str),
    ]
    if decided != [status != "pending"] * 2:
        found = f"{status}, resolved {request.get('resolvedAt')} by {request.get('resolvedBy')}"
        expected = "nobody and no time" if status == "pending" else "who resolved it, and when"
        yield _beside(seen, "join-request.decision", request, found, expected)


async def _blocks(seen: Seen) -> Iterable[Violation]:
    """A direct conversation names those of the two who have blocked the other."""
    users = [each["userId"] for each in seen.participants]
    if len(users) != 2 or any(map(is_erased, users)):
        return []
    pairs = [block_id(*users), block_id(*reversed(users))]
    chosen = {"_id": {"$in": pairs}}
    rows = await _rows(seen.database.blocks.find(chosen, session=seen.session))
    blocking = sorted(each["_id"]["blockerUserId"] for each in rows)
    named = (seen.conversation or {}).get("blockedBy", [])
    if sorted(map(str, named)) != blocking:
        return [seen.violation("direct.blocked-by", named, blocking)]
    return []


async def _rows(cursor: Any) -> Rows:
    found: Rows = await cursor.to_list(None)
    return found


def _beside(
    seen: Seen, kind: str, row: Mapping[str, Any], found: object, expected: object
) -> Violation:
    of = "invites" if kind.startswith("invite") else "join_requests"
    return seen.violation(kind, found, expected, of=of, at=row["_id"])
