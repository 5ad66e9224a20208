"""Processes, fatal lines, leaders and internal errors of live nodes, judged by the faults."""

import pytest

from kraftproof.checkers.history.faults import FaultEvent
from kraftproof.cluster.systems.system import Registration
from kraftproof.run.health.internal_errors import InternalError, internal_errors
from kraftproof.run.health.leaders import leader_changes, replaced_leaders
from kraftproof.run.health.node_watch import FatalLine, Look, are_leaders
from kraftproof.run.health.processes import fatal_lines, processes_that_ended
from kraftproof.run.health.promises import in_force
from kraftproof.run.health.registrations import unregistered

SECOND = 1_000_000_000
NODES = (1, 2, 3)
WALL_S = 1_800_000_000


def looks(
    up_of,
    leaders_of=lambda second: {},
    until: int = 60,
    process_of=lambda node, second: node,
) -> list[Look]:
    return [
        Look(
            begun_ns=at * SECOND,
            time_ns=at * SECOND,
            processes={node: process_of(node, at) for node in up_of(at)},
            leaders=leaders_of(at),
        )
        for at in range(until)
    ]


@pytest.mark.parametrize(
    ("found", "is_right"), [({}, True), ({1: 7}, True), ([1], False), ({"1": "x"}, False)]
)
def test_leaders_are_nodes_with_epochs(found: object, is_right: bool) -> None:
    assert are_leaders(found) is is_right


def fault(kind: str, node: int | None, begin: int, end: int | None):
    targets = [] if node is None else [node]
    events = [("intent", begin), ("applied", begin)] + ([] if end is None else [("healed", end)])
    return in_force(
        FaultEvent(
            index=0, time=at * SECOND, phase=phase, fault="a", kind=kind, targets=targets or None
        )
        for phase, at in events
    )


