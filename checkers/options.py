"""Options of a check: limits of one key's search, and the bounds of leases.

Values only. The bounds follow KIP-631, "Broker Leases": sessions are timed by a monotonic clock, so
that a wall-clock fault widens nothing here.
"""

from typing import Final

import msgspec

from kraftproof.checkers.history.faults import FaultSpan
from kraftproof.checkers.stated import InitialValues

MILLISECOND_NS: Final = 1_000_000


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits for each key; beyond a limit, the verdict on the key is unknown."""

    seconds: float = 30.0
    memory_bytes: int = 1_000_000_000


class LeaseBounds(msgspec.Struct, frozen=True, kw_only=True):
    """The session time-out of a broker, and the uncertainty of an observation.

    Attributes:
        session_ns: broker.session.timeout.ms.
        failover_ns: how long a new active controller may take to answer.
        measurement_ns: the harness's own error in telling when an operation began and ended.
        rate_error: how much faster or slower a monotonic clock was made to run, as a fraction.
        disturbed: when faults were in force, as (start, end) in the history's time.
    """

    session_ns: int = 9_000 * MILLISECOND_NS
    failover_ns: int = 5_000 * MILLISECOND_NS
    measurement_ns: int = 1 * MILLISECOND_NS
    rate_error: float = 0.0
    disturbed: tuple[tuple[int, int], ...] = ()


class CheckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a check.

    Attributes: limits: the limits for each key.
        leases: the bounds of leases.
        processes: how many cores the keys of one history may use.
        faults: when each fault of the run was in force; None for a history that is no run.
        is_keyed: whether each value is [key, value]; None to infer the form from the values.
        initial: the initial values of the system; None if unstated.
        guarantees: what the system declares, by function; empty for a strict judgement.
        leader_changes: when another node began to lead, as (not before, not after).
    """

    limits: Limits = Limits()
    leases: LeaseBounds = LeaseBounds()
    processes: int = 1
    faults: tuple[FaultSpan, ...] | None = None
    is_keyed: bool | None = None
    initial: InitialValues | None = None
    guarantees: dict[str, str] = {}
    leader_changes: tuple[tuple[int, int], ...] = ()
