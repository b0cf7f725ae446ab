"""Coalesces concurrent calls: those that arrive during a round share the next one."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from functools import partial
from typing import Generic, TypeVar

from chat_aio.store.calls import retrieve

Q = TypeVar("Q")
A = TypeVar("A")
Answer = Callable[[Sequence[Q]], Awaitable[Sequence[A | Exception]]]


class Coalescer(Generic[Q, A]):
    """`answer` takes up to `most` questions and returns their answers in the same order.

    A question is answered by a round that starts after it was put, so never with older data. A
    round runs without the budget of any caller. An answer that is an exception is raised for its
    question; an exception that `answer` raises, for all questions of the round. After a round with
    several questions it rests for `rest` seconds, so that the next one has more of them. `idle` is
    called when no question is left.
    """

    def __init__(
        self,
        answer: Answer[Q, A],
        *,
        most: int,
        rest: float = 0.0,
        idle: Callable[[], object] | None = None,
    ) -> None:
        self._answer = answer
        self._idle = idle
        self._most = most
        self._rest = rest
        self._waiting: list[tuple[Q, asyncio.Future[A]]] = []
        self.round: asyncio.Task[None] | None = None

    async def ask(self, question: Q) -> A:
        """Put one question and wait for the answer."""
        return await self.put(question)

    def put(self, question: Q) -> asyncio.Future[A]:
        """Put one question; returns a future of the answer."""
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        if self.round is None:
            # An empty context: the budget of the first caller must not bound the others' round.
            self.round = asyncio.create_task(self._go_round(), context=Context())
        return future

    def take_back(self, answer: asyncio.Future[A]) -> bool:
        """Withdraw a question, if no round has started with it; returns whether it was
        withdrawn."""
        kept = [waiter for waiter in self._waiting if waiter[1] is not answer]
        taken_back = len(kept) < len(self._waiting)
        self._waiting = kept
        return taken_back

    async def _go_round(self) -> None:
        try:
            while self._waiting:
                taken, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                # A caller that was cancelled in the queue needs no answer.
                asked = [waiter for waiter in taken if not waiter[1].done()]
                if not asked:
                    continue
                answers: Sequence[A | Exception]
                try:
                    answers = await self._answer([question for question, _ in asked])
                except Exception as error:
                    answers = [error] * len(asked)
                for (_, future), answer in zip(asked, answers, strict=True):
                    if future.done():  # Cancelled during the round.
                        continue
                    if isinstance(answer, Exception):
                        future.set_exception(answer)
                    else:
                        future.set_result(answer)
                if self._rest and len(asked) > 1:
                    await asyncio.sleep(self._rest)
        finally:
            self.round = None
            if self._idle is not None:
                self._idle()


class Coalescers(Generic[Q, A]):
    """A coalescer per key, such as a conversation, as long as it has questions."""

    def __init__(self, *, most: int, rest: float = 0.0) -> None:
        self._most = most
        self._rest = rest
        self._by_key: dict[str, Coalescer[Q, A]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._by_key

    def put(self, key: str, question: Q, *, answer: Answer[Q, A]) -> asyncio.Future[A]:
        """Put one question; returns a future of the answer. All questions of a key have the same
        `answer`."""
        if key not in self._by_key:
            # Idle coalescers are dropped: there would be one for every conversation ever changed.
            drop = partial(self._by_key.pop, key)
            self._by_key[key] = Coalescer(answer, most=self._most, rest=self._rest, idle=drop)
        future = self._by_key[key].put(question)
        future.add_done_callback(retrieve)  # Nobody may wait for it any more.
        return future

    def take_back(self, key: str, answer: asyncio.Future[A]) -> bool:
        """Withdraw a question, if no round has started with it; returns whether it was
        withdrawn."""
        return key in self._by_key and self._by_key[key].take_back(answer)

    async def close(self, *, seconds: float) -> None:
        """Wait up to `seconds` for the rounds in progress."""
        rounds = {waiter.round for waiter in self._by_key.values() if waiter.round}
        if rounds:
            await asyncio.wait(rounds, timeout=seconds)
