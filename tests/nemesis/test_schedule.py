"""Schedules are pure, keep their quiet windows and end healed."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftproof.cluster.protocol import ClusterOptions, Link, NodeInfo, nodes_of
from kraftproof.nemesis.catalogue import nemesis_names, planner
from kraftproof.nemesis.fault import ACTIVE_CONTROLLER, STANDBY_CONTROLLER, Role
from kraftproof.nemesis.partition import Cut, between, bridge, halves, isolation, majorities_ring
from kraftproof.nemesis.scenarios.catalogue import scenarios_of
from kraftproof.nemesis.scenarios.elections import late_rival
from kraftproof.nemesis.schedule import (
    HEALED_SHARE,
    QUIET_SHARE,
    SECOND_NS,
    Scheduled,
    busy_windows,
    dense,
    quiet_windows,
    spaced,
)

ALL = tuple(nemesis_names())


def nodes(controllers: int = 3, brokers: int = 3) -> tuple[NodeInfo, ...]:
    options = ClusterOptions(
        nodes=nodes_of(controller=controllers, broker=brokers), seed=0, directory=None
    )
    return options.nodes


@pytest.mark.parametrize("draw", [spaced, dense])
def test_the_same_seed_draws_the_same_schedule(draw):
    first = draw(ALL, nodes(), Random("x"), 60 * SECOND_NS)
    again = draw(ALL, nodes(), Random("x"), 60 * SECOND_NS)
    other = draw(ALL, nodes(), Random("y"), 60 * SECOND_NS)
    assert first == again
    assert first != other


@given(st.randoms(use_true_random=False), st.sampled_from([(3, 0), (3, 3), (5, 3)]))
def test_every_partition_cuts_the_active_controller_off_from_somebody(random, size):
    everybody = nodes(*size)
    controllers = [node.node_id for node in everybody if node.has("controller")]
    active = random.choice(controllers)
    standbys = tuple(one for one in controllers if one != active)
    roles = {ACTIVE_CONTROLLER: (active,), STANDBY_CONTROLLER: standbys}
    cut = planner("partition")(random, everybody).resolved(roles, everybody)
    assert any(active in link for link in cut.links)
    assert {end for link in cut.links for end in link} <= {node.node_id for node in everybody}


@pytest.mark.parametrize("limit_s", [30, 60, 120, 300])
@pytest.mark.parametrize(
    "names", [("kill",), ("kill", "pause"), ("kill", "partition", "clock", "pause")]
)
def test_spaced_schedules_are_quiet_enough_and_end_healed(names, limit_s):
    limit_ns = limit_s * SECOND_NS
    schedule = spaced(names, nodes(), Random(7), limit_ns)
    quiet = quiet_windows(busy_windows(schedule), limit_ns)
    assert {one.kind for one in schedule} == set(names)
    assert all(one.until_ns <= (1 - HEALED_SHARE) * limit_ns for one in schedule)
    if len(schedule) > len(names):
        assert sum(stop - start for start, stop in quiet) >= QUIET_SHARE * limit_ns


def test_two_minutes_have_every_kind_at_least_three_times():
    names = ("kill", "partition", "clock", "pause")
    schedule = spaced(names, nodes(), Random(7), 120 * SECOND_NS)
    kinds = [one.fault.kind for one in schedule]
    assert all(kinds.count(name) >= 3 for name in names)


def test_half_a_minute_of_two_kinds_has_each_twice():
    schedule = spaced(("kill", "pause"), nodes(), Random(0), 30 * SECOND_NS)
    kinds = [one.fault.kind for one in schedule]
    assert kinds.count("kill") >= 2
    assert kinds.count("pause") >= 2


@given(seed=st.integers(0, 10_000), controllers=st.integers(1, 5), brokers=st.integers(1, 4))
def test_dense_schedules_are_healed_in_the_last_fifth(seed, controllers, brokers):
    schedule = dense(ALL, nodes(controllers, brokers), Random(seed), 20 * SECOND_NS)
    assert all(0 <= one.at_ns < one.until_ns <= 16 * SECOND_NS for one in schedule)
    assert len({one.name for one in schedule}) == len(schedule)


def test_scenarios_need_all_their_nemeses():
    assert scenarios_of((), nodes()) == ()
    assert len(scenarios_of(("kill",), nodes())) < len(scenarios_of(("kill", "partition"), nodes()))
    assert late_rival not in scenarios_of(("kill", "partition"), nodes(3, 3))
    assert late_rival in scenarios_of(("kill", "partition"), nodes(5, 1))


@given(seed=st.integers(0, 1000), name=st.sampled_from(ALL))
def test_every_fault_resolves_to_node_ids_and_describes_itself(seed, name):
    roles = {ACTIVE_CONTROLLER: (2,)}
    fault = planner(name)(Random(seed), nodes()).resolved(roles, nodes())
    assert fault.targets
    assert all(isinstance(target, int) for target in fault.targets)
    assert fault.kind == name
    assert fault.describe()
    assert fault.describe_heal()


def test_a_scheduled_fault_is_one_line():
    cut = Cut(shape="x", links=(Link(1, 2), Link(2, 1)))
    one = Scheduled(
        name="f0", kind="partition", at_ns=SECOND_NS, until_ns=5 * SECOND_NS // 2, fault=cut
    )
    assert one.describe() == "   1.000 s to    2.500 s  f0    partition x: 1>2 2>1"
    assert cut.describe_heal() == "heal 1>2 2>1"
    role = Role(name=ACTIVE_CONTROLLER)
    assert Cut(shape="x", around=role).describe() == "partition x of active-controller"


def test_a_schedule_is_busy_while_its_faults_last():
    schedule = spaced(("kill",), nodes(), Random(7), 60 * SECOND_NS)
    assert schedule
    assert busy_windows(schedule) == tuple((one.at_ns, one.until_ns) for one in schedule)


def test_a_role_that_nobody_has_falls_on_a_controller():
    cut = Cut(shape="x", around=Role(name=ACTIVE_CONTROLLER)).resolved({}, nodes())
    assert cut.around in {1, 2, 3}
    assert Link(cut.around, 6) in cut.links


def test_a_cut_from_some_leaves_the_links_to_the_others():
    roles = {ACTIVE_CONTROLLER: (2,), STANDBY_CONTROLLER: (1, 3)}
    some = (Role(name=STANDBY_CONTROLLER, choice=3), 5)
    cut = Cut(shape="x", around=Role(name=ACTIVE_CONTROLLER), others=some).resolved(roles, nodes())
    assert cut.links == between([2], [3, 5])
    assert "of 2 from 3, 5" in cut.describe()
    everybody = tuple(Role(name=STANDBY_CONTROLLER, choice=choice) for choice in range(4))
    apart = Cut(shape="x", around=2, others=everybody, direction="in").resolved(roles, nodes())
    assert apart.links == (Link(1, 2), Link(3, 2))


@given(
    seed=st.integers(0, 10_000), controllers=st.sampled_from((1, 3, 5)), brokers=st.integers(1, 3)
)
def test_every_story_is_a_pure_function_with_faults_that_end(seed, controllers, brokers):
    there = nodes(controllers, brokers)
    scenarios = sorted(set(scenarios_of(ALL, there)), key=lambda scenario: scenario.__name__)
    assert len(scenarios) > 5
    for scenario in scenarios:
        steps = scenario(Random(seed), there)
        assert steps == scenario(Random(seed), there)
        assert steps
        for start_s, stop_s, fault in steps:
            assert 0 <= start_s < stop_s < 30
            resolved = fault.resolved({ACTIVE_CONTROLLER: (1,)}, there)
            assert all(isinstance(target, int) for target in resolved.targets)
            ends = {end for link in getattr(resolved, "links", ()) for end in link}
            assert ends <= {node.node_id for node in there}


def test_quiet_windows_open_three_seconds_after_a_heal():
    busy = [(5 * SECOND_NS, 6 * SECOND_NS), (10 * SECOND_NS, 11 * SECOND_NS)]
    assert quiet_windows(busy, 20 * SECOND_NS) == (
        (0, 5 * SECOND_NS),
        (9 * SECOND_NS, 10 * SECOND_NS),
        (14 * SECOND_NS, 20 * SECOND_NS),
    )


def seen_by(node_id: int, links: tuple[Link, ...], size: int) -> set[int]:
    return {other for other in range(1, size + 1) if Link(other, node_id) not in links}


@given(seed=st.integers(0, 1000))
def test_in_a_majorities_ring_each_sees_a_majority_and_no_two_the_same(seed):
    links = majorities_ring(Random(seed), nodes(5, 0)).links
    views = [frozenset(seen_by(node_id, links, 5)) for node_id in range(1, 6)]
    assert all(len(view) == 3 for view in views)
    assert len(set(views)) == 5


@given(seed=st.integers(0, 1000))
def test_halves_have_no_link_between_and_a_bridge_has_one_node_that_sees_all(seed):
    for shape, whole in ((halves, 0), (bridge, 1)):
        links = shape(Random(seed), nodes()).links
        views = [len(seen_by(node_id, links, 6)) for node_id in range(1, 7)]
        assert sum(view == 6 for view in views) == whole


def test_isolation_knows_one_way():
    assert isolation(1, [2], "in") == (Link(2, 1),)
    assert isolation(1, [2], "out") == (Link(1, 2),)
    assert isolation(1, [2], "both") == (Link(1, 2), Link(2, 1))


@pytest.mark.parametrize("every_s", [2, 5, 10])
def test_faults_come_at_the_interval_that_is_asked_for_each_kind_in_turn(every_s):
    every_ns = every_s * SECOND_NS
    schedule = spaced(["kill", "pause"], nodes(), Random(7), 60 * SECOND_NS, every_ns=every_ns)
    starts = [one.at_ns for one in schedule]
    assert starts == [SECOND_NS + number * every_ns for number in range(len(starts))]
    assert len(starts) == 47 // every_s
    assert all(SECOND_NS < one.until_ns - one.at_ns <= every_ns for one in schedule)
    for first, second in zip(schedule[::2], schedule[1::2], strict=False):
        assert {first.kind, second.kind} == {"kill", "pause"}
