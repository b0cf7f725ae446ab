"""`chat-aio moderation held`, `release-held` and `discard-held`."""

from collections.abc import Sequence
from typing import Any

import click

from chat_aio.actions import held_messages
from chat_aio.actions.guards import require_user
from chat_aio.admin.consent import Plan, consenting, in_session_with_consent
from chat_aio.admin.options import acting, an_id, limit, listing, writing
from chat_aio.admin.printing import Outcome, dry_run_outcome, listed, show
from chat_aio.admin.session import Session, first, in_session
from chat_aio.admin.tables import held_messages_table
from chat_aio.schema import pagination
from chat_aio.schema.models import HeldMessage

ID = click.argument("held_id", metavar="ID", type=an_id)


@click.command()
@limit
@listing
def held(limit: int, as_json: bool, as_lines: bool, **place: Any) -> None:
    """List the messages that wait for a moderator, newest first."""

    async def work(session: Session) -> Outcome:
        async def page(cursor: str | None) -> tuple[Sequence[HeldMessage], str | None]:
            read = await held_messages.list_held_messages(
                session.context, session.user_id, limit=pagination.MAX_LIMIT, cursor=cursor
            )
            return read.held_messages, read.next_cursor

        found = await first(limit + 1, page)
        return listed("heldMessages", found, held_messages_table(found[:limit]), limit=limit)

    show(in_session(work, **place), as_json=as_json, as_lines=as_lines)


@click.command("release-held")
@ID
@writing
def release_held(held_id: str, as_json: bool, **place: Any) -> None:
    """Send a held message in the name of its sender, who must still be allowed to write.

    It keeps its id, and clients see it at once. The rules do not check it again.
    """

    async def work(session: Session) -> Outcome:
        context, user_id = session.context, session.user_id
        # The actions are called directly, not through a door, which would check bans.
        await require_user(context, user_id)
        plan = await held_messages.require_releasable(context, user_id, held_id)
        if session.dry_run:
            said = f"send held message {held_id} of {plan.sender_id}"
            return dry_run_outcome(said, heldMessage=plan)
        message = await held_messages.release_held_message(context, user_id, held_id)
        return Outcome(
            {"message": message}, f"Released: message {held_id} of {message.sender_id} is sent."
        )

    show(in_session(work, **place), as_json=as_json)


@click.command("discard-held")
@ID
@consenting
@acting
def discard_held(held_id: str, **place: Any) -> None:
    """Remove a held message for good; its sender is not notified."""

    async def prepare(session: Session) -> HeldMessage:
        context, user_id = session.context, session.user_id
        await require_user(context, user_id)
        return await held_messages.require_discardable(context, user_id, held_id)

    async def plan(_: Session, found: HeldMessage) -> Plan:
        what = f"discard held message {held_id} of {found.sender_id}"
        return Plan(what=what, document={"heldMessage": found})

    async def carry_out(session: Session, found: HeldMessage) -> Outcome:
        await held_messages.discard_held_message(session.context, session.user_id, held_id)
        said = f"Discarded held message {held_id} of {found.sender_id}."
        return Outcome({"discarded": True}, said)

    in_session_with_consent(prepare, plan, carry_out, **place)
