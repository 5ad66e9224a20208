"""Smaller runs: each kind of step makes less of a run, keeps it possible, and comes to an end."""

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kraftproof.checkers.verdict import RunVerdict, Verdict
from kraftproof.nemesis.fault import ACTIVE_CONTROLLER, Role
from kraftproof.nemesis.pause import Pause
from kraftproof.nemesis.schedule import SECOND_NS
from kraftproof.run.backends import Simulation
from kraftproof.run.directory import RunDirectory
from kraftproof.run.runner import RunResult
from kraftproof.search.scenario import Scenario, scenario
from kraftproof.search.seed_result import SeedResult
from kraftproof.search.smaller import (
    ROUNDING_NS,
    Size,
    fewer_clients,
    fewer_nodes,
    moved_forward,
    simpler,
    until,
)

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
    controllers, brokers = whole.options.controllers, whole.options.brokers
    found = list(fewer_nodes(whole))
    wanted = {
        (controllers, fewer)
        for fewer in range(1, brokers)
        if max(named(whole), default=0) <= controllers + fewer
    }
    if controllers > 3 and not named(whole):
        wanted.add((3, brokers))
    assert {(one.options.controllers, one.options.brokers) for one in found} == wanted
    assert len(found) == len(wanted)
    assert all(one.schedule == whole.schedule for one in found)


def test_of_five_controllers_and_four_brokers_are_left_those_that_a_fault_names():
    one = scenario(2, Path("store"), nodes=(5, 4))
    anyone = replace(one.schedule[0], fault=Pause(target=Role(name=ACTIVE_CONTROLLER)))
    seventh = replace(anyone, fault=Pause(target=7))
    assert nodes_left(replace(one, schedule=(anyone,))) == [(3, 4), (5, 1), (5, 2), (5, 3)]
    assert nodes_left(replace(one, schedule=(anyone, seventh))) == [(5, 2), (5, 3)]


def nodes_left(whole: Scenario) -> list[tuple[int, int]]:
    options = [smaller.options for smaller in fewer_nodes(whole)]
    return [(each.controllers, each.brokers) for each in options]


@given(SEEDS)
def test_fewer_clients_ask_less(seed):
    whole = drawn(seed)
    concurrency, rate = whole.options.concurrency, whole.options.rate
    wanted = [(fewer, rate) for fewer in (1, 2) if fewer < concurrency]
    wanted += [(concurrency, 20.0)] if rate > 20 else []
    found = [one.options for one in fewer_clients(whole)]
    assert [(one.concurrency, one.rate) for one in found] == wanted


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


def test_a_run_is_measured_by_its_schedule_its_verdict_and_its_simulation():
    one = drawn(7)
    nodes = one.options.controllers + one.options.brokers
    found = Size.of(measured(one, Simulation(events=90, simulated_ns=2_500_000_000, violations=())))
    count = len(one.schedule)
    assert found == size(faults=count, operations=11, simulated_s=2.5, events=90, nodes=nodes)
    unsimulated = Size.of(measured(one, None))
    assert unsimulated == replace(found, simulated_s=0.0, events=0)


def measured(one: Scenario, simulation: Simulation | None) -> SeedResult:
    check = RunVerdict(history="h", model="m", verdict=Verdict.VALID, seconds=0, operations=11)
    directory = RunDirectory(path=Path("store"))
    result = RunResult(directory=directory, check=check, run=None, simulation=simulation)
    return SeedResult(seed=7, scenario=one, result=result, cpu_s=0.0)


def test_a_size_is_one_line():
    told = "  3 faults     5 operations  6 nodes     4.0 simulated s     100 events"
    assert size().describe() == told


def size(**changes: float) -> Size:
    values = {"faults": 3, "operations": 5, "simulated_s": 4.0, "events": 100, "nodes": 6}
    return Size(**{**values, **changes})


def test_no_part_of_a_smaller_run_is_larger_but_for_a_moment():
    assert not size().exceeds(size())
    assert not size(faults=2, simulated_s=4.4, events=200).exceeds(size())
    for larger in ({"faults": 4}, {"operations": 6}, {"nodes": 7}, {"simulated_s": 4.6}):
        assert size(**larger).exceeds(size())
