"""The hooks `profiles` and `search_users` over URLs of the host."""

import logging
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from chat_aio.hooks import Profile, UserSearch
from chat_aio.server.host import HostURL

log = logging.getLogger(__name__)

SEARCH_SECONDS = 10.0
MOST_SEARCHES = 1_000
"""Results of searches that are kept: users type a letter, and remove it again."""


class HostProfiles:
    """Asks for profiles. The chat keeps them for `profile_cache_seconds`."""

    def __init__(self, url: HostURL) -> None:
        self._url = url

    async def profiles(self, user_ids: Sequence[str]) -> dict[str, Profile]:
        answer = await self._url.ask({"type": "profiles", "userIds": list(user_ids)})
        listed = answer.get("profiles")
        if not isinstance(listed, Mapping):
            raise self._url.failed("profiles must be an object")
        shown = ((user_id, _profile_from(user_id, listed.get(user_id))) for user_id in user_ids)
        return {user_id: profile for user_id, profile in shown if profile is not None}


class HostSearch:
    """Asks which users somebody finds; results are kept for some seconds."""

    def __init__(self, url: HostURL) -> None:
        self._url = url
        self._kept: OrderedDict[UserSearch, tuple[float, list[str]]] = OrderedDict()

    async def search_users(self, asked: UserSearch) -> list[str]:
        until, found = self._kept.get(asked, (0.0, []))
        if until > time.monotonic():
            return found
        answer = await self._url.ask(
            {
                "type": "users.search",
                "userId": asked.user_id,
                "query": asked.query,
                "limit": asked.limit,
            }
        )
        listed = answer.get("userIds")
        if not isinstance(listed, list):
            raise self._url.failed("userIds must be an array")
        # A host that ignores the limit does not make the answer longer.
        found = [user_id for user_id in listed[: asked.limit] if isinstance(user_id, str)]
        # Kept by caller: the host may let callers find different users.
        self._kept[asked] = time.monotonic() + SEARCH_SECONDS, found
        self._kept.move_to_end(asked)
        if len(self._kept) > MOST_SEARCHES:
            self._kept.popitem(last=False)
        return found


def _profile_from(user_id: str, given: Any) -> Profile | None:
    """A profile that cannot be shown is logged, and left out."""
    if given is None:
        return None
    try:
        name, avatar_url, is_bot = (given.get(key) for key in ("name", "avatarUrl", "isBot"))
        if not isinstance(name, str) or not isinstance(avatar_url, str | None):
            raise ValueError("name and avatarUrl must be texts")
        return Profile(name=name, avatar_url=avatar_url, is_bot=is_bot is True)
    except (AttributeError, ValueError) as error:
        log.error("the profile of %r cannot be shown: %s", user_id, error)
        return None
