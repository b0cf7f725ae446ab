"""Notifies the observers of every chat that is open in this process, each once, of what is not
known of a single chat."""

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec

from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import Observer

P = ParamSpec("P")

_open: list[Sequence[Observer]] = []


def add(observers: Sequence[Observer]) -> None:
    """A chat is open."""
    _open.append(observers)


def remove(observers: Sequence[Observer]) -> None:
    """A chat is closing."""
    _open.remove(observers)


def notify_all(
    event: Callable[Concatenate[Any, P], None], *said: P.args, **named: P.kwargs
) -> None:
    """Call a method of each observer; one that several chats share is called once."""
    each_once = {id(observer): observer for observers in _open for observer in observers}
    notify(each_once.values(), event, *said, **named)
