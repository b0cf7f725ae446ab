"""The hooks `can_create`, `can_read` and `can_write` over a URL of the host, and the route that
makes the chat forget the answers."""

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from chat_aio.actions.permissions import is_participant
from chat_aio.errors import HostUnavailable, InvalidInput, NotFound
from chat_aio.hooks import CreateContext, PermissionContext
from chat_aio.plugins import Plugin, PluginRequest, PluginRoute
from chat_aio.schema.fields import Ids
from chat_aio.schema.inputs import Input
from chat_aio.schema.models import Conversation, OkResponse
from chat_aio.server.host import HostURL

log = logging.getLogger(__name__)

Action = Literal["read", "write"]

PAIRS = 100
"""Maximum number of questions of a request."""

AT_ONCE = 4
"""Batches under way at a time: the next one grows in the meantime."""

GATHER_SECONDS = 0.005
"""How long a batch waits for further questions: those of a list come one after the other."""

MOST_WAITING = 10_000
MOST_KEPT = 50_000

MOST_FORGOTTEN = 500
"""Maximum number of users and of conversations that one request names."""

FORGOTTEN = "permissions.forgotten"
"""The name under which the processes notify each other."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A question about a user and a conversation. With the role, so that after joining or leaving
    the host is asked again."""

    action: Action
    user_id: str
    conversation_id: str
    role: str | None


@dataclass(slots=True)
class Waiting:
    pair: Pair
    conversation: Conversation
    answer: asyncio.Future[bool | None]
    """None if the host has not answered."""


class HostPermissions:
    """Asks the host, in batches, and keeps its answers for `kept_seconds`. Service users are not
    asked about: for them the default rule is in force."""

    def __init__(
        self, url: HostURL, *, kept_seconds: float, is_service: Callable[[str], bool]
    ) -> None:
        self._url = url
        self._seconds = kept_seconds
        self._is_service = is_service
        self._kept: OrderedDict[Pair, tuple[float, bool]] = OrderedDict()
        self._asked: dict[Pair, Waiting] = {}
        self._queue: deque[Waiting] = deque()
        self._sending: set[asyncio.Task[None]] = set()

    async def can_create(self, asked: CreateContext) -> bool:
        """Never kept: each conversation is another question."""
        if self._is_service(asked.user_id):
            return True
        question = {
            "action": "create",
            "userId": asked.user_id,
            "kind": asked.kind,
            "userIds": list(asked.user_ids),
            "metadata": asked.metadata,
        }
        (allowed,) = await self._answers([question])
        return allowed

    async def can_read(self, asked: PermissionContext) -> bool:
        return await self._may("read", asked)

    async def can_write(self, asked: PermissionContext) -> bool:
        return await self._may("write", asked)

    def forget(self, user_ids: Collection[str], conversation_ids: Collection[str]) -> None:
        """Forget the answers about these users and conversations, also those under way."""

        users, conversations = frozenset(user_ids), frozenset(conversation_ids)

        def concerns(pair: Pair) -> bool:
            return pair.user_id in users or pair.conversation_id in conversations

        for kept in (self._kept, self._asked):
            for pair in [pair for pair in kept if concerns(pair)]:
                del kept[pair]

    async def _may(self, action: Action, asked: PermissionContext) -> bool:
        """Raises HostUnavailable."""
        if self._is_service(asked.user_id):
            return is_participant(asked)
        conversation = asked.conversation
        role = conversation.roles.get(asked.user_id)
        pair = Pair(action, asked.user_id, conversation.id, role)
        until, allowed = self._kept.get(pair, (0.0, False))
        if until > time.monotonic():
            return allowed
        if (waiting := self._asked.get(pair)) is None:
            waiting = self._enqueue(pair, conversation)
        # Not cancelled with its caller: others may wait for the same answer.
        await asyncio.wait({waiting.answer}, timeout=self._url.seconds)
        answer = waiting.answer.result() if waiting.answer.done() else None
        if answer is None:
            raise HostUnavailable
        return answer

    def _enqueue(self, pair: Pair, conversation: Conversation) -> Waiting:
        # The host is slower than the questions: an early 503 is better than a late one.
        if len(self._queue) >= MOST_WAITING:
            raise HostUnavailable
        waiting = Waiting(pair, conversation, asyncio.get_running_loop().create_future())
        self._asked[pair] = waiting
        self._queue.append(waiting)
        if len(self._sending) < AT_ONCE:
            sending = asyncio.create_task(self._send())
            self._sending.add(sending)
            sending.add_done_callback(self._sending.discard)
        return waiting

    async def _send(self) -> None:
        while self._queue:
            if len(self._queue) < PAIRS:
                await asyncio.sleep(GATHER_SECONDS)
            some = [self._queue.popleft() for _ in range(min(PAIRS, len(self._queue)))]
            if not some:  # Another batch has taken them in the meantime.
                return
            answers: list[bool] | list[None]
            try:
                answers = await self._answers([_question(waiting) for waiting in some])
            except HostUnavailable:
                answers = [None] * len(some)
            except Exception:  # The callers must not wait for a pair that is never answered.
                log.exception("the host could not be asked")
                answers = [None] * len(some)
            for waiting, allowed in zip(some, answers, strict=True):
                # Unless it was forgotten while the host was asked.
                if self._asked.get(waiting.pair) is waiting:
                    del self._asked[waiting.pair]
                    if allowed is not None:
                        self._keep(waiting.pair, allowed)
                waiting.answer.set_result(allowed)

    def _keep(self, pair: Pair, allowed: bool) -> None:
        self._kept[pair] = time.monotonic() + self._seconds, allowed
        # An answer that is renewed is the newest, wherever it was.
        self._kept.move_to_end(pair)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    async def _answers(self, questions: list[dict[str, Any]]) -> list[bool]:
        """Raises HostUnavailable."""
        answer = await self._url.ask({"type": "permissions", "questions": questions})
        allowed = answer.get("allowed")
        if (
            not isinstance(allowed, list)
            or len(allowed) != len(questions)
            or not all(isinstance(one, bool) for one in allowed)
        ):
            raise self._url.failed("allowed must be an array with true or false for each question")
        return allowed


