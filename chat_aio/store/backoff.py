"""Back-off: how long a writer waits before it tries again.

The driver's own back-off gave tails of seconds (decision 0002).
"""

import random


def jitter(tries: int) -> float:
    """Seconds to wait before try number `tries + 1`: a few milliseconds, growing slowly."""
    return random.uniform(0.0005, 0.002 * min(tries, 8))


def turn(tries: int) -> float:
    """Seconds to wait after losing a conversation to another process: a few batches long at first,
    and shorter with every try, so that the writer with most losses gets the conversation first."""
    return random.uniform(0.001, max(0.002, 0.024 / tries))
