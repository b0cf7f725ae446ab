"""Profiles: what the host shows of its users, asked for in batches and kept for a while."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextvars import Context

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
"""So long a host's hook that was late is not asked again: each page would wait for it."""

Known = Mapping[str, User | None]
"""What is shown of users by id; None is a user whom the host does not know."""


class Profiles:
    """The profiles that one process has asked the host for, each kept for `kept_seconds`.

    `patience` is the hook's, in seconds. What several requests need at once is asked for once.
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
        """What is shown of users, in their order, without those whom the host does not know. Raises
        InternalError if its hook fails."""
        if self._hook is None:
            return {}
        wanted = list(dict.fromkeys(user_ids))
        known: dict[str, User | None] = {}
        missing = [user_id for user_id in wanted if not self._is_known(user_id, known)]
        new = [user_id for user_id in missing if user_id not in self._asked]
        for start in range(0, len(new), USERS_AT_A_TIME):
            self._ask(self._hook, new[start : start + USERS_AT_A_TIME])
        if asked := {self._asked[user_id] for user_id in missing}:
            with paused():  # The request's budget is for the database, not for the host.
                await asyncio.wait(asked)
        for answer in asked:
            known |= answer.result()
        return {user_id: user for user_id in wanted if (user := known.get(user_id))}

    def _is_known(self, user_id: str, known: dict[str, User | None]) -> bool:
        """Put what is kept of a user into `known`."""
        until, user = self._kept.get(user_id, (0.0, None))
        if until > time.monotonic():
            known[user_id] = user
            return True
        return False

    def _ask(self, hook: ProfilesHook, user_ids: Sequence[str]) -> None:
        # A task of its own: the caller may leave, and others wait for the same users.
        asking = asyncio.create_task(self._load(hook, user_ids), context=Context())
        asking.add_done_callback(lambda asked: self._answered(asked, user_ids))
        self._asked |= dict.fromkeys(user_ids, asking)

    async def _load(self, hook: ProfilesHook, user_ids: Sequence[str]) -> Known:
        began = time.monotonic()
        if began < self._resting_until:
            raise InternalError
        try:
            answer = await hooks.call(hook, user_ids, limit=self._patience)
        except InternalError:
            if time.monotonic() - began >= self._patience:
                self._resting_until = time.monotonic() + RESTING_SECONDS
            raise
        if not isinstance(answer, Mapping):
            log.error("profiles must return profiles by user id, not %r", type(answer))
            raise InternalError
        known = {user_id: _user_from(user_id, answer.get(user_id)) for user_id in user_ids}
        self._keep(known)
        return known

    def _answered(self, asked: asyncio.Task[Known], user_ids: Iterable[str]) -> None:
        retrieve(asked)  # Whoever has asked may have left, or has got the error of another batch.
        for user_id in user_ids:
            del self._asked[user_id]

    def _keep(self, known: Known) -> None:
        until = time.monotonic() + self._seconds
        for user_id, user in known.items():
            self._kept[user_id] = until, user
            self._kept.move_to_end(user_id)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)


def _user_from(user_id: str, profile: object) -> User | None:
    """What is shown of a user. A profile that cannot be shown is logged, and left out."""
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