def _question(waiting: Waiting) -> dict[str, Any]:
    conversation = waiting.conversation
    return {
        "action": waiting.pair.action,
        "userId": waiting.pair.user_id,
        "role": waiting.pair.role,
        "conversation": {
            "id": conversation.id,
            "type": conversation.type,
            "key": conversation.key,
            "metadata": conversation.metadata,
        },
    }


class Forgotten(Input):
    """The users and the conversations whose permissions have changed."""

    user_ids: Ids | None = None
    conversation_ids: Ids | None = None


class ForgetPermissions(Plugin):
    """`POST /permissions/forget`, for service users: all processes ask the host again."""

    def __init__(self, permissions: HostPermissions, is_service: Callable[[str], bool]) -> None:
        self._permissions = permissions
        self._is_service = is_service
        self.routes = (
            PluginRoute(
                method="POST",
                path="/permissions/forget",
                handler=self._forget,
                request_model=Forgotten,
                response_model=OkResponse,
                errors=(InvalidInput, NotFound),
            ),
        )

    def process_notified(self, name: str, data: Mapping[str, Any]) -> None:
        if name == FORGOTTEN:
            self._permissions.forget(data["userIds"], data["conversationIds"])

    async def _forget(self, request: PluginRequest) -> Mapping[str, object]:
        """Make all processes ask the host again about these users and conversations. Raises
        InvalidInput, and NotFound for users who are no service users."""
        # 404 and not 403: for users there is no such route.
        if not self._is_service(request.user_id):
            raise NotFound
        given = request.read(Forgotten)
        user_ids, conversation_ids = given.user_ids or [], given.conversation_ids or []
        if not user_ids and not conversation_ids:
            raise InvalidInput("userIds and conversationIds are missing: give at least one")
        if max(len(user_ids), len(conversation_ids)) > MOST_FORGOTTEN:
            raise InvalidInput(f"userIds and conversationIds: at most {MOST_FORGOTTEN} each")
        # Here at once: the caller's next request may come to this process.
        self._permissions.forget(user_ids, conversation_ids)
        data = {"userIds": user_ids, "conversationIds": conversation_ids}
        await self.api.notify_processes(FORGOTTEN, data)
        return {"ok": True}
