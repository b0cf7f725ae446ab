"""Events beyond the contract, for hosts that turn them on (specification 7.10)."""

import logging
from collections.abc import Awaitable, Iterable
from typing import TypeVar

from chat_aio.actions.context import Context
from chat_aio.actions.conversations import find_viewed
from chat_aio.errors import StorageUnavailable
from chat_aio.schema.models import ConversationWithUnread
from chat_aio.store.documents import (
    ConversationBanDocument,
    JoinRequestDocument,
    ReportDocument,
)
from chat_aio.store.mapping import conversation_ban_from, join_request_from, report_from
from chat_aio.store.signals import EphemeralEvent

log = logging.getLogger(__name__)

T = TypeVar("T")


async def publish_join_request(context: Context, name: str, request: JoinRequestDocument) -> None:
    """Publish a join request to the admins of the group and to the requesting user."""
    if not context.options.extra_events:
        return
    admins = await _admins_of(context, request["conversationId"])
    _publish(
        context,
        name,
        admins | {request["userId"]},
        conversationId=request["conversationId"],
        joinRequest=join_request_from(request),
    )


async def publish_conversation_ban(
    context: Context, name: str, ban: ConversationBanDocument
) -> None:
    """Publish a ban from a group, or its end, to the admins of the group."""
    _publish(
        context,
        name,
        await _admins_of(context, ban["conversationId"]),
        conversationId=ban["conversationId"],
        conversationBan=conversation_ban_from(ban),
    )


async def _admins_of(context: Context, conversation_id: str) -> set[str]:
    group = await _unless_away(context.snapshots.find(conversation_id))
    # Without the group the event still reaches its other users, such as the requester.
    roles = group.conversation.roles if group else {}
    return {user_id for user_id, role in roles.items() if role == "admin"}


def publish_report(context: Context, name: str, report: ReportDocument) -> None:
    """Publish a report to moderators, with the option `moderation_tools`."""
    if context.options.moderation_tools:
        shown = report_from(report)
        context.signals.publish(
            EphemeralEvent(name=name, data={"report": shown}, for_moderators=True)
        )


async def publish_resolved(context: Context, requests: Iterable[JoinRequestDocument]) -> None:
    """Publish that these join requests were resolved."""
    for request in requests:
        await publish_join_request(context, "join_request.resolved", request)


async def publish_read(context: Context, user_id: str, conversation_id: str) -> None:
    """Publish the user's read state to their own streams."""
    if not context.options.extra_events:
        return
    context.unread_tallies.outdate(user_id, conversation_id)
    # Read again: the count after the mark depends on messages that came in the meantime.
    viewed = await _unless_away(find_viewed(context, user_id, conversation_id))
    read = (
        [participant for participant in viewed.participants if participant.user_id == user_id]
        if viewed
        else []
    )
    if viewed and read:
        _publish(
            context,
            "read.updated",
            [user_id],
            within=conversation_id,
            conversationId=conversation_id,
            messageId=read[0].last_read_message_id,
            unreadCount=viewed.unread_count,
        )


def publish_view(context: Context, user_id: str, viewed: ConversationWithUnread) -> None:
    """Publish a user's view of a conversation to their own streams."""
    if context.options.extra_events:
        _publish(
            context,
            "view.updated",
            [user_id],
            within=viewed.id,
            conversationId=viewed.id,
            view=viewed.view,
            unreadCount=viewed.unread_count,
        )


async def _unless_away(reading: Awaitable[T | None]) -> T | None:
    """Await a read for an event; None if the database is out of reach. The action itself has
    succeeded by now, so a failure here must not fail the request."""
    try:
        return await reading
    except StorageUnavailable:
        log.warning("an extra event was not published: the database is out of reach")
        return None


def _publish(
    context: Context,
    name: str,
    user_ids: Iterable[str],
    *,
    within: str | None = None,
    **data: object,
) -> None:
    """Publish an ephemeral event, which does not wait and may be lost. With `within`, only streams
    that receive this conversation's events get it."""
    ids = () if within is None else (within,)
    context.signals.publish(
        EphemeralEvent(name=name, data=data, user_ids=tuple(user_ids), conversation_ids=ids)
    )
