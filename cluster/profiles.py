"""The profiles of time-outs by name: how soon a failure shows.

A system says how its nodes get there (for ours cluster/systems/reference/timeouts.py); the checks
need the two durations that are here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

SECOND_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Time that a system may take to notice and to mend a failure.

    Attributes:
        session_ns: How long a node that falls silent counts as alive.
        failover_ns: How long a new leader may take to answer.
    """

    session_ns: int
    failover_ns: int


PROFILES: Final[Mapping[str, Profile]] = {
    "chaos": Profile(session_ns=2 * SECOND_NS, failover_ns=5 * SECOND_NS),
    "default": Profile(session_ns=18 * SECOND_NS, failover_ns=15 * SECOND_NS),
}
"""`chaos` makes failures show within seconds; `default` is what the system itself has."""
