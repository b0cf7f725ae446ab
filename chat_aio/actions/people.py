"""People: the host's profiles of its users. The chat stores only ids (docs/guides/people.md)."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from chat_aio import hooks
from chat_aio.actions.context import Context
from chat_aio.errors import InternalError, InvalidInput, UsersUnsupported
from chat_aio.hooks import UserSearch
from chat_aio.schema import inputs, pagination
from chat_aio.schema.fields import is_id
from chat_aio.schema.models import User
from chat_aio.store.documents import ConversationDocument, MessageDocument
from chat_aio.store.mapping import Parents

log = logging.getLogger(__name__)

MOST_SHOWN = 500
"""Maximum number of users in a page."""

OF_A_GROUP = 8
"""Maximum number of participants of each group in a list of conversations."""


async def find_users(
    context: Context,
    user_id: str,
    *,
    ids: Sequence[str] | None = None,
    query: str | None = None,
    limit: int | None = None,
) -> tuple[User, ...]:
    """The host's profiles of up to 100 `ids`, in their order and without unknown ones, or of the
    users that it finds with `query`, the best match first. One of both is needed.

    Raises InvalidInput and UsersUnsupported (specification 16).
    """
    given = inputs.read(inputs.UserLookup, ids=ids, query=query, limit=limit)
    found, size = given.ids, pagination.limit_from(limit)
    if (found is None) == (given.query is None):
        raise InvalidInput("ids and q cannot be used together, and one of them is needed")
    if not context.profiles.offered:
        raise UsersUnsupported
    if given.query is not None:
        found = await _search(context, user_id, given.query, limit=size)
    return tuple((await context.profiles.find(found or ())).values())


async def _search(context: Context, user_id: str, query: str, *, limit: int) -> list[str]:
    hook = context.hooks.search_users
    if hook is None:
        raise UsersUnsupported
    asked = UserSearch(user_id=user_id, query=query, limit=limit)
    answer = await hooks.call(hook, asked, limit=context.options.hook_timeout_seconds)
    if not isinstance(answer, list | tuple):
        log.error("search_users must return a list of user ids, not %r", type(answer))
        raise InternalError
    # A host's index may hold ids that the chat could not store; one of them must not fail a search.
    return [person for person in answer[:limit] if is_id(person)]


async def ids_named(context: Context, user_id: str, query: str) -> list[str]:
    """The users that the host finds by name, if it offers a search; none if its hook fails."""
    if context.hooks.search_users is None:
        return []
    with suppress(InternalError):  # It is logged; a list is still found by its own names.
        return await _search(context, user_id, query, limit=pagination.DEFAULT_LIMIT)
    return []


async def users_shown(context: Context, user_ids: Iterable[str]) -> dict[str, User]:
    """Users by id, the first 500 of `user_ids`, for a page that shows them; none if the host's hook
    fails."""
    wanted = islice(dict.fromkeys(user_ids), MOST_SHOWN)
    with suppress(InternalError):  # It is logged; the page is shown with ids.
        return await context.profiles.find(wanted)
    return {}


def people_of_messages(found: Sequence[MessageDocument], parents: Parents) -> Iterator[str]:
    """The users that messages show, senders first; including those of quotes, forwards and
    mentions."""
    yield from (message["senderId"] for message in found)
    quoted = {message["replyToMessageId"] for message in found}
    yield from (parent["senderId"] for name, parent in parents.items() if name in quoted)
    yield from (
        message["forwardedFrom"]["senderId"] for message in found if message["forwardedFrom"]
    )
    yield from (mention["userId"] for message in found for mention in message["mentions"])


def people_of_conversations(found: Sequence[ConversationDocument]) -> Iterator[str]:
    """The first participants of conversations, those of direct ones first."""
    for conversation in sorted(found, key=lambda conversation: conversation["type"] != "direct"):
        yield from (one["userId"] for one in conversation["participants"][:OF_A_GROUP])