def ended(down: range, faults=()) -> list[tuple[str, int | None, int]]:
    seen = looks(lambda at: set(NODES) - ({2} if at in down else set()))
    found = processes_that_ended(seen, NODES, faults, lambda node: "the last line")
    return [(one.invariant, one.node, (one.time_ns or 0) // SECOND) for one in found]


def test_a_node_that_ends_by_itself_is_found() -> None:
    assert ended(range(20, 30)) == [("NodesStayUp", 2, 20)]
    assert ended(range(20, 60)) == [("NodesStayUp", 2, 20)]
    assert ended(range(0)) == []


def test_the_finding_says_the_exit_status() -> None:
    ends = Look(
        begun_ns=2 * SECOND, time_ns=2 * SECOND, processes={1: 7}, leaders={}, exit_statuses={2: 3}
    )
    up = Look(begun_ns=SECOND, time_ns=SECOND, processes={1: 7, 2: 8}, leaders={})
    (found,) = processes_that_ended([up, ends], (1, 2), (), lambda node: "the last line")
    assert found.detail == "ended by itself with status 3; its last output: the last line"


@pytest.mark.parametrize(
    ("kind", "node", "is_excused"),
    [
        ("kill", 2, True),
        ("kill", 1, False),
        ("partition", 2, False),
        ("pause", 2, False),
        ("clock", 2, False),
        ("disk-full", 2, True),
        ("of-a-plug-in", None, True),
    ],
)
def test_a_fault_that_ends_processes_excuses_its_node(kind, node, is_excused) -> None:
    faults = fault(kind, node, 19, 30)
    assert ended(range(20, 32), faults) == ([] if is_excused else [("NodesStayUp", 2, 20)])


def test_a_node_that_ends_again_after_its_restart_is_found() -> None:
    assert ended(range(20, 40), fault("kill", 2, 19, 30)) == [("NodesStayUp", 2, 33)]
    assert ended(range(20, 40), fault("kill", 2, 19, None)) == []


def test_a_late_look_at_a_node_that_was_started_in_time_is_no_finding() -> None:
    """On a busy machine the looks are seconds apart, and a look takes seconds."""

    def found(*ups: tuple[int, int, bool]):
        seen = [
            Look(
                begun_ns=begun * SECOND,
                time_ns=at * SECOND,
                processes={node: 7 for node in NODES if is_up or node != 2},
                leaders={},
            )
            for begun, at, is_up in ups
        ]
        faults = fault("kill", 2, 19, 30)
        ends = processes_that_ended(seen, NODES, faults, lambda node: "the last line")
        return [(one.time_ns or 0) // SECOND for one in ends]

    assert found((10, 10, True), (20, 20, False), (36, 36, True)) == []
    assert found((10, 10, True), (29, 36, False), (37, 37, True)) == []
    assert found((10, 10, True), (20, 20, False), (35, 36, False), (37, 37, True)) == [33]


def test_a_second_heal_excuses_until_then() -> None:
    def healed(*seconds: int):
        phases = [("intent", 10), ("applied", 10), *(("healed", at) for at in seconds)]
        return in_force(
            FaultEvent(
                index=0, time=at * SECOND, phase=phase, fault="a", kind="disk-full", targets=[2]
            )
            for phase, at in phases
        )

    assert ended(range(20, 27), healed(13)) == [("NodesStayUp", 2, 20)]
    assert ended(range(20, 27), healed(13, 25)) == []
    assert ended(range(20, 40), healed(13, 25)) == [("NodesStayUp", 2, 28)]


@pytest.mark.parametrize(("last", "expected"), [(60, 2), (30, 1)])
def test_a_fatal_line_is_found_and_a_node_that_goes_on(last: int, expected: int) -> None:
    seen = looks(lambda at: NODES if at < last else (1, 3))
    lines = [FatalLine(node_id=2, time_ns=20 * SECOND, text="fatal fault: x")] * 2
    found = [one.invariant for one in fatal_lines(lines, seen)]
    assert found == ["NoFatalFault", "FatalFaultsEndTheNode"][:expected]


def led(second: int) -> dict[int, int]:
    """Node 1 leads epoch 3 until second 30, node 2 leads epoch 4 from second 10 on."""
    leaders = {1: 3} if second < 30 else {}
    return leaders | ({2: 4} if second >= 10 else {})


def test_a_replaced_leader_that_goes_on_is_found_once() -> None:
    seen = looks(lambda at: NODES, led)
    (found,) = replaced_leaders(seen, (), 7 * SECOND)
    assert (found.node, found.time_ns) == (1, 18 * SECOND)
    assert "leads epoch 3 for 8.0 s after node 2 said so of epoch 4" in found.detail
    assert list(replaced_leaders(seen, (), 20 * SECOND)) == []


def test_a_wrong_clock_or_a_gap_excuses_a_replaced_leader() -> None:
    seen = looks(lambda at: NODES, led)
    assert list(replaced_leaders(seen, fault("clock", 1, 15, 40), 7 * SECOND)) == []
    with_gaps = [one for one in seen if one.time_ns // SECOND % 6 == 0]
    assert list(replaced_leaders(with_gaps, (), 7 * SECOND)) == []


def test_an_internal_error_counts_without_a_fault_only() -> None:
    def answers(second: int) -> list[InternalError]:
        error = InternalError(
            node_id=1, time_ns=second * SECOND, f="create", key="a_b", error="UNKNOWN_SERVER_ERROR"
        )
        return [error, error]

    faults = fault("partition", 1, 20, 30)
    assert [one.node for one in internal_errors(answers(10), faults)] == [1]
    assert list(internal_errors(answers(25), faults)) == []
    assert list(internal_errors(answers(33), faults)) == []
    assert len(list(internal_errors(answers(36), faults))) == 1


def test_a_change_of_the_leader_is_between_two_looks() -> None:
    def leaders(second: int) -> dict[int, int]:
        return {} if second in {0, 8, 9, 25} else led(second)

    assert leader_changes(looks(lambda at: NODES, leaders)) == ((7 * SECOND, 10 * SECOND),)
    assert leader_changes(looks(lambda at: NODES)) == ()


def registered(*seconds: tuple[str, float]) -> list[Registration]:
    return [Registration(2, name, round(1000 * (WALL_S + at))) for name, at in seconds]


@pytest.mark.parametrize(
    ("own", "faults", "found_at"),
    [
        pytest.param([("a", -5), ("b", 22.5)], [("kill", 2, 19, 20)], None, id="after a kill"),
        pytest.param([("a", -5)], [("kill", 2, 19, 20)], 42, id="never after a kill"),
        pytest.param([("a", -5), ("a", 23)], [("kill", 2, 19, 20)], 42, id="the old process again"),
        pytest.param(
            [("a", -5)], [("kill", 2, 19, 20), ("pause", 1, 25, 35)], 57, id="a fault meanwhile"
        ),
        pytest.param([("a", -5)], [("kill", 2, 19, 20), ("pause", 1, 25, None)], None, id="ill"),
        pytest.param(
            [("a", -5)], [("kill", 2, 19, 20), ("clock", 1, 1, 2)], None, id="wrong clocks"
        ),
        pytest.param([], [("kill", 2, 19, 20)], None, id="a release that does not register"),
    ],
)
def test_a_controller_registers_after_each_start(own, faults, found_at) -> None:
    seen = looks(
        lambda at: NODES, lambda at: {1: 3}, process_of=lambda node, at: 7 if at > 20 else node
    )
    spans = [span for one in faults for span in fault(*one)]
    found = list(unregistered(seen, registered(*own), spans, WALL_S * SECOND))
    assert [(one.invariant, one.node, one.time_ns) for one in found] == [
        ("ControllersRegister", 2, at * SECOND) for at in [found_at] if at is not None
    ]
