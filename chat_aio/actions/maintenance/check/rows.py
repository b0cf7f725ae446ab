"""Checking rows independently of conversations: indexes, moderation, shapes."""

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import Any

from chat_aio.actions.maintenance.check.findings import MOST, Findings, Violation
from chat_aio.actions.reports import UNRESOLVED
from chat_aio.store import indexes
from chat_aio.store.database import Database
from chat_aio.store.maintenance import check as stored
from chat_aio.store.maintenance.check import NAMING
from chat_aio.store.reports import open_key
from chat_aio.store.shapes import problems

MOST_NAMED = 5

KEYED = {
    "blocks": ("blockerUserId", "blockedUserId"),
    "mutes": ("userId", "conversationId"),
    "thread_states": ("userId", "rootId"),
}
"""The rows whose `_id` consists of their fields."""


async def all_indexes(database: Database) -> Findings:
    """Missing and different indexes and validators. If a unique index is missing, duplicates are
    looked for."""
    described = {(index.collection, index.name): index for index in indexes.described_for(database)}
    findings = Findings(checked=Counter(indexes=len(described)))
    for difference in await indexes.differences(database):
        # Somebody else's index does no harm.
        if difference.state == "surplus":
            continue
        collection = difference.collection.removeprefix(database.prefix)
        name = difference.index or ("validator" if difference.of == "validator" else "all of them")
        part = "validator" if difference.of == "validator" else "index"
        kind, expected = f"{part}.{difference.state}", "as chat-aio indexes apply makes it"
        findings.violations.append(Violation(kind, collection, name, difference.state, expected))
        index = described.get((collection, name))
        if index and index.options.get("unique"):
            findings.violations += [
                Violation(
                    "index.twins", collection, twin["_id"], f"{twin['count']} documents", "one"
                )
                for twin in await stored.list_twins(database, index)
            ]
    return findings


async def deletions(database: Database, conversation_id: str | None) -> list[Violation]:
    """Deletions of conversations that nobody finishes: all, or that of one."""
    expected = "no rows left: chat-aio conversations delete finishes it"
    return [
        Violation(
            "deletion.unfinished", "deleted_conversations", row["_id"], "rows", expected, row["_id"]
        )
        for row in await stored.list_abandoned_removals(database, conversation_id)
    ]


async def moderation(database: Database) -> Findings:
    """The invariants of blocks, mutes, states of threads, bans and reports."""
    findings = Findings()
    for collection, fields in KEYED.items():
        rows = await stored.list_unlike_their_ids(database, collection, fields)
        for row in rows:
            expected = {name: row.get(name) for name in fields}
            findings.violations.append(
                Violation(f"{collection[:-1]}.id", collection, row["_id"], row["_id"], expected)
            )
    # `activeUserId` must be the banned user's id, and must be removed when the ban is revoked.
    for ban in await stored.list_wrong_active_bans(database):
        right = "nothing, for it is revoked" if ban.get("revokedAt") else ban.get("userId")
        found = ban["activeUserId"]
        findings.violations.append(Violation("ban.active-user", "bans", ban["_id"], found, right))
    # An open report must have its key unless another report has it; no other report has one.
    kept = await stored.list_keyed_reports(database, UNRESOLVED)
    for suspect in [row["_id"] for row in kept if row.get("openKey") != _key_of(row)]:
        # Read again, with the one that has its key: the chat runs, and may have moved either.
        report, is_held = await stored.find_report_and_holder(database, suspect, _key_of)
        if report is None or report.get("openKey") == (key := _key_of(report)):
            continue
        if "openKey" not in report and is_held:
            continue
        right = key or f"nothing, for it is {report.get('status')}"
        found = report.get("openKey")
        findings.violations.append(Violation("report.open-key", "reports", suspect, found, right))
    for collection in (*KEYED, "bans", "reports"):
        findings.checked[collection] += await stored.count_rows(database, collection)
    return findings


def _key_of(report: Mapping[str, Any]) -> str | None:
    """The key that a report has, or might have."""
    if report.get("status") not in UNRESOLVED:
        return None
    return open_key(
        *(str(report.get(field)) for field in ("reporterUserId", "targetType", "targetId"))
    )


async def shapes(database: Database, conversation_id: str | None, known: Findings) -> Findings:
    """Malformed rows that another program wrote, in all collections or of a conversation. Rows in
    which something else is `known` to be wrong are left out."""
    named = {(violation.collection, str(violation.id)) for violation in known.violations}
    findings = Findings()
    async for collection, rows in stored.list_misshapen(database, conversation_id, limit=MOST):
        for row in rows:
            if (collection, str(row["_id"])) in named:
                continue
            wrong = [*islice(problems(collection, row), MOST_NAMED + 1)]
            wrong[MOST_NAMED:] = ["..."] if len(wrong) > MOST_NAMED else []
            found = ", ".join(wrong) or "fields of other types"
            place, expected = (
                row.get(NAMING.get(collection, "")),
                "as the collection's validator requires",
            )
            findings.violations.append(
                Violation("row.shape", collection, row["_id"], found, expected, place)
            )
    return findings
