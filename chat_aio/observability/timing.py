"""Times calls of MongoDB and of the host's hooks, for observers."""

import inspect
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, TypeVar, get_args

from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import Call, Hook, Observer

H = TypeVar("H")
"""The dataclass of a host's hooks, which stands on a higher floor."""


def database_timer(observers: Sequence[Observer]) -> Callable[[float, bool], None]:
    """A `Calls.on_ended` that reports calls of MongoDB to the observers."""

    def ended(seconds: float, failed: bool) -> None:
        notify(observers, Observer.database_called, Call(seconds=seconds, failed=failed))

    return ended


def timed_hooks(hooks: H, observers: Sequence[Observer]) -> H:
    """The same hooks, with each call reported to the observers."""
    given = {name: getattr(hooks, name, None) for name in get_args(Hook)}
    timed = {name: timed_hook(name, hook, observers) for name, hook in given.items() if hook}
    made: H = replace(hooks, **timed)  # type: ignore[type-var]
    return made


def timed_hook(
    name: Hook, hook: Callable[[Any], Any], observers: Sequence[Observer]
) -> Callable[[Any], Any]:
    """A hook, sync or async, with each call reported to the observers."""

    @wraps(hook)
    def call(argument: Any) -> Any:
        timer = _Timer(name, observers, time.monotonic())
        try:
            answer = hook(argument)
        # Cancelled calls count as failed, too: the host's hook has not answered.
        except BaseException:
            timer.stop(failed=True)
            raise
        # By its answer, not by its kind: a sync function may return a coroutine.
        if inspect.isawaitable(answer):
            return _awaited(answer, timer)
        timer.stop(failed=False)
        return answer

    return call


@dataclass(frozen=True, slots=True)
class _Timer:
    hook: Hook
    observers: Sequence[Observer]
    began: float

    def stop(self, *, failed: bool) -> None:
        call = Call(seconds=time.monotonic() - self.began, failed=failed)
        notify(self.observers, Observer.hook_called, self.hook, call)


async def _awaited(answer: Awaitable[Any], timer: _Timer) -> Any:
    try:
        result = await answer
    except BaseException:
        timer.stop(failed=True)
        raise
    timer.stop(failed=False)
    return result
