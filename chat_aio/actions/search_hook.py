"""The matches of a search that the host's hook `search_messages` finds (specification 6.8).

A cursor of a page contains the host's cursor, and the last message of a page that ends within the
host's answer: the next page asks for that answer again.
"""

import logging
from collections.abc import Sequence
from typing import cast

from chat_aio import hooks
from chat_aio.actions.context import Context
from chat_aio.errors import InternalError
from chat_aio.hooks import FoundMessages, MessageSearch
from chat_aio.schema import pagination
from chat_aio.schema.fields import is_id, is_text

log = logging.getLogger(__name__)

MOST_IDS = 2_000
MOST_CURSOR = 1_000
CURSOR = "found"

Position = tuple[str, str]
"""The host's cursor, empty for its first answer; and the last message that was shown of the answer,
empty for none."""


class HostMatches:
    """The matches in one answer of the host, behind a position."""

    def __init__(self, answer: FoundMessages, position: Position) -> None:
        self._cursor, shown = position
        self._next = answer.next_cursor
        # A host's engine may hold ids that the chat could not store.
        self._ids = list(dict.fromkeys(filter(is_id, answer.message_ids)))
        # A message that the answer no longer has: shown again rather than left out.
        self._places = {message_id: place for place, message_id in enumerate(self._ids)}
        self._start = self._places.get(shown, -1) + 1

    async def ids_behind(self, last: str | None, limit: int) -> Sequence[str]:
        start = self._start if last is None else self._places[last] + 1
        return self._ids[start : start + limit]

    def cursor_behind(self, last: str | None) -> str | None:
        """The cursor of the page behind a match; behind the answer if `last` is None."""
        if last is not None:
            return pagination.cursor_from(CURSOR, self._cursor, last)
        return self._next and pagination.cursor_from(CURSOR, self._next, "")


def position_from(cursor: str | None) -> Position:
    """The position of a cursor. Raises InvalidInput."""
    position = pagination.position_from(CURSOR, cursor, str, str)
    return cast(Position, position) if position else ("", "")


async def ask_host(context: Context, asked: MessageSearch) -> FoundMessages:
    """Call the hook. Raises InternalError if it fails, or returns something else; nothing is found
    without the hook and without conversations."""
    hook = context.hooks.search_messages
    if hook is None or not asked.conversation_ids:
        return FoundMessages(message_ids=())
    answer = await hooks.call(hook, asked, limit=context.options.hook_timeout_seconds)
    if (problem := _problem_of(answer)) is not None:
        log.error("search_messages must return FoundMessages%s", problem)
        raise InternalError
    return cast(FoundMessages, answer)


def _problem_of(answer: object) -> str | None:
    if not isinstance(answer, FoundMessages):
        return f", not {type(answer)!r}"
    ids, following = answer.message_ids, answer.next_cursor
    if not isinstance(ids, list | tuple) or len(ids) > MOST_IDS:
        return f" with a list of at most {MOST_IDS} ids"
    if following is None:
        return None
    if not isinstance(following, str) or not 0 < len(following) <= MOST_CURSOR:
        return f" with a cursor of 1 to {MOST_CURSOR} characters, or None"
    return None if is_text(following) else " with a cursor of valid Unicode"
