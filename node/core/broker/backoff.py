"""Compute the wait before a retry: doubled up to a maximum, with a random part."""

from typing import TYPE_CHECKING, Final

from kraftproof.node.core.base.config import Timeouts

if TYPE_CHECKING:
    from random import Random

_MOST_DOUBLINGS: Final = 16


def backoff_ns(timeouts: Timeouts, failures: int, random: "Random") -> int:
    """Return the wait after a number of consecutive failures; the random part is at most half."""
    doubled = timeouts.retry_backoff_ns << min(failures, _MOST_DOUBLINGS)
    bound = max(min(doubled, timeouts.retry_backoff_max_ns), 2)
    return bound // 2 + random.randrange(bound // 2)
