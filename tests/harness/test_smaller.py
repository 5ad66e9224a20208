"""Smaller runs: each kind of step makes less of a run, keeps it possible, and comes to an end."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kraftproof.scenario import Scenario, scenario
from kraftproof.smaller import (
    ROUNDING_NS,
    Size,
    fewer_clients,
    fewer_nodes,
    moved_forward,
    simpler,
    until,
)
from nemesis.schedule import SECOND_NS

SEEDS = st.integers(0, 5_000)


def drawn(seed: int) -> Scenario:
    return scenario(seed, Path("store"))


def named(one: Scenario) -> set[int]:
    return {n for fault in one.schedule for n in fault.fault.targets if isinstance(n, int)}


@given(seed=SEEDS, limit_s=st.floats(1, 60))
def test_less_time_keeps_the_faults_that_come_before(seed, limit_s):
    whole = drawn(seed)
    cut = until(whole, limit_s)
    assert cut.options.time_limit_s == limit_s
    assert set(cut.schedule) == {f for f in whole.schedule if f.at_ns < int(limit_s * SECOND_NS)}


@given(seed=SEEDS, data=st.data())
def test_faults_move_forward_together(seed, data):
    whole = drawn(seed)
    count = data.draw(st.integers(1, len(whole.schedule)))
    moved = moved_forward(whole, whole.schedule[-count:], whole.options.time_limit_s)
    faults = [(one.fault, one.until_ns - one.at_ns) for one in moved.schedule]
    assert faults == [(one.fault, one.until_ns - one.at_ns) for one in whole.schedule[-count:]]
    assert min(one.at_ns for one in moved.schedule) <= SECOND_NS // 2
    assert 1 <= moved.options.time_limit_s <= whole.options.time_limit_s


@given(SEEDS)
def test_fewer_nodes_are_there_for_every_fault(seed):
    whole = drawn(seed)
    before = whole.options.controllers + whole.options.brokers
    for smaller in fewer_nodes(whole):
        nodes = smaller.options.controllers + smaller.options.brokers
        assert nodes < before
        assert smaller.schedule == whole.schedule
        assert max(named(smaller), default=0) <= nodes


@given(SEEDS)
def test_fewer_clients_ask_less(seed):
    whole = drawn(seed)
    for smaller in fewer_clients(whole):
        asked = (smaller.options.concurrency, smaller.options.rate)
        assert asked != (whole.options.concurrency, whole.options.rate)
        assert asked[0] <= whole.options.concurrency
        assert asked[1] <= whole.options.rate


@given(seed=SEEDS, data=st.data())
def test_a_fault_gets_shorter_and_rounder_until_nothing_is_left_to_do(seed, data):
    """Whichever of the simpler ones fails: shrinking goes on from that one, and ends."""
    one = drawn(seed)
    place = data.draw(st.integers(0, len(one.schedule) - 1))
    for _ in range(40):
        candidates = list(simpler(place, one))
        if not candidates:
            break
        chosen = data.draw(st.sampled_from(candidates))
        before, after = one.schedule[place], chosen.schedule[place]
        assert after.fault == before.fault
        assert after.until_ns > after.at_ns >= 0
        assert after.until_ns - after.at_ns < before.until_ns - before.at_ns + ROUNDING_NS
        one = chosen
    assert not list(simpler(place, one)), "it never ends"
    assert (one.schedule[place].until_ns - one.schedule[place].at_ns) == ROUNDING_NS


def size(**changes: float) -> Size:
    values = {"faults": 3, "operations": 5, "simulated_s": 4.0, "events": 100, "nodes": 6}
    return Size(**{**values, **changes})


def test_no_part_of_a_smaller_run_is_larger_but_for_a_moment():
    assert not size().exceeds(size())
    assert not size(faults=2, simulated_s=4.4, events=200).exceeds(size())
    for larger in ({"faults": 4}, {"operations": 6}, {"nodes": 7}, {"simulated_s": 4.6}):
        assert size(**larger).exceeds(size())
