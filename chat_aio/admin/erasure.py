"""`chat-aio users erase`: replaces a user by a pseudonym everywhere."""

from typing import Any

import click

from chat_aio.actions.maintenance import erasure
from chat_aio.actions.maintenance.erasure import Erased
from chat_aio.admin.consent import Plan, consenting, in_session_with_consent
from chat_aio.admin.options import acting, allowing_unknown, an_id
from chat_aio.admin.printing import Outcome, progress_bar, table_of_counts
from chat_aio.admin.session import Session, require_known_user, require_rights
from chat_aio.errors import InvalidInput


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("user_id", metavar="USER", type=an_id)
@allowing_unknown
@consenting
@acting
def erase(user_id: str, allow_unknown: bool, **place: Any) -> None:
    """Erase a user: a pseudonym replaces their id, and their messages are emptied.

    Close their account first, or ban them: the search is repeated until it finds nothing new. If it
    is interrupted, run it again. It cannot be undone. Exit code 4 if no row names the user.
    """

    async def prepare(session: Session) -> None:
        try:
            await erasure.require_erasable(session.context, session.user_id, user_id)
        except InvalidInput as error:
            raise click.UsageError(str(error)) from None
        # Before anything is written: an erasure must not stop half way for lack of a right.
        await require_rights(session.database, "users erase")
        # A second run finds no row of the user, and is no mistake.
        known = allow_unknown or await erasure.was_erased(session.context, user_id)
        await require_known_user(session, user_id, allow_unknown=known)

    async def run(session: Session, *, dry_run: bool) -> Erased:
        try:
            return await erasure.erase_user(
                session.context, session.user_id, user_id, dry_run=dry_run, progress=progress_bar
            )
        except InvalidInput as error:
            raise click.UsageError(str(error)) from None

    async def plan(session: Session, _: None) -> Plan:
        found = await run(session, dry_run=True)
        return Plan(
            what=f"erase {user_id}",
            document=_entry(user_id, found),
            table=table_of_counts(found.counts),
            remark=_remark(user_id, found),
            is_empty=not found.counts,
        )

    async def carry_out(session: Session, _: None) -> Outcome:
        erased = await run(session, dry_run=False)
        # Not a success: a script must not report the user as erased.
        if not erased.is_over:
            raise click.ClickException(
                f"{user_id} is still writing: close the account or ban it, then run this again"
            )
        done = f"{table_of_counts(erased.counts)}\nErased {user_id}, now {erased.pseudonym}."
        text = done if erased.counts else "Nothing done: nothing is left to erase."
        document = {"pseudonym": erased.pseudonym, **_entry(user_id, erased)}
        return Outcome(document, text, _remark(user_id, erased))

    in_session_with_consent(prepare, plan, carry_out, **place)


def _entry(user_id: str, erased: Erased) -> dict[str, object]:
    return {
        "userId": user_id,
        "counts": erased.counts,
        "bansInForce": erased.bans_in_force,
        "sharedFiles": erased.shared_files,
    }


def _remark(user_id: str, erased: Erased) -> str | None:
    lines = []
    if erased.shared_files:
        lines.append(
            f"Files in others' forwards are kept, with their names: {erased.shared_files:,}."
        )
    if erased.bans_in_force:
        lines.append(f"A ban in force still names {user_id}: run this again when it is over.")
    return "\n".join(lines) or None
