"""Draw the random times of elections (KIP-595 "Gridlocked Elections"; 595-14)."""

from random import Random

from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.raft.peer_retries import LARGEST_DOUBLING

FIRST_BACKOFF_FRACTION = 4
"""Divisor of election.backoff.max.ms for the bound of the first retry; the bound doubles each
retry."""
TIMEOUT_SPREAD_FRACTION = 2
"""Divisor of election.backoff.max.ms for the random part of a follower's fetch time-out.

All followers lose a leader at the same moment. A wide spread makes split votes rare, since two
candidacies rarely fall within one round trip and fsync; the first candidate also waits longer.
"""


def election_timeout_ns(timeouts: Timeouts, random: Random) -> int:
    """Return the election time-out, prolonged by a random part of at most the same length."""
    return timeouts.election_ns + random.randint(0, timeouts.election_ns)


def fetch_timeout_ns(timeouts: Timeouts, random: Random) -> int:
    """Return the time after which a follower without a successful Fetch becomes a candidate."""
    spread_ns = timeouts.election_backoff_max_ns // TIMEOUT_SPREAD_FRACTION
    return timeouts.fetch_ns + random.randint(0, spread_ns)


def election_backoff_ns(timeouts: Timeouts, random: Random, elections_lost: int) -> int:
    """Return a random wait before the next election; its bound doubles each retry (595-14)."""
    longest_ns = timeouts.election_backoff_max_ns
    first_ns = longest_ns // FIRST_BACKOFF_FRACTION
    doublings = min(max(0, elections_lost - 1), LARGEST_DOUBLING)
    bound_ns = min(longest_ns, first_ns << doublings)
    return random.randint(0, bound_ns)
