"""The shapes of the inbox, which a chat has with the option `inbox`."""

from chat_aio.schema.models import Message
from chat_aio.schema.wire import Wire


class Mention(Wire):
    """A message that mentions the caller, and whether it is unread."""

    message: Message
    unread: bool


class MentionPage(Wire):
    mentions: tuple[Mention, ...]
    next_cursor: str | None


class ViewedThread(Wire):
    """A thread, up to which seq the caller has read it, and how many replies of others follow; 100
    of them means 100 or more."""

    root: Message
    last_read_seq: int
    unread_reply_count: int


class ThreadPage(Wire):
    threads: tuple[ViewedThread, ...]
    next_cursor: str | None


class UnreadNumbers(Wire):
    """Unread messages, those of them that mention the caller, and conversations with any."""

    messages: int
    mentions: int
    conversations: int


class UnreadTotals(Wire):
    """The caller's unread messages in all conversations, and in those that they have not muted.
    Archived and hidden conversations are in neither."""

    all: UnreadNumbers
    unmuted: UnreadNumbers
