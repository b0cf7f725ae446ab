"""Getting the plugins' verdicts on a message that is about to be written, and filing reports."""

import logging
from functools import partial
from typing import get_args

from chat_aio import hooks
from chat_aio.actions.context import Context
from chat_aio.actions.host_hooks import lent_message
from chat_aio.actions.optional_events import publish_report
from chat_aio.errors import InternalError, MessageRejected
from chat_aio.hooks import BeforeMessageSend
from chat_aio.plugin_types.verdicts import Hold, Refuse, Report, Verdict, strictest
from chat_aio.schema.models import Message

log = logging.getLogger(__name__)


def screens(context: Context) -> bool:
    """Whether any plugin checks messages."""
    return any(plugin.overrides("check_message") for plugin in context.plugins)


async def screen(context: Context, asked: BeforeMessageSend) -> Hold | Report | None:
    """The strictest verdict of the plugins; Hold only for a send (specification 12.7).

    Raises MessageRejected, and InternalError if a plugin fails, since its verdict is unknown.
    """
    verdict: Verdict | None = None
    for plugin in context.plugins:
        if not plugin.overrides("check_message"):
            continue
        limit = context.options.hook_timeout_seconds
        answer = await hooks.call(plugin.check_message, lent_message(asked), limit=limit)
        if answer is not None and not isinstance(answer, get_args(Verdict)):
            log.error("check_message must return None or a verdict, not %r", type(answer))
            raise InternalError
        verdict = strictest(verdict, answer)
        # No other verdict can be stricter, so the remaining plugins need not be called.
        if isinstance(verdict, Refuse):
            break
    # Only a new message can wait for a moderator: the others have nothing to release.
    if isinstance(verdict, Refuse) or (isinstance(verdict, Hold) and asked.kind != "send"):
        raise MessageRejected(verdict.reason)
    return verdict


async def file_report(context: Context, verdict: Report, message: Message) -> None:
    """Report a message that was written, and publish the report."""
    publish = partial(publish_report, context, "report.created")
    await context.filed_reports.file(verdict, message, publish)
