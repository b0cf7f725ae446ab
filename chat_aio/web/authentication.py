"""Authentication: the host's `auth` hook identifies the user of a request."""

from collections.abc import Mapping

from aiohttp import web

from chat_aio import hooks
from chat_aio.errors import Unauthenticated
from chat_aio.schema.fields import is_id
from chat_aio.web.app_keys import AUTH, CONTEXT


async def authenticated(request: web.Request) -> str:
    """The acting user's id, from the host's `auth` hook (specification 1.2). Raises
    Unauthenticated, and InternalError if the hook fails.

    For the hook `request.app` is the host's app, as in the host's own handlers.
    """
    match_info = request.match_info
    *_, host, chat = match_info.apps
    limit = chat[CONTEXT].options.hook_timeout_seconds
    match_info.current_app = host
    try:
        user = await hooks.call(chat[AUTH], request, limit=limit)
    finally:
        match_info.current_app = chat
    user_id = user.get("id") if isinstance(user, Mapping) else getattr(user, "id", None)
    if not isinstance(user_id, str) or not is_id(user_id):
        raise Unauthenticated
    return user_id
