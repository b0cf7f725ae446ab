"""Profiles: what the host shows of its users, fetched in batches and kept for a while."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextvars import Context
from functools import partial

from pydantic import ValidationError

from chat_aio import hooks
from chat_aio.errors import InternalError
from chat_aio.hooks import Profile, ProfilesHook
from chat_aio.schema.fields import is_text
from chat_aio.schema.models import User
from chat_aio.store.calls import paused, retrieve

log = logging.getLogger(__name__)

USERS_AT_A_TIME = 100
MOST_KEPT = 20_000

RESTING_SECONDS = 10.0
"""How long a host's hook that timed out is not called again: otherwise each page would wait."""

Known = Mapping[str, User | None]
"""Users by id, as they are shown; None is a user whom the host does not know."""


class Profiles:
    """The profiles that one process has fetched from the host, kept for `kept_seconds`.

    `patience` is the hook's timeout in seconds. Ids that several requests need are fetched once.
    """

    def __init__(
        self,
        hook: ProfilesHook | None,
        *,
        patience: float,
        kept_seconds: float,
        most: int = MOST_KEPT,
    ) -> None:
        self._hook = hook
        self._patience = patience
        self._seconds = kept_seconds
        self._most = most
        self._kept: OrderedDict[str, tuple[float, User | None]] = OrderedDict()
        self._resting_until = 0.0
        self._asked: dict[str, asyncio.Task[Known]] = {}

    @property
    def offered(self) -> bool:
        """Whether the host shows profiles."""
        return self._hook is not None

    async def find(self, user_ids: Iterable[str]) -> dict[str, User]:
        """Users by id, in the given order, without users whom the host does not know. Raises
        InternalError if its hook fails."""
        if self._hook is None:
            return {}
        wanted = list(dict.fromkeys(user_ids))
        now = time.monotonic()
        known: dict[str, User | None] = {}
        for user_id in wanted:
            until, user = self._kept.get(user_id, (0.0, None))
            if until > now:
                known[user_id] = user
        missing = [user_id for user_id in wanted if user_id not in known]
        new = [user_id for user_id in missing if user_id not in self._asked]
        for start in range(0, len(new), USERS_AT_A_TIME):
            some = new[start : start + USERS_AT_A_TIME]
            # A separate task: the caller may be cancelled, and others wait for the same users.
            asking = asyncio.create_task(self._load(self._hook, some), context=Context())
            asking.add_done_callback(partial(self._answered, some))
            self._asked |= dict.fromkeys(some, asking)
        if asked := {self._asked[user_id] for user_id in missing}:
            with paused():  # The request's budget is for the database, not for the host.
                await asyncio.wait(asked)
        for answer in asked:
            known |= answer.result()
        return {user_id: user for user_id in wanted if (user := known.get(user_id))}

    def forget(self, user_ids: Iterable[str]) -> None:
        """Fetch these users again when they are next needed."""
        for user_id in user_ids:
            self._kept.pop(user_id, None)
            # A call of the hook that has begun may return the profile of before.
            self._asked.pop(user_id, None)

    def forget_all(self) -> None:
        """Fetch all users again when they are next needed."""
        self._kept.clear()
        self._asked.clear()

    async def _load(self, hook: ProfilesHook, user_ids: Sequence[str]) -> Known:
        began = time.monotonic()
        if began < self._resting_until:
            raise InternalError
        try:
            answer = await hooks.call(hook, user_ids, limit=self._patience)
        except InternalError:
            if time.monotonic() - began >= self._patience:
                # Only after a timeout: an error comes at once, and costs the next page nothing.
                self._resting_until = time.monotonic() + RESTING_SECONDS
            raise
        if not isinstance(answer, Mapping):
            log.error("profiles must return profiles by user id, not %r", type(answer))
            raise InternalError
        known = {user_id: _user_from(user_id, answer.get(user_id)) for user_id in user_ids}
        until = time.monotonic() + self._seconds
        for user_id, user in known.items():
            if self._asked.get(user_id) is not asyncio.current_task():
                continue  # Forgotten since.
            self._kept[user_id] = until, user
            self._kept.move_to_end(user_id)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return known

    def _answered(self, user_ids: Iterable[str], asked: asyncio.Task[Known]) -> None:
        retrieve(asked)  # The callers may have left, or have got the error of another batch.
        for user_id in user_ids:
            if self._asked.get(user_id) is asked:
                del self._asked[user_id]


def _user_from(user_id: str, profile: object) -> User | None:
    """The user of a profile. A profile that cannot be shown is logged, and left out."""
    if profile is None:
        return None
    if not isinstance(profile, Profile) or not is_text(profile.name):
        log.error("profiles must return objects of Profile with a name, not %r", type(profile))
        return None
    try:
        return User(
            id=user_id, name=profile.name, avatar_url=profile.avatar_url, is_bot=profile.is_bot
        )
    except ValidationError as error:
        log.error("the profile of %r cannot be shown: %s", user_id, error)
        return None
