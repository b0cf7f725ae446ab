"""Removing messages: as a deletion by their sender, but by a moderator, with an audit log row.

A plan contains the messages that are left to remove, one or many of a user. It is shown or carried
out.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from chat_aio.actions import reading
from chat_aio.actions.attachments import release_attached
from chat_aio.actions.context import Context
from chat_aio.actions.editing import later_than
from chat_aio.actions.guards import load_message, require_user
from chat_aio.schema.models import Message
from chat_aio.store import audit, edits
from chat_aio.store.documents import AuditEntry, Change, CounterDocument, MessageDocument
from chat_aio.store.hidden import NOTHING
from chat_aio.store.maintenance import find_messages
from chat_aio.store.maintenance import remove_messages as stored
from chat_aio.store.maintenance.find_messages import MessageCriteria
from chat_aio.store.maintenance.progress import Counts, Progress, silent

ACTION = "remove-message"


@dataclass(frozen=True, slots=True)
class Removal:
    """The message as it was found; `is_new` unless it is a tombstone already."""

    found: MessageDocument

    @property
    def is_new(self) -> bool:
        return not self.found["deletedAt"]


async def plan_removal(context: Context, user_id: str, message_id: str) -> Removal:
    """Find the message to remove. Raises UserBanned and MessageNotFound."""
    await require_user(context, user_id)
    return Removal(await load_message(context, message_id))


async def show(context: Context, user_id: str, plan: Removal) -> Message:
    """The message of a plan as clients see it."""
    (shown,) = await reading.show(context, user_id, [plan.found], NOTHING)
    return shown


async def remove(
    context: Context, user_id: str, plan: Removal, *, reason: str | None = None
) -> tuple[Message, bool]:
    """Replace a message by a tombstone; returns it, and whether it is new.

    Clients receive this as any deletion. If the process fails between the tombstone and the audit
    log's row, removing the message again adds the row. Raises MessageNotFound.
    """
    message_id = plan.found["_id"]
    tombstone = None
    if plan.is_new:
        change = change_of(context, user_id, plan.found)
        tombstone = await edits.delete(
            context.database, message_id, change=change, history=context.history
        )
    if tombstone is not None:
        release_attached(context, [plan.found])
    shown = tombstone or await load_message(context, message_id)
    # Also for an earlier removal, whose row may be missing; not for a deletion by the sender.
    found = shown.get("change")
    was_removed = (
        found is not None
        and found["kind"] == "message.deleted"
        and found["actorId"] != shown["senderId"]
    )
    if tombstone or was_removed:
        row = entry_of(shown, shown["change"], reason=reason)
        await audit.add_once(context.database, row)
    return await show(context, user_id, Removal(shown)), tombstone is not None


def change_of(context: Context, user_id: str, found: MessageDocument) -> Change:
    """A new stamp for the removal of a message, as it is stored."""
    return {
        "id": context.new_id(),
        "at": later_than(found, context.clock()),
        "kind": "message.deleted",
        "actorId": user_id,
    }


def entry_of(
    tombstone: MessageDocument, change: Change, *, reason: str | None = None
) -> AuditEntry:
    """The audit row of a message's removal. It has the change's id, so there is at most one."""
    given: dict[str, Any] = {} if reason is None else {"reason": reason}
    return audit.entry(
        change["id"],
        ACTION,
        tombstone["_id"],
        actor_id=change["actorId"],
        at=change["at"],
        conversationId=tombstone["conversationId"],
        senderId=tombstone["senderId"],
        **given,
    )


@dataclass(frozen=True, slots=True)
class BulkRemoval:
    """The messages to remove, and the conversations to search, as of the plan: messages sent later
    are kept."""

    criteria: MessageCriteria
    heads: tuple[CounterDocument, ...]


async def plan_removals(context: Context, user_id: str, criteria: MessageCriteria) -> BulkRemoval:
    """Find the conversations. Raises UserBanned and ConversationNotFound."""
    await require_user(context, user_id)
    return BulkRemoval(criteria, tuple(await find_messages.list_heads(context.database, criteria)))


async def count_removals(
    context: Context, plan: BulkRemoval, *, progress: Progress = silent
) -> Counts:
    """The number of messages that a plan would remove now."""

    async def pass_by(messages: Sequence[MessageDocument]) -> int:
        return len(messages)

    return await _for_all(context, plan, progress, "Counting", pass_by)


async def remove_many(
    context: Context, user_id: str, plan: BulkRemoval, *, progress: Progress = silent
) -> Counts:
    """Replace messages by tombstones, with audit log rows. An interrupted run is complete up to
    that point; run it again for the rest."""
    return await _for_all(context, plan, progress, "Removing", partial(empty, context, user_id))


async def empty(context: Context, user_id: str, messages: Sequence[MessageDocument]) -> int:
    """Replace these messages by tombstones, with audit log rows; returns their number."""
    return await stored.empty(
        context.database,
        messages,
        change=partial(change_of, context, user_id),
        entry=entry_of,
        history=context.history,
    )


async def _for_all(
    context: Context,
    plan: BulkRemoval,
    progress: Progress,
    stage: str,
    work: Callable[[Sequence[MessageDocument]], Awaitable[int]],
) -> Counts:
    messages = conversations = 0
    with progress(stage, sum(head["seq"] for head in plan.heads)) as advance:
        for head in plan.heads:
            done = 0
            async for page in find_messages.walk(context.database, plan.criteria, head, advance):
                # Not tombstones: clients would get a second deletion.
                done += await work([message for message in page.met if not message["deletedAt"]])
            messages += done
            conversations += bool(done)
    return Counts(messages, conversations)
