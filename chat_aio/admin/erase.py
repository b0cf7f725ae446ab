"""`chat-aio erase`: a pseudonym takes a user's place everywhere."""

from typing import Any

import click

from chat_aio.actions.maintenance.erasure import Erased, erase_user
from chat_aio.admin.options import an_id, writing
from chat_aio.admin.printing import Outcome, dry_run_outcome, progress_bar, show, table_of
from chat_aio.admin.session import Session, in_session
from chat_aio.errors import InvalidInput


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("user_id", metavar="USER", type=an_id)
@writing
def erase(user_id: str, as_json: bool, **place: Any) -> None:
    """Erase a user: their messages are emptied, and a pseudonym stands in their place.

    Close their account first, or ban them: the search is repeated until nothing new is found. If it
    is interrupted, run it again. It cannot be undone.
    """

    async def work(session: Session) -> Outcome:
        try:
            erased = await erase_user(
                session.context,
                session.user_id,
                user_id,
                dry_run=session.dry_run,
                progress=progress_bar,
            )
        except InvalidInput as error:
            raise click.UsageError(str(error)) from None
        if not erased.is_over:
            raise click.ClickException(
                f"{user_id} goes on writing: close the account or ban it, then run this again"
            )
        return _outcome(user_id, erased, dry_run=session.dry_run)

    show(in_session(work, **place), as_json=as_json)


def _outcome(user_id: str, erased: Erased, *, dry_run: bool) -> Outcome:
    found = {"userId": user_id, "counts": erased.counts, "bansInForce": erased.bans_in_force}
    table = table_of(("COUNT", "KIND"), [(count, kind) for kind, count in erased.counts.items()])
    remark = (
        f"A ban in force still names {user_id}: run this again when it is over."
        if erased.bans_in_force
        else None
    )
    if dry_run:
        would = dry_run_outcome(f"erase {user_id}", **found)
        return Outcome(would.document, f"{table}\n{would.text}", remark)
    done = f"{table}\nErased {user_id}, who is {erased.pseudonym} now."
    text = done if erased.counts else "Nothing done: nothing is left to erase."
    return Outcome({"pseudonym": erased.pseudonym, **found}, text, remark)
