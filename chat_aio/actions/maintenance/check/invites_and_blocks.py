"""Checking the rows that belong to a conversation: invites, join requests and bans of a group,
blocks in a direct conversation."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from chat_aio.actions.invites import MAX_INVITES
from chat_aio.actions.maintenance.check.findings import Violation, is_erased, violation_in
from chat_aio.store.blocks import block_id
from chat_aio.store.maintenance.snapshot import ConversationSnapshot, is_whole

Rows = list[dict[str, Any]]


async def joining_and_blocks(
    snapshot: ConversationSnapshot,
) -> tuple[list[Violation], Counter[str]]:
    """Their violations, and the number of rows checked."""
    links = await snapshot.list_invites()
    is_group = (snapshot.conversation or {}).get("type") == "group"
    violations: list[Violation] = []
    if len(links) > MAX_INVITES:
        expected = f"at most {MAX_INVITES}"
        violations.append(
            violation_in(snapshot, "invites.too-many", len(links), expected, of="invites")
        )
    kinds: Counter[str] = Counter()
    named: Counter[str] = Counter()
    inside = {participant["userId"] for participant in snapshot.participants}
    async for request in snapshot.join_requests():
        kinds["join_requests"] += 1
        if isinstance(code := request.get("inviteCode"), str):
            named[code] += 1
        violations += _join_request(snapshot, request, inside, is_group=is_group)
    async for ban in snapshot.conversation_bans():
        kinds["conversation_bans"] += 1
        if not is_group:
            violations.append(
                _beside(snapshot, "conversation-ban.conversation", ban, "no group", "a group")
            )
    for link in links:
        uses, most = link.get("uses"), link.get("maxUses")
        if not is_group:
            violations.append(_beside(snapshot, "invite.conversation", link, "no group", "a group"))
        if not is_whole(uses):
            violations.append(_beside(snapshot, "invite.uses", link, uses, "a whole number"))
            continue
        if is_whole(most) and uses > most:
            violations.append(_beside(snapshot, "invite.uses", link, uses, f"at most {most}"))
        # Counted before the request was made: every request that names a link has used it once.
        if uses < named[link["_id"]]:
            expected = f"at least {named[link['_id']]}, the number of requests that name it"
            violations.append(_beside(snapshot, "invite.uses", link, uses, expected))
    if (snapshot.conversation or {}).get("type") == "direct":
        # A direct conversation must name the participants who have blocked the other one.
        users = [participant["userId"] for participant in snapshot.participants]
        if len(users) == 2 and not any(map(is_erased, users)):
            rows = await snapshot.list_blocks([block_id(*users), block_id(*reversed(users))])
            blocking = sorted(row["_id"]["blockerUserId"] for row in rows)
            blocked_by = (snapshot.conversation or {}).get("blockedBy", [])
            # Compared as text: the values of a malformed row need not have an order.
            if sorted(map(str, blocked_by)) != blocking:
                found = violation_in(snapshot, "direct.blocked-by", blocked_by, blocking)
                violations.append(found)
    return violations, kinds + Counter(invites=len(links))


def _join_request(
    snapshot: ConversationSnapshot, request: Mapping[str, Any], inside: set[str], *, is_group: bool
) -> Iterator[Violation]:
    status, who = request.get("status"), request.get("userId")
    if not is_group:
        yield _beside(snapshot, "join-request.conversation", request, "no group", "a group")
    elif status == "pending" and who in inside:
        found = f"pending, of the participant {who}"
        yield _beside(snapshot, "join-request.pending", request, found, "approved")
    decided = [
        isinstance(request.get("resolvedAt"), datetime),
        isinstance(request.get("resolvedBy"), str),
    ]
    if decided != [status != "pending"] * 2:
        found = f"{status}, resolved {request.get('resolvedAt')} by {request.get('resolvedBy')}"
        expected = "nobody and no time" if status == "pending" else "who resolved it, and when"
        yield _beside(snapshot, "join-request.decision", request, found, expected)


def _beside(
    snapshot: ConversationSnapshot,
    kind: str,
    row: Mapping[str, Any],
    found: object,
    expected: object,
) -> Violation:
    of = f"{kind.partition('.')[0].replace('-', '_')}s"
    return violation_in(snapshot, kind, found, expected, of=of, at=row["_id"])
