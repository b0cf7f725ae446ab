"""Questions that come while others are being answered wait, and are then answered together."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


class Gathering(Generic[Q, A]):
    """`answer` gets at most `most` questions and gives their answers in the same order.

    Each question is answered by a round that began after it was asked, without deadlines of who
    asked. What `answer` raises, everyone in its round gets.
    """

    def __init__(
        self, answer: Callable[[Sequence[Q]], Awaitable[Sequence[A]]], *, most: int
    ) -> None:
        self._answer = answer
        self._most = most
        self._waiting: list[tuple[Q, asyncio.Future[A]]] = []
        self._round: asyncio.Task[None] | None = None

    async def ask(self, question: Q) -> A:
        """The answer to one question."""
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        if self._round is None:
            self._round = asyncio.create_task(self._go_round(), context=Context())
        return await future

    async def _go_round(self) -> None:
        try:
            while self._waiting:
                taken, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                if asked := [each for each in taken if not each[1].done()]:
                    await self._settle(asked)
        finally:
            self._round = None

    async def _settle(self, asked: Sequence[tuple[Q, asyncio.Future[A]]]) -> None:
        try:
            answers = await self._answer([question for question, _ in asked])
        except Exception as error:
            for _, future in asked:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), answer in zip(asked, answers, strict=True):
            if not future.done():
                future.set_result(answer)
