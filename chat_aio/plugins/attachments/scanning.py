"""A scanner of the host's, which may refuse a file."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from chat_aio.errors import AttachmentRejected
from chat_aio.plugin_types.verdicts import Refuse
from chat_aio.tasks import answered

log = logging.getLogger(__name__)

UNCHECKED = "This file could not be checked; try again later."


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """A file that was sent and is not answered yet. `content_type` is by its first bytes."""

    user_id: str
    conversation_id: str
    name: str
    content_type: str
    size: int


Scan = Callable[[FileInfo, AsyncIterator[bytes]], Awaitable[bool | Refuse]]
"""Returns True for a file that is good, False or `Refuse` with a reason for one that is not."""


async def require_clean(
    scan: Scan, info: FileInfo, chunks: AsyncIterator[bytes], *, seconds: float
) -> None:
    """Raise AttachmentRejected unless the scanner accepts a file, also if it fails or
    takes longer."""
    try:
        verdict = await answered(scan(info, chunks), seconds)
    except Exception:
        log.exception("the scanner of attachments failed")
        raise AttachmentRejected(UNCHECKED) from None
    if isinstance(verdict, Refuse):
        raise AttachmentRejected(verdict.reason)
    # Not `if not`: a scanner that returns a text by mistake lets nothing pass.
    if verdict is not True:
        raise AttachmentRejected
