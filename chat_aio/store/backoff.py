"""How long a writer waits before it tries again."""

import random


def jitter(tries: int) -> float:
    """Seconds to wait before try number `tries + 1`: a few milliseconds, growing slowly."""
    return random.uniform(0.0005, 0.002 * min(tries, 8))


def turn(tries: int) -> float:
    """Seconds to wait for one's turn at a conversation: a few flights of others at first, and less
    each time, so that whoever has lost often comes before those who have just begun."""
    return random.uniform(0.001, max(0.002, 0.024 / tries))
