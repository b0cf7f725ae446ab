"""Checking the rows that belong to a conversation: invites, join requests and bans of a group,
blocks between the two of a direct one."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
    """What must hold of these, and how many were looked at."""
    links = await snapshot.list_invites()
    violations = [*_invites(snapshot, links)]
    kinds: Counter[str] = Counter()
    named: Counter[str] = Counter()
    inside = {participant["userId"] for participant in snapshot.participants}
    async for request in snapshot.join_requests():
        kinds["join_requests"] += 1
        if isinstance(code := request.get("inviteCode"), str):
            named[code] += 1
        violations += _join_request(snapshot, request, inside)
    async for ban in snapshot.conversation_bans():
        kinds["conversation_bans"] += 1
        if not _is_group(snapshot):
            violations.append(
                _beside(snapshot, "conversation-ban.conversation", ban, "no group", "a group")
            )
    violations += _used(snapshot, links, named)
    if (snapshot.conversation or {}).get("type") == "direct":
        violations += await _blocks(snapshot)
    return violations, kinds + Counter(invites=len(links))


def _is_group(snapshot: ConversationSnapshot) -> bool:
    return (snapshot.conversation or {}).get("type") == "group"


def _invites(snapshot: ConversationSnapshot, links: Rows) -> Iterator[Violation]:
    if len(links) > MAX_INVITES:
        yield violation_in(
            snapshot, "invites.too-many", len(links), f"at most {MAX_INVITES}", of="invites"
        )
    for link in links:
        uses, most = link.get("uses"), link.get("maxUses")
        if not _is_group(snapshot):
            yield _beside(snapshot, "invite.conversation", link, "no group", "a group")
        if not is_whole(uses):
            yield _beside(snapshot, "invite.uses", link, uses, "a whole number")
        elif is_whole(most) and uses > most:
            yield _beside(snapshot, "invite.uses", link, uses, f"at most {most}")


def _used(
    snapshot: ConversationSnapshot, links: Rows, named: Mapping[str, int]
) -> Iterator[Violation]:
    """Each request that names a link has taken a use of it."""
    for link in links:
        if is_whole(link.get("uses")) and link["uses"] < named.get(link["_id"], 0):
            expected = f"{named[link['_id']]} or more: so many requests name it"
            yield _beside(snapshot, "invite.uses", link, link["uses"], expected)


def _join_request(
    snapshot: ConversationSnapshot, request: Mapping[str, Any], inside: set[str]
) -> Iterator[Violation]:
    status, who = request.get("status"), request.get("userId")
    if not _is_group(snapshot):
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


async def _blocks(snapshot: ConversationSnapshot) -> Iterable[Violation]:
    """A direct conversation names those of the two who have blocked the other."""
    users = [participant["userId"] for participant in snapshot.participants]
    if len(users) != 2 or any(map(is_erased, users)):
        return []
    rows = await snapshot.list_blocks([block_id(*users), block_id(*reversed(users))])
    blocking = sorted(row["_id"]["blockerUserId"] for row in rows)
    named = (snapshot.conversation or {}).get("blockedBy", [])
    if sorted(map(str, named)) != blocking:
        return [violation_in(snapshot, "direct.blocked-by", named, blocking)]
    return []


def _beside(
    snapshot: ConversationSnapshot,
    kind: str,
    row: Mapping[str, Any],
    found: object,
    expected: object,
) -> Violation:
    of = f"{kind.partition('.')[0].replace('-', '_')}s"
    return violation_in(snapshot, kind, found, expected, of=of, at=row["_id"])
