"""Removing messages at the desk, one or many of a user."""

from datetime import datetime
from time import monotonic

from chat_aio.actions.context import Context
from chat_aio.actions.desk.find_messages import position_from
from chat_aio.actions.desk.guarding import (
    SECONDS,
    load_at_desk,
    note_look,
    notify_of,
    require_desk,
    wanted_from,
)
from chat_aio.actions.maintenance import remove_messages as rules
from chat_aio.schema import desk, inputs, pagination
from chat_aio.schema.models import Message
from chat_aio.store.maintenance import find_messages
from chat_aio.store.maintenance.find_messages import Found, Position, Wanted

CURSOR = "desk_removals"
AT_A_TIME = 100


async def remove_message(
    context: Context, user_id: str, message_id: str, *, reason: str | None = None
) -> Message:
    """Leave a tombstone where a message was, as if its sender had deleted it; removing it again
    changes nothing. The reason is kept in the audit log.

    Raises InvalidInput, NotModerator, ModerationUnsupported and MessageNotFound (docs/behaviour.md
    14.4).
    """
    given = inputs.read(desk.OneRemoval, reason=reason)
    found = await load_at_desk(context, user_id, "remove_message", message_id)
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
) -> desk.Removed:
    """Count messages of a user, or remove them if `dry_run` is False, for about two seconds.

    Go on with the same arguments and the cursor. What was sent after the first portion, or after
    `until`, stays. Each message has its row in the audit log: what is interrupted is complete as
    far as it came, and may be begun again. `after_message_mutation` is not called. Raises
    InvalidInput, NotModerator and ModerationUnsupported (docs/behaviour.md 14.4).
    """
    given = inputs.read(
        desk.ManyRemovals,
        sender_id=sender_id,
        conversation_id=conversation_id,
        since=since,
        until=until,
        contains=contains,
        dry_run=dry_run,
        cursor=cursor,
    )
    end, position = _begin(given, context.clock())
    wanted = wanted_from(given.model_copy(update={"until": end}))
    is_dry = given.dry_run is not False
    await require_desk(context, user_id, "remove_messages", target_user_id=given.sender_id)
    if position is None:
        details = {**wanted.as_details(), "dryRun": is_dry}
        await note_look(context, user_id, "remove-messages", given.sender_id, **details)
    count, stopped = await _portion(context, user_id, wanted, position, dry_run=is_dry)
    following = stopped and pagination.cursor_from(CURSOR, pagination.millis_from(end), *stopped)
    return desk.Removed(messages=count, dry_run=is_dry, until=end, next_cursor=following)


def _begin(given: desk.ManyRemovals, now: datetime) -> tuple[datetime, Position | None]:
    """Up to when messages are meant, and where a portion begins. Raises InvalidInput."""
    keys = pagination.position_from(CURSOR, given.cursor, int, str, int)
    if keys is None:
        return min(given.until or now, now), None
    end, *place = keys
    return pagination.moment_from(int(end)), position_from(tuple(place))


async def _portion(
    context: Context, user_id: str, wanted: Wanted, position: Position | None, *, dry_run: bool
) -> tuple[int, Position | None]:
    """Count or remove until the time is over; returns how many, and where to go on."""
    deadline = monotonic() + SECONDS
    done = 0
    while True:
        found: Found = await find_messages.scan(
            context.database, wanted, position, most=AT_A_TIME, deadline=deadline
        )
        live = [message for message in found.messages if not message["deletedAt"]]
        if live and not dry_run:
            done += await rules.empty(context, user_id, live)
        else:
            done += len(live)
        position = found.position
        if position is None or monotonic() >= deadline:
            return done, position
