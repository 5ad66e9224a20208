"""A lease may be shorter by as much as a fault lets a monotonic clock run too quick, no more."""

import pytest

from kraftproof.cluster.simulated.invariants.brokers.leases import CurrentEpochsOnly
from tests.cluster.simulated.invariants.brokers.test_lease_invariants import (
    FENCES,
    SESSION_NS,
    Leasing,
    in_time,
    living,
)

RATE_ERROR = 0.05


@pytest.mark.parametrize(("part", "is_early"), [(0.951, False), (0.949, True)])
def test_a_new_incarnation_after_a_session_by_a_quick_clock(part, is_early):
    leasing = Leasing(CurrentEpochsOnly, living)
    leasing.harness.monitor.rate_error = RATE_ERROR
    leasing.heartbeat(0)
    leasing.harness.now_ns += int(SESSION_NS * part)
    leasing.register(9, b"c")
    assert bool(leasing.reported) == is_early


@pytest.mark.parametrize(("part", "is_early"), [(0.951, False), (0.949, True)])
def test_a_fencing_after_a_session_by_a_quick_clock(part, is_early):
    leasing = Leasing(in_time)
    leasing.harness.monitor.rate_error = RATE_ERROR
    leasing.heartbeat(0)
    leasing.harness.now_ns += int(SESSION_NS * part)
    leasing.process.appends(FENCES)
    assert bool(leasing.reported) == is_early
