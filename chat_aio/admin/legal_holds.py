"""`chat-aio legal-hold`: keeps data from retention and erasure."""

from typing import Any

import click

from chat_aio.actions.maintenance import legal_holds
from chat_aio.admin.options import allowing_unknown, an_id, listing, writing
from chat_aio.admin.printing import Outcome, dry_run_outcome, show, table_of
from chat_aio.admin.session import Session, in_session, require_known_user, require_rights
from chat_aio.schema.wire import timestamp
from chat_aio.store.documents import LegalHoldDocument
from chat_aio.store.maintenance import legal_holds as stored
from chat_aio.store.maintenance.legal_holds import Target

KINDS = click.Choice(["user", "conversation"])
TARGET = click.argument("target_type", metavar="user|conversation", type=KINDS)
ID = click.argument("target_id", metavar="ID", type=an_id)


@click.group("legal-hold", context_settings={"help_option_names": ["-h", "--help"]})
def legal_hold() -> None:
    """Keep all data of a user or a conversation from retention and erasure.

    A hold on a user keeps every conversation that they are in or have written in.
    """


@legal_hold.command()
@TARGET
@ID
@click.option("--reason", required=True, help="Reason, such as the number of the case.")
@allowing_unknown
@writing
def place(
    target_type: Target,
    target_id: str,
    reason: str,
    allow_unknown: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Place a hold. An existing hold is left as it is. Exit code 4 for a user whom no row names."""

    async def work(session: Session) -> Outcome:
        # Also for a dry run: its plan must be one that can be carried out.
        await require_rights(session.database, "legal-hold")
        if target_type == "user":
            # A hold on a mistyped id would keep nothing, and nobody would notice.
            await require_known_user(session, target_id, allow_unknown=allow_unknown)
        what = f"{target_type} {target_id}"
        if session.dry_run:
            return dry_run_outcome(f"place a legal hold on {what}")
        hold, is_new = await legal_holds.place(
            session.context, session.user_id, target_type, target_id, reason
        )
        said = f"Placed a legal hold on {what}." if is_new else f"Nothing done: {what} is held."
        return Outcome({"legalHold": _entry(hold), "placed": is_new}, said)

    show(in_session(work, **given), as_json=as_json)


@legal_hold.command()
@TARGET
@ID
@writing
def lift(target_type: Target, target_id: str, as_json: bool, **given: Any) -> None:
    """Lift a hold: retention and erasure no longer spare its data."""

    async def work(session: Session) -> Outcome:
        await require_rights(session.database, "legal-hold")
        what = f"{target_type} {target_id}"
        if session.dry_run:
            return dry_run_outcome(f"lift the legal hold on {what}")
        lifted = await legal_holds.lift(session.context, session.user_id, target_type, target_id)
        said = (
            f"Lifted the legal hold on {what}." if lifted else f"Nothing done: {what} is not held."
        )
        return Outcome({"lifted": lifted is not None}, said)

    show(in_session(work, **given), as_json=as_json)


@legal_hold.command("list")
@listing
def list_holds(as_json: bool, as_lines: bool, **given: Any) -> None:
    """List the holds, newest first."""

    async def work(session: Session) -> Outcome:
        found = await stored.list_all(session.database)
        head = ("TARGET", "ID", "BY", "SINCE", "REASON")
        names = ("targetType", "targetId", "createdByUserId", "createdAt", "reason")
        rows = [[dict(hold)[name] for name in names] for hold in found]
        return Outcome({"legalHolds": [*map(_entry, found)]}, table_of(head, rows))

    show(in_session(work, **given), as_json=as_json, as_lines=as_lines)


def _entry(hold: LegalHoldDocument) -> dict[str, object]:
    return {
        "targetType": hold["targetType"],
        "targetId": hold["targetId"],
        "reason": hold["reason"],
        "createdByUserId": hold["createdByUserId"],
        "createdAt": timestamp(hold["createdAt"]),
    }
