"""Coalesces concurrent calls: those that arrive during a round share the next one."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


class Coalescer(Generic[Q, A]):
    """`answer` gets up to `most` questions and returns their answers in the same order.

    A question is answered by a round that begins after it was asked, so never with older data. A
    round runs without the budget of any caller. An answer that is an exception is raised for its
    question; an exception that `answer` raises, for all questions of the round.
    """

    def __init__(
        self, answer: Callable[[Sequence[Q]], Awaitable[Sequence[A | Exception]]], *, most: int
    ) -> None:
        self._answer = answer
        self._most = most
        self._waiting: list[tuple[Q, asyncio.Future[A]]] = []
        self._round: asyncio.Task[None] | None = None

    @property
    def is_idle(self) -> bool:
        return self._round is None

    async def ask(self, question: Q) -> A:
        """Ask one question and wait for the answer."""
        return await self.put(question)

    def put(self, question: Q) -> asyncio.Future[A]:
        """Ask one question; returns a future of the answer."""
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        if self._round is None:
            # An empty context: the budget of the first caller must not bound the others' round.
            self._round = asyncio.create_task(self._go_round(), context=Context())
        return future

    def take_back(self, answer: asyncio.Future[A]) -> bool:
        """Withdraw a question, if no round has begun with it; returns whether that was so."""
        kept = [each for each in self._waiting if each[1] is not answer]
        taken_back = len(kept) < len(self._waiting)
        self._waiting = kept
        return taken_back

    async def _go_round(self) -> None:
        try:
            while self._waiting:
                taken, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                if asked := [each for each in taken if not each[1].done()]:
                    await self._answer_all(asked)
        finally:
            self._round = None

    async def _answer_all(self, asked: Sequence[tuple[Q, asyncio.Future[A]]]) -> None:
        answers: Sequence[A | Exception]
        try:
            answers = await self._answer([question for question, _ in asked])
        except Exception as error:
            answers = [error] * len(asked)
        for (_, future), answer in zip(asked, answers, strict=True):
            if future.done():
                continue
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)
