"""`chat-aio migrate`: the schema of a database, after an upgrade."""

from functools import partial
from typing import Any

import click

from chat_aio.admin.consent import Plan, consenting, with_consent
from chat_aio.admin.options import of_database
from chat_aio.admin.printing import Outcome, progress_bar, show
from chat_aio.admin.session import on_database
from chat_aio.server.sources import settings_from
from chat_aio.store.database import Database
from chat_aio.store.maintenance import migrate as stored


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--finish", is_flag=True, help="Do the rest, when no process of an earlier version is left."
)
@consenting
@of_database
def migrate(*, finish: bool, dry_run: bool, yes: bool, **given: Any) -> None:
    """Bring the database to this version's schema, while the chat is running.

    Without --finish, running processes of the previous version continue, but cannot start again.
    If it is interrupted, run it again: it continues where it stopped.
    """

    async def prepare(_: Database) -> None:
        """Do nothing: a migration continues where it stopped."""

    async def plan(database: Database, _: None) -> Plan:
        found = await stored.pending(database, finish=finish)
        sizes = [
            f"go through {await stored.size_of(database, migration):,} documents of "
            f"{migration.collection}"
            for migration in found
        ]
        if not found:
            return Plan(what="do nothing: the schema is of this version", is_empty=True)
        remark = "No process of an earlier version may be running or start again."
        what = f"{', '.join(sizes)}, to schema version {found[-1].to}"
        return Plan(what=what, remark=remark if finish else None)

    async def carry_out(database: Database, _: None) -> Outcome:
        version = await stored.migrate(database, finish=finish, progress=progress_bar)
        left = (
            "when no process of an earlier version is left: chat-aio migrate --finish"
            if version < stored.newest()
            else None
        )
        return Outcome({}, f"the database has schema version {version}", left)

    opened = partial(on_database, settings_from(**given))
    # Without --finish, processes of the version before go on, so nothing is lost.
    agreed = yes or not finish
    show(with_consent(opened, prepare, plan, carry_out, dry_run=dry_run, yes=agreed), as_json=False)
