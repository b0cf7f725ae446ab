"""The rows of the route table, and how a request to each is handled."""

from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from re import findall
from typing import Any, ClassVar, Literal, get_type_hints

from aiohttp import web

from chat_aio.actions.answers import ConversationList, MessageList
from chat_aio.actions.bans import require_unbanned
from chat_aio.actions.conversations import Opened
from chat_aio.actions.idempotency import Sent
from chat_aio.actions.rate_limits import Kind
from chat_aio.errors import ChatError, InvalidInput
from chat_aio.schema.fields import MAX_PARTICIPANTS
from chat_aio.schema.inputs import Input
from chat_aio.schema.models import ConversationWithUnread, Message
from chat_aio.schema.wire import Wire
from chat_aio.store.time_slices import Turns
from chat_aio.web.app_keys import CONTEXT, USER_ID
from chat_aio.web.quotas import give_back, spend
from chat_aio.web.replies import reply, reply_json, reply_page, reply_rows, reply_shape
from chat_aio.web.request_body import read_object

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Action = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Operation:
    """A route that an action answers: parse, call, reply.

    The action gets the path's parameters in their order, then the fields of `query` and `body` by
    name. Its result is put under `envelope`, or is the whole answer without one; None becomes
    `{"ok": true}`. `like` is the server API's method for this route if it is not the action itself.
    `quota` is the quota that a request uses, besides that of requests. `errors` are what the action
    refuses, except InvalidInput, which every route with a `query` or `body` may answer.
    """

    method: Method
    path: str
    action: Action
    _: KW_ONLY
    query: type[Input] | None = None
    body: type[Input] | None = None
    body_optional: bool = False
    envelope: str | None = None
    status: int = 200
    like: Action | None = None
    quota: Kind | None = None
    errors: tuple[type[ChatError], ...] = ()
    counts_itself: ClassVar[bool] = False

    @cached_property
    def documented(self) -> Action:
        """The function whose name, docstring and types describe this operation."""
        return self.like or self.action

    @property
    def answer_type(self) -> Any:
        """The type of the result."""
        return get_type_hints(self.documented)["return"]

    @cached_property
    def places(self) -> tuple[str, ...]:
        """The names of the path's parameters."""
        return tuple(findall(r"\{(\w+)\}", self.path))

    async def handle(self, request: web.Request) -> web.StreamResponse:
        context, user_id = request.app[CONTEXT], request[USER_ID]
        # Before the body is read: refused requests count (specification 1.12).
        if self.quota is not None:
            await spend(request, self.quota)
        try:
            given = await self.read(request)
        except ChatError:
            # It never reaches the action, but counts in its rate limit all the same.
            await context.rate_limits.count(user_id, self.documented.__name__)
            raise
        if self.body is not None:  # The user may have been banned while it was read.
            await require_unbanned(context, user_id)
        people = given.get("user_ids") or given.get("participants")
        if isinstance(people, list | dict):
            different = len({name for name in people if isinstance(name, str)})
            # The action refuses more.
            await spend(request, "people", min(different, MAX_PARTICIPANTS))
        places = [request.match_info[place] for place in self.places]
        if self.counts_itself:
            answer = await self.action(context, user_id, *places, **given)
        else:
            async with context.rate_limits.counting(user_id, self.documented.__name__):
                answer = await self.action(context, user_id, *places, **given)
        if self.quota is not None and not self.is_new(answer):
            give_back(request, self.quota)
        return await self.reply(answer, context.database.turns)

    def is_new(self, answer: Any) -> bool:
        """Whether something was made. If it existed already, the quota is given back."""
        return True

    async def read(self, request: web.Request) -> dict[str, Any]:
        """The action's arguments by name, not yet checked."""
        given = self.query.arguments(request.query) if self.query else {}
        if self.body is not None:
            context = request.app[CONTEXT]
            found = await read_object(
                request,
                limit=context.options.max_body_bytes,
                turns=context.database.turns,
                optional=self.body_optional,
            )
            given |= self.body.arguments(found)
        return given

    async def reply(self, answer: Any, turns: Turns) -> web.Response:
        if answer is None:
            return reply(ok=True)
        if isinstance(answer, tuple):
            return await reply_rows(answer, turns, under=self.envelope or "")
        if self.envelope is not None:
            return reply(status=self.status, **{self.envelope: answer})
        shape: Wire = answer
        if "next_cursor" in type(shape).model_fields:
            return await reply_page(shape, turns)
        return reply_shape(shape)


class Listing(Operation):
    """An operation that lists stored documents, whose JSON is made without objects."""

    @property
    def answer_type(self) -> Any:
        return get_type_hints(super().answer_type.page)["return"]

    async def reply(self, answer: MessageList | ConversationList, turns: Turns) -> web.Response:
        return reply_json(await answer.json())


class IdempotentOperation(Operation):
    """An operation that stores a message once per idempotency key: 201 the first time, 200 for a
    repetition."""

    counts_itself = True

    async def read(self, request: web.Request) -> dict[str, Any]:
        """The key may be in the body or in the `Idempotency-Key` header."""
        given = await super().read(request)
        header, field = request.headers.get("Idempotency-Key"), given["client_message_id"]
        if header is not None and field is not None and header != field:
            raise InvalidInput("clientMessageId must be the same as the Idempotency-Key header")
        return {**given, "client_message_id": header if field is None else field}

    @property
    def answer_type(self) -> Any:
        return Message

    def is_new(self, answer: Sent) -> bool:
        return not answer.repeated

    async def reply(self, answer: Sent, turns: Turns) -> web.Response:
        body = b'{"message":%b}' % answer.json()
        return reply_json(body, status=200 if answer.repeated else 201)


class Opening(Operation):
    """An operation that makes a conversation unless it exists: a direct one for a pair of users, a
    group for a key. `status` is the answer's if it was made."""

    @property
    def answer_type(self) -> Any:
        return ConversationWithUnread

    def is_new(self, answer: Opened) -> bool:
        return answer.is_new

    async def reply(self, answer: Opened, turns: Turns) -> web.Response:
        status = self.status if answer.is_new else 200
        return reply(status=status, conversation=answer.conversation)


@dataclass(frozen=True)
class Streaming:
    """The route of the live stream, whose response lasts as long as the client stays."""

    method: Method
    path: str
    handle: Callable[[web.Request], Awaitable[web.StreamResponse]]
    errors: tuple[type[ChatError], ...] = ()
    query: type[Input] | None = None
