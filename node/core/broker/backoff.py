"""How long to wait before trying again: doubling, bounded, and never in step with others."""

from typing import TYPE_CHECKING, Final

from kraftproof.node.core.base.config import Timeouts

if TYPE_CHECKING:
    from random import Random

_MOST_DOUBLINGS: Final = 16


def backoff_ns(timeouts: Timeouts, failures: int, random: "Random") -> int:
    """The pause after this many failures in a row, at least half of it sure."""
    doubled = timeouts.retry_backoff_ns << min(failures, _MOST_DOUBLINGS)
    bound = max(min(doubled, timeouts.retry_backoff_max_ns), 2)
    return bound // 2 + random.randrange(bound // 2)
