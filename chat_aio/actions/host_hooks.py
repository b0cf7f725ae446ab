"""The host's hooks around a write: before a message is written, and after the commit."""

import logging
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import Literal

from chat_aio import hooks
from chat_aio.actions.context import Context
from chat_aio.actions.guards import require_length
from chat_aio.errors import ChatError, InternalError, MessageRejected
from chat_aio.hooks import BeforeMessageSend, Changed, MessageMutation
from chat_aio.schema import inputs
from chat_aio.schema.models import Conversation, Message

log = logging.getLogger(__name__)


async def ask_host(context: Context, asked: BeforeMessageSend) -> BeforeMessageSend:
    """Call `before_message_send` and apply its changes. Raises MessageRejected, and InvalidInput
    if a changed part is not valid (specification 5.2)."""
    hook = context.hooks.before_message_send
    if hook is None:
        return asked
    limit = context.options.hook_timeout_seconds
    # MessageRejected is the one error that a hook raises on purpose; others are bugs, so 500.
    answer = await hooks.call(hook, lent_message(asked), limit=limit, passing=(MessageRejected,))
    if answer is None:
        return asked
    if not isinstance(answer, Changed):
        log.error("before_message_send must return None or Changed, not %r", type(answer))
        raise InternalError
    # As strict as a client's input: a hook's mistake must not get into the database.
    changed = inputs.read(
        inputs.Replaced,
        metadata_within=context.options.max_metadata_bytes,
        body=answer.body,
        metadata=answer.metadata,
    )
    if changed.body is not None:
        require_length(context, changed.body)
        asked = replace(asked, body=changed.body)
    if changed.metadata is not None:
        asked = replace(asked, metadata=changed.metadata)
    return asked


def lent_message(asked: BeforeMessageSend) -> BeforeMessageSend:
    """A copy to hand out: a hook's modifications of it must not reach the message."""
    conversation, metadata = hooks.lent(asked.conversation), deepcopy(asked.metadata)
    return replace(asked, conversation=conversation, metadata=metadata)


async def notify_host(
    context: Context,
    user_id: str,
    kind: Literal["created", "updated", "deleted"],
    message: Message,
    conversation: Conversation,
) -> None:
    """Call the host's `after_message_mutation`; a failure is logged and changes nothing."""
    hook = context.hooks.after_message_mutation
    if hook is None:
        return
    mutation = MessageMutation(
        user_id=user_id,
        kind=kind,
        message=message,
        mentions=message.mentions,
        recipient_ids=tuple(recipient for recipient in conversation.roles if recipient != user_id),
    )
    with suppress(ChatError):  # `hooks.call` has logged it, and the message is committed.
        await hooks.call(hook, mutation, limit=context.options.hook_timeout_seconds)
