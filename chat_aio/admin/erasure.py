"""`chat-aio erase`: a pseudonym takes a user's place everywhere."""

from typing import Any

import click

from chat_aio.actions.maintenance import erasure
from chat_aio.actions.maintenance.erasure import Erased
from chat_aio.admin.consent import Plan, consenting, in_session_with_consent
from chat_aio.admin.options import acting, allowing_unknown, an_id
from chat_aio.admin.printing import Outcome, progress_bar, table_of
from chat_aio.admin.session import Session, require_known_user, require_rights
from chat_aio.errors import InvalidInput


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("user_id", metavar="USER", type=an_id)
@allowing_unknown
@consenting
@acting
def erase(user_id: str, allow_unknown: bool, **place: Any) -> None:
    """Erase a user: a pseudonym replaces their id, and their messages are emptied.

    Close their account first, or ban them: the search is repeated until nothing new is found. If it
    is interrupted, run it again. It cannot be undone. Exit code 4 if no row names the user.
    """

    async def prepare(session: Session) -> None:
        try:
            await erasure.require_erasable(session.context, session.user_id, user_id)
        except InvalidInput as error:
            raise click.UsageError(str(error)) from None
        await require_rights(session.database, "erase")
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
            table=_table(found),
            remark=_remark(user_id, found),
            is_empty=not found.counts,
        )

    async def carry_out(session: Session, _: None) -> Outcome:
        erased = await run(session, dry_run=False)
        if not erased.is_over:
            raise click.ClickException(
                f"{user_id} goes on writing: close the account or ban it, then run this again"
            )
        done = f"{_table(erased)}\nErased {user_id}, who is {erased.pseudonym} now."
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


def _table(erased: Erased) -> str:
    return table_of(("COUNT", "KIND"), [(count, kind) for kind, count in erased.counts.items()])


def _remark(user_id: str, erased: Erased) -> str | None:
    lines = []
    if erased.shared_files:
        lines.append(f"Files in others' forwards stay, with their names: {erased.shared_files:,}.")
    if erased.bans_in_force:
        lines.append(f"A ban in force still names {user_id}: run this again when it is over.")
    return "\n".join(lines) or None
