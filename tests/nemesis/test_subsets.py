"""Schedules with several faults at once: pure, with a free leg, each kind, and quiet time."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.errors import UsageError
from kraftproof.nemesis.schedule import (
    HEALED_SHARE,
    LEAD_NS,
    QUIET_SHARE,
    SECOND_NS,
    busy_windows,
    quiet_windows,
)
from kraftproof.nemesis.subsets import subsets
from kraftproof.options import RunOptions
from kraftproof.run.planning import plan

NAMES = ("kill", "pause", "partition", "restart")
NODES = ClusterOptions(nodes=nodes_of(controller=3, broker=3), seed=0, directory=Path()).nodes


def in_force(schedule, at_ns):
    return [one for one in schedule if one.at_ns <= at_ns < one.until_ns]


@given(seed=st.integers(0, 10_000), at_once=st.integers(2, 4))
def test_a_leg_has_different_faults_and_one_leg_has_none(seed, at_once):
    limit_ns = 120 * SECOND_NS
    schedule = subsets(NAMES, NODES, Random(seed), limit_ns, at_once=at_once)
    assert schedule == subsets(NAMES, NODES, Random(seed), limit_ns, at_once=at_once)
    for one in schedule:
        together = [other.kind for other in in_force(schedule, one.at_ns)]
        assert len(together) <= at_once
        assert max(Counter(together).values()) == 1
        assert one.until_ns <= (1 - HEALED_SHARE) * limit_ns
    assert min(Counter(one.kind for one in schedule).values()) >= 2
    quiet = quiet_windows(busy_windows(schedule), limit_ns)
    assert sum(stop - start for start, stop in quiet) >= QUIET_SHARE * limit_ns
    starts = [LEAD_NS, *(one.until_ns for one in schedule)]
    gaps = [min((o.at_ns for o in schedule if o.at_ns >= s), default=0) - s for s in starts]
    assert max(gaps) >= 5 * SECOND_NS


@given(seed=st.integers(0, 10_000))
def test_no_fault_of_a_leg_has_a_node_that_another_ends(seed):
    names = ("cpu", "memory", "taken-port", "clock")
    schedule = subsets(names, NODES, Random(seed), 120 * SECOND_NS, at_once=3)
    assert {one.kind for one in schedule} == set(names)
    shared = [
        {one.kind, other.kind}
        for one in schedule
        for other in in_force(schedule, one.at_ns)
        if other is not one and one.fault.targets == other.fault.targets
    ]
    assert [kinds for kinds in shared if kinds != {"cpu", "clock"}] == []


def test_faults_of_a_leg_that_end_no_process_may_have_the_same_node():
    def is_shared(seed):
        schedule = subsets(("cpu", "clock"), NODES, Random(seed), 60 * SECOND_NS, at_once=2)
        return any(
            one.fault.targets == other.fault.targets
            for one in schedule
            for other in in_force(schedule, one.at_ns)
            if one is not other
        )

    assert any(map(is_shared, range(20)))


def test_faults_do_run_at_the_same_time():
    schedule = subsets(NAMES, NODES, Random(3), 120 * SECOND_NS, at_once=3)
    assert max(len(in_force(schedule, one.at_ns)) for one in schedule) == 3


def test_a_plan_draws_subsets_only_where_asked(tmp_path):
    options = {"nemeses": NAMES, "time_limit_s": 120, "store": tmp_path}
    single, several = plan(RunOptions(**options)), plan(RunOptions(**options, at_once=3))
    assert max(len(in_force(single, one.at_ns)) for one in single) == 1
    assert max(len(in_force(several, one.at_ns)) for one in several) > 1
    with pytest.raises(UsageError, match="--at-once 0: 1 to 8 is expected"):
        RunOptions(at_once=0)
