"""`chat-aio attachments`: counts files, and removes files that no message carries."""

from typing import Any

import click

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.admin.consent import Plan, consenting, in_session_with_consent
from chat_aio.admin.options import reading
from chat_aio.admin.printing import Outcome, progress_bar, show, table_of
from chat_aio.admin.session import Session, in_session
from chat_aio.plugins.attachments.gridfs import GridFS
from chat_aio.plugins.attachments.rows import Rows
from chat_aio.plugins.attachments.sweeping import Sweeper

FIELDS = ("store", "state", "files", "bytes")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def attachments() -> None:
    """Files that users have uploaded."""


@attachments.command()
@reading
def status(as_json: bool, **place: Any) -> None:
    """Show the number and the total size of files by state."""

    async def work(session: Session) -> Outcome:
        summed = {
            "_id": {"store": "$store", "state": "$state"},
            "files": {"$sum": 1},
            "bytes": {"$sum": "$size"},
        }
        stages: list[dict[str, Any]] = [{"$group": summed}, {"$sort": {"_id": 1}}]
        found = await PluginAPI(session.context).aggregate("attachments", stages)
        rows = [{**row.pop("_id"), **row} for row in found]
        shown = [[str(row[name]) for name in FIELDS] for row in rows]
        return Outcome({"attachments": rows}, table_of([name.upper() for name in FIELDS], shown))

    show(in_session(work, **place), as_json=as_json)


@attachments.command()
@consenting
@reading
def sweep(**place: Any) -> None:
    """Remove files in GridFS that no message carries and that need no longer be kept. Processes
    with the plugin do this automatically; the command may run alongside them."""

    # Nothing is carried from the plan to the sweep: each removal is decided in storage.
    async def prepare(session: Session) -> None:
        """Do nothing: due files are looked for when they are removed."""

    async def plan(session: Session, _: None) -> Plan:
        found = await (await _sweeper(session)).list_removable()
        size = sum(row["size"] for row in found)
        what = f"remove {len(found):,} files ({size:,} bytes)"
        return Plan(what=what, document={"removed": len(found)}, is_empty=not found)

    async def carry_out(session: Session, _: None) -> Outcome:
        sweeper = await _sweeper(session)
        # As many as are due, though fewer may be removed: only a look shows which are in use.
        with progress_bar("Sweeping", await sweeper.count_due()) as advance:
            count = await sweeper.sweep(advance)
        return Outcome({"removed": count}, f"{count:,} files are removed.")

    in_session_with_consent(prepare, plan, carry_out, **place)


async def _sweeper(session: Session) -> Sweeper:
    services, store = PluginAPI(session.context), GridFS()
    await store.open(services)
    # Never opened: a command sweeps once, and no task of its process may sweep on.
    return Sweeper(services, Rows(services, store=store.name), store, seconds=0)
