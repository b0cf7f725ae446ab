"""Attachments of messages: which ones a message may have, and who may read them.

A plugin stores the bytes. Users who may read a message may read its attachments.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chat_aio.actions.context import Context
from chat_aio.actions.moderation_tools.guarding import audit_view, require_moderation_tools
from chat_aio.actions.reading import MOST_LOOKED_AT, readable_anywhere
from chat_aio.errors import AttachmentsUnsupported, ModerationUnsupported, NotModerator
from chat_aio.observability.dispatch import notify
from chat_aio.plugin_types.base import Plugin
from chat_aio.schema.models import Attachment
from chat_aio.store import attachments

AT_A_TIME = 100


def require_attaching(context: Context) -> Plugin:
    """The plugin that stores attachments. Raises AttachmentsUnsupported."""
    for plugin in context.plugins:
        if plugin.overrides("resolve_attachments"):
            return plugin
    raise AttachmentsUnsupported


async def load_attached(
    context: Context, user_id: str, conversation_id: str, attachment_ids: Sequence[str]
) -> tuple[Attachment, ...]:
    """The attachments that a new message of a user names. Raises AttachmentsUnsupported and
    AttachmentNotFound."""
    plugin = require_attaching(context)
    return tuple(await plugin.resolve_attachments(user_id, conversation_id, attachment_ids))


async def keep_attached(context: Context, attached: Sequence[Attachment]) -> None:
    """Ensure that attachments still exist when their message is stored. Raises AttachmentNotFound
    if one is gone."""
    ids = [attachment.id for attachment in attached]
    for plugin in context.plugins:
        if plugin.overrides("retain_attachments"):
            await plugin.retain_attachments(ids)


def release_attached(context: Context, emptied: Iterable[Mapping[str, Any]]) -> None:
    """Notify the plugins of attachments that messages no longer carry; `emptied` is the messages'
    earlier state."""
    ids = [
        attachment["id"] for message in emptied for attachment in message.get("attachments") or ()
    ]
    # Most messages have none, and a plugin would be woken for nothing.
    if ids:
        notify(context.plugins, Plugin.on_attachments_released, ids)


async def may_read_attachment(context: Context, user_id: str, attachment_id: str) -> bool:
    """Whether a user may currently read a message that carries an attachment, or is a moderator
    with the moderation tools; a moderator's access is recorded in the audit log."""
    if await _is_readable(context, user_id, attachment_id):
        return True
    if not context.options.moderation_tools:
        return False
    if not await attachments.carried(context.database, [attachment_id]):
        return False
    try:
        await require_moderation_tools(context, user_id, "get_attachment")
    except (NotModerator, ModerationUnsupported):
        return False
    await audit_view(context, user_id, "look-at-attachment", attachment_id)
    return True


async def _is_readable(context: Context, user_id: str, attachment_id: str) -> bool:
    # A host's `can_read` may let anybody read; without one, only participants can.
    inside = None if context.permissions.asks_host else user_id
    after = ""
    for _ in range(0, MOST_LOOKED_AT, AT_A_TIME):
        found = await attachments.list_carriers(
            context.database, attachment_id, participant=inside, after=after, limit=AT_A_TIME
        )
        if await readable_anywhere(context, user_id, found):
            return True
        if len(found) < AT_A_TIME:
            break
        after = found[-1]["_id"]
    return False
