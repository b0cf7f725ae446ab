"""How plugins and observers hear of something."""

import logging
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec

log = logging.getLogger(__name__)

P = ParamSpec("P")


def notify(
    listeners: Iterable[object],
    event: Callable[Concatenate[Any, P], None],
    *said: P.args,
    **named: P.kwargs,
) -> None:
    """Call a method of each, such as `Plugin.stream_opened`; one that fails does no harm to the
    rest."""
    for listener in listeners:
        try:
            getattr(listener, event.__name__)(*said, **named)
        except Exception:
            log.exception("%s failed in %s", type(listener).__name__, event.__name__)
