"""Checking what is still to do after a backup was restored, beyond the usual invariants."""

from collections import Counter

from chat_aio.actions.maintenance.check.findings import Findings, Violation
from chat_aio.errors import SetupError
from chat_aio.schema.wire import timestamp
from chat_aio.store.database import Database
from chat_aio.store.maintenance import migrate, restored
from chat_aio.store.settings import RESTORED, Settings

NOT_NOTED = "restore.noted"


async def after_restore(database: Database) -> Findings:
    """Check the schema's version, and whether the restore is noted: otherwise clients that have
    seen lost messages silently miss new ones with the same numbers."""
    findings = Findings(checked=Counter(settings=1))
    try:
        await migrate.require_current(database)
    except SetupError as error:
        findings.violations.append(
            Violation("schema.version", "settings", migrate.SCHEMA, str(error), "one of ours")
        )
    noted = await Settings(database).restored_at()
    newest = await restored.newest_activity(database)
    # A note from before the newest message is of another restore.
    if noted is None or (newest and noted < newest):
        expected = f"a time after {timestamp(newest)}" if newest else "the time of the restore"
        findings.violations.append(Violation(NOT_NOTED, "settings", RESTORED, noted, expected))
    return findings
