"""Coalesced questions: each gets its own answer, and only a round of several is rested after."""

import asyncio
from collections.abc import Sequence

import pytest

from chat_aio.store.coalescer import Coalescers
from tests.support.people import PATIENCE

FOR_EVER = 1e6


class Rounds:
    """Answers with the question itself, or with an error if it is negative; notes each round."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    async def __call__(self, questions: Sequence[int]) -> Sequence[int | Exception]:
        self.asked.append([*questions])
        await asyncio.sleep(0)
        return [number if number >= 0 else ValueError(number) for number in questions]


async def some_turns() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


async def test_a_single_question_neither_rests_nor_waits() -> None:
    async with asyncio.timeout(PATIENCE):
        rounds, waiting = Rounds(), Coalescers[int, int](most=10, rest=FOR_EVER)
        for number in range(3):
            assert await waiting.put("a", number, answer=rounds) == number
        assert rounds.asked == [[0], [1], [2]]


async def test_after_several_questions_others_of_the_key_gather() -> None:
    async with asyncio.timeout(PATIENCE):
        rounds, waiting = Rounds(), Coalescers[int, int](most=10, rest=FOR_EVER)
        assert await asyncio.gather(*(waiting.put("a", n, answer=rounds) for n in (1, 2))) == [1, 2]
        third, fourth = (waiting.put("a", number, answer=rounds) for number in (3, 4))
        await some_turns()
        assert await waiting.put("b", 5, answer=rounds) == 5
        assert rounds.asked == [[1, 2], [5]]
        assert waiting.take_back("a", third)
        assert not waiting.take_back("a", third)
        assert not fourth.done()
        # Closing waits for as long as it may.
        await waiting.close(seconds=0.01)
        assert not fourth.done()
        resting = waiting._by_key["a"].round
        assert resting is not None
        resting.cancel()
        await asyncio.wait({resting})
        assert "a" not in waiting


async def test_closing_answers_what_came_during_a_rest() -> None:
    async with asyncio.timeout(PATIENCE):
        rounds, waiting = Rounds(), Coalescers[int, int](most=10, rest=0.02)
        await asyncio.gather(*(waiting.put("a", number, answer=rounds) for number in (1, 2)))
        late = [waiting.put("a", number, answer=rounds) for number in (3, 4)]
        await waiting.close(seconds=PATIENCE)
        assert [future.result() for future in late] == [3, 4]
        assert "a" not in waiting


async def test_a_storm_of_questions_with_rests() -> None:
    """Each gets its own answer or error, none is lost while its key rests or is dropped."""
    async with asyncio.timeout(PATIENCE):
        rounds, waiting = Rounds(), Coalescers[int, int](most=7, rest=0.001)

        async def caller(number: int) -> None:
            for turn in range(1, 6):
                question = number * 10 + turn
                future = waiting.put(f"key {number % 5}", question, answer=rounds)
                if number % 3 == 0:
                    future.cancel()
                    continue
                assert await future == question
                with pytest.raises(ValueError, match=f"^-{question}$"):
                    await waiting.put(f"key {number % 5}", -question, answer=rounds)

        await asyncio.gather(*map(caller, range(200)))
        await waiting.close(seconds=PATIENCE)
        assert not waiting._by_key
        assert max(map(len, rounds.asked)) == 7
