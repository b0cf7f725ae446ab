"""Removing messages with the moderation tools: a single one, or many of a user."""

from datetime import datetime
from time import monotonic

from chat_aio.actions.context import Context
from chat_aio.actions.maintenance import remove_messages as rules
from chat_aio.actions.moderation_tools.find_messages import position_from
from chat_aio.actions.moderation_tools.guarding import (
    SECONDS,
    audit_view,
    criteria_from,
    load_for_moderator,
    notify_of,
    require_moderation_tools,
)
from chat_aio.schema import inputs, moderation_tools, pagination
from chat_aio.schema.models import Message
from chat_aio.store.maintenance import find_messages
from chat_aio.store.maintenance.find_messages import Found, MessageCriteria, Position

CURSOR = "desk_removals"
AT_A_TIME = 100


async def remove_message(
    context: Context, user_id: str, message_id: str, *, reason: str | None = None
) -> Message:
    """Replace a message by a tombstone, as if its sender had deleted it; removing it again changes
    nothing. The reason is kept in the audit log.

    Raises InvalidInput, NotModerator, ModerationUnsupported and MessageNotFound (specification
    14.4).
    """
    given = inputs.read(moderation_tools.MessageRemoveRequest, reason=reason)
    found = await load_for_moderator(context, user_id, "remove_message", message_id)
    plan = rules.Removal(found)
    message, is_new = await rules.remove(context, user_id, plan, reason=given.reason)
    if is_new:
        await notify_of(context, user_id, "deleted", message)
    return message


async def remove_messages(
    context: Context,
    user_id: str,
    sender_id: str,
    *,
    conversation_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    contains: str | None = None,
    dry_run: bool | None = None,
    cursor: str | None = None,
) -> moderation_tools.Removed:
    """Count messages of a user, or remove them if `dry_run` is False, for about two seconds.

    Continue with the same arguments and the cursor. Messages sent after the first portion, or after
    `until`, are kept. Every removal has its row in the audit log: an interrupted run is complete up
    to that point and can be started again. `after_message_mutation` is not called. Raises
    InvalidInput, NotModerator and ModerationUnsupported (specification 14.4).
    """
    given = inputs.read(
        moderation_tools.ManyRemovals,
        sender_id=sender_id,
        conversation_id=conversation_id,
        since=since,
        until=until,
        contains=contains,
        dry_run=dry_run,
        cursor=cursor,
    )
    now = context.clock()
    end, position = min(given.until or now, now), None
    if keys := pagination.position_from(CURSOR, given.cursor, int, str, int):
        # The end of the first portion, so that messages sent since then are kept.
        millis, *place = keys
        end, position = pagination.moment_from(int(millis)), position_from(tuple(place))
    criteria = criteria_from(given.model_copy(update={"until": end}))
    is_dry = given.dry_run is not False
    await require_moderation_tools(
        context, user_id, "remove_messages", target_user_id=given.sender_id
    )
    # Once a run: the removals of later portions have their own rows.
    if position is None:
        details = {**criteria.as_details(), "dryRun": is_dry}
        await audit_view(context, user_id, "remove-messages", given.sender_id, **details)
    count, stopped = await _portion(context, user_id, criteria, position, dry_run=is_dry)
    following = stopped and pagination.cursor_from(CURSOR, pagination.millis_from(end), *stopped)
    return moderation_tools.Removed(
        messages=count, dry_run=is_dry, until=end, next_cursor=following
    )


async def _portion(
    context: Context,
    user_id: str,
    criteria: MessageCriteria,
    position: Position | None,
    *,
    dry_run: bool,
) -> tuple[int, Position | None]:
    """Count or remove until the time is over; returns the number, and where to continue."""
    deadline = monotonic() + SECONDS
    done = 0
    while True:
        found: Found = await find_messages.scan(
            context.database, criteria, position, most=AT_A_TIME, deadline=deadline
        )
        live = [message for message in found.messages if not message["deletedAt"]]
        if live and not dry_run:
            done += await rules.empty(context, user_id, live)
        else:
            done += len(live)
        position = found.position
        if position is None or monotonic() >= deadline:
            return done, position
