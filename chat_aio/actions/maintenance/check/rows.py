"""Checking rows that belong to no conversation, or whatever conversation they belong to: indexes,
moderation, shapes."""

from collections import Counter
from collections.abc import Iterator, Mapping
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
"""The rows whose `_id` has their fields."""


async def all_indexes(database: Database) -> Findings:
    """Indexes and validators that are missing or different. Where an index is missing that forbids
    twins, these are looked for."""
    described = {(index.collection, index.name): index for index in indexes.described_for(database)}
    findings = Findings(checked=Counter(indexes=len(described)))
    for difference in await indexes.differences(database):
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


async def moderation(database: Database) -> Findings:
    """What must hold of blocks, mutes, states of threads, bans and reports."""
    findings = Findings()
    for collection, fields in KEYED.items():
        rows = await stored.list_unlike_their_ids(database, collection, fields)
        findings.violations += [_unlike_its_id(collection, row, fields) for row in rows]
    findings.violations += await _active_bans(database)
    findings.violations += await _open_reports(database)
    for collection in (*KEYED, "bans", "reports"):
        findings.checked[collection] += await stored.count_rows(database, collection)
    return findings


def _unlike_its_id(collection: str, row: Mapping[str, Any], fields: tuple[str, ...]) -> Violation:
    expected = {name: row.get(name) for name in fields}
    return Violation(f"{collection[:-1]}.id", collection, row["_id"], row["_id"], expected)


async def _active_bans(database: Database) -> list[Violation]:
    """`activeUserId` is the banned user's id, and goes with the ban."""
    return [
        Violation(
            "ban.active-user",
            "bans",
            ban["_id"],
            ban["activeUserId"],
            "nothing, for it is revoked" if ban.get("revokedAt") else ban.get("userId"),
        )
        for ban in await stored.list_wrong_active_bans(database)
    ]


async def _open_reports(database: Database) -> list[Violation]:
    """An open report has its key, or another one has it; no other report has one."""
    kept = await stored.list_keyed_reports(database, UNRESOLVED)
    suspects = [report["_id"] for report in kept if report.get("openKey") != _key_of(report)]
    found = [await _open_report(database, suspect) for suspect in suspects]
    return [row for row in found if row]


async def _open_report(database: Database, report_id: object) -> Violation | None:
    """A report that looked wrong is looked at again, with the one that has its key."""
    report, is_held = await stored.find_report_and_holder(database, report_id, _key_of)
    if report is None or report.get("openKey") == (expected := _key_of(report)):
        return None
    if "openKey" not in report and is_held:
        return None
    right = expected or f"nothing, for it is {report.get('status')}"
    return Violation("report.open-key", "reports", report_id, report.get("openKey"), right)


def _key_of(report: Mapping[str, Any]) -> str | None:
    """The key that a report has, or might have."""
    if report.get("status") not in UNRESOLVED:
        return None
    return open_key(
        *(str(report.get(field)) for field in ("reporterUserId", "targetType", "targetId"))
    )


async def shapes(database: Database, conversation_id: str | None, known: Findings) -> Findings:
    """Rows that another program wrote in another shape, in all collections or of a conversation. A
    row is left out if something else is `known` to be wrong with it."""
    named = {(violation.collection, str(violation.id)) for violation in known.violations}
    findings = Findings()
    async for collection, rows in stored.list_misshapen(database, conversation_id, limit=MOST):
        findings.violations += [
            _misshapen(collection, row)
            for row in rows
            if (collection, str(row["_id"])) not in named
        ]
    return findings


def _misshapen(collection: str, row: Mapping[str, Any]) -> Violation:
    place = row.get(NAMING.get(collection, ""))
    found = ", ".join(_first(problems(collection, row))) or "fields of other types"
    expected = "as the collection's validator says"
    return Violation("row.shape", collection, row["_id"], found, expected, place)


def _first(named: Iterator[str]) -> Iterator[str]:
    for number, entry in enumerate(named):
        yield entry if number < MOST_NAMED else "..."
        if number == MOST_NAMED:
            return
