"""`chat-aio attachments`: how many files there are, and removing what no message carries."""

from typing import Any

import click

from chat_aio.actions.plugin_api import Services
from chat_aio.admin.options import reading
from chat_aio.admin.printing import Outcome, show, table_of
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
    """Say how many files there are of each state, and how large they are."""

    async def work(session: Session) -> Outcome:
        summed = {
            "_id": {"store": "$store", "state": "$state"},
            "files": {"$sum": 1},
            "bytes": {"$sum": "$size"},
        }
        stages: list[dict[str, Any]] = [{"$group": summed}, {"$sort": {"_id": 1}}]
        found = await Services(session.context).aggregate("attachments", stages)
        rows = [{**each.pop("_id"), **each} for each in found]
        shown = [[str(each[name]) for name in FIELDS] for each in rows]
        return Outcome({"attachments": rows}, table_of([name.upper() for name in FIELDS], shown))

    show(in_session(work, **place), as_json=as_json)


@attachments.command()
@reading
def sweep(as_json: bool, **place: Any) -> None:
    """Remove files in GridFS that no message carries and that need no longer be kept. Processes
    with the plugin do so by themselves; it may run beside them."""

    async def work(session: Session) -> Outcome:
        services, store = Services(session.context), GridFS()
        await store.open(services)
        rows = Rows(services, store=store.name)
        count = await Sweeper(services, rows, store, seconds=0).sweep()
        return Outcome({"removed": count}, f"{count:,} files are removed.")

    show(in_session(work, **place), as_json=as_json)
