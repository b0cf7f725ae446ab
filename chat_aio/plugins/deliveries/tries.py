"""Failed deliveries: when they are tried again, and when they are given up."""

import logging
import random
from dataclasses import dataclass
from datetime import datetime, timedelta

log = logging.getLogger(__name__)

LONGEST_BACK_OFF = 3_600.0
ERROR_LENGTH = 200
TOO_OLD = timedelta(days=1)
"""A delivery that fails is given up at this age, whatever its number of tries."""

DEAD_FOR = timedelta(days=30)
"""For how long dead letters are kept."""


class DeliveryFailed(Exception):
    """A delivery failed and will be tried again; the text is for operators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tries:
    """How often a delivery is tried, at first again after `back_off` seconds, and then after twice
    as long each time."""

    most: int
    back_off: float

    def next_try(self, tries: int, *, due: datetime, now: datetime) -> datetime | None:
        """When a delivery is tried again that has failed as often; None if it is given up."""
        if tries >= self.most or now - due > TOO_OLD:
            return None
        # Spread by a fifth: deliveries that failed together are not tried again together.
        seconds = min(self.back_off * 2 ** (tries - 1), LONGEST_BACK_OFF)
        return now + timedelta(seconds=seconds * random.uniform(0.8, 1.2))


def error_text(error: BaseException) -> str:
    """The error for operators. Of an unknown one only its name: its text may quote a message."""
    if isinstance(error, DeliveryFailed):
        return str(error)[:ERROR_LENGTH]
    log.warning("a delivery failed", exc_info=error)
    return type(error).__name__
