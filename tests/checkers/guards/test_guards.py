"""A run that hardly broke or did anything is no pass."""

import random

import msgspec
import pytest

from kraftproof.checkers.guards.doubts import doubts, figures
from kraftproof.checkers.guards.facts import GuardBounds, RunFacts
from kraftproof.checkers.guards.tally import Tally, tally_of
from kraftproof.checkers.guards.windows import fault_windows, merged, quiet_windows
from kraftproof.checkers.history.faults import FaultEvent
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.run_outcome import Mishap, RunOutcome, ViolatedInvariant
from kraftproof.nemesis import schedule

S = 1_000_000_000


def events(kind, name, at_s, until_s, *, phase="bitten", node=1):
    phases = [("intent", at_s), ("applied", at_s), (phase, at_s), ("healed", until_s)]
    return [
        FaultEvent(
            index=0,
            time=int(time_s * S),
            phase=what,
            fault=name,
            kind=kind,
            targets=(node,),
            detail="d",
        )
        for what, time_s in phases
    ]


def facts_of(faults, nemeses=(), *, unread=0, seconds=30, nodes=(1, 2), **outcome):
    told = RunOutcome(started_ns=0, ended_ns=seconds * S, unread_keys=unread, **outcome)
    return RunFacts(
        outcome=told, is_ours=True, nemeses=tuple(nemeses), faults=tuple(faults), nodes=nodes
    )


def every_second(status="ok", *, besides=()):
    return operations_table(
        Operation(
            index=second,
            process=0,
            f="create",
            key="k",
            input=None,
            status=status,
            invoke_index=2 * second,
            complete_index=2 * second + 1,
            invoke_time=second * S + S // 4,
            complete_time=second * S + S // 2,
        )
        for second in range(30)
        if second not in besides
    )


GOOD_FAULTS = events("kill", "f0", 2, 4) + events("kill", "f1", 12, 14)


def doubted(facts, table):
    return doubts(facts, tally_of(facts, table))


def test_a_good_run_meets_every_guard():
    assert doubted(facts_of(GOOD_FAULTS, ["kill"]), every_second()) == ()


def test_a_kind_that_bit_once_is_not_enough():
    (sentence,) = doubted(facts_of(events("kill", "f0", 2, 4), ["kill"]), every_second())
    assert sentence.startswith("kill: 1 fault has bitten")


def test_the_run_says_how_many_faults_must_bite():
    once = facts_of(events("kill", "f0", 2, 4), ["kill"])
    enough = msgspec.structs.replace(once, bounds=GuardBounds(fewest_bitten=1))
    assert doubted(enough, every_second()) == ()


def test_a_kind_that_was_asked_for_and_never_came_is_named():
    sentences = doubted(facts_of(GOOD_FAULTS, ["kill", "pause"]), every_second())
    assert sentences == ("pause: 0 faults have bitten, at least 2 are needed",)


def test_a_failed_fault_is_named():
    faults = GOOD_FAULTS + events("kill", "f2", 16, 17, phase="failed")
    assert doubted(facts_of(faults, ["kill"]), every_second()) == ("fault f2 (kill) failed: d",)


def test_a_run_that_is_never_quiet_is_vacuous():
    faults = events("kill", "f0", 0, 14) + events("kill", "f1", 15, 29)
    (sentence,) = doubted(facts_of(faults, ["kill"]), every_second())
    assert "of the run was quiet" in sentence


def test_no_ok_during_faults_is_vacuous_but_not_where_nobody_is_left():
    quiet_only = every_second(besides=(2, 3, 12, 13))
    (sentence,) = doubted(facts_of(GOOD_FAULTS, ["kill"]), quiet_only)
    assert sentence == (
        "no operation succeeded while faults were in force (2 faults, all of node 1): let faults "
        "hit other nodes (another --seed, or --faults FILE), or let them last until the system has "
        "failed over"
    )
    total = events("kill-all", "f0", 2, 4) + events("kill-all", "f1", 12, 14)
    assert doubted(facts_of(total, ["kill-all"]), quiet_only) == ()


@pytest.mark.parametrize(
    ("kind", "nodes", "is_total"),
    [
        ("kill", (1,), True),
        ("pause", (1,), True),
        ("stop", (1,), True),
        ("clock", (1,), False),
        ("kill", (1, 2), False),
        ("kill", (), False),
    ],
)
def test_a_fault_of_the_only_node_leaves_nobody(kind, nodes, is_total):
    faults = events(kind, "f0", 2, 4) + events(kind, "f1", 12, 14)
    facts = facts_of(faults, [kind], nodes=nodes)
    assert (doubted(facts, every_second(besides=(2, 3, 12, 13))) == ()) is is_total


def test_two_faults_of_all_nodes_at_once_leave_nobody_while_both_last():
    both = events("kill", "f0", 2, 14) + events("kill", "f1", 3, 14, node=2)
    facts = facts_of(both, ["kill"])
    (sentence,) = doubted(facts, every_second(besides=range(2, 14)))
    assert "(2 faults, of nodes 1 and 2): let faults last until" in sentence


def test_nothing_ok_and_unread_keys_are_named():
    assert doubted(facts_of([], unread=3), every_second("fail")) == (
        "no operation succeeded",
        "no operation succeeded in the quiet windows",
        "3 keys could not be read after healing",
    )


def test_a_search_has_no_guards_but_mishaps_count():
    vacuous = facts_of([], ["kill"], is_guarded=False)
    assert doubted(vacuous, every_second("fail")) == ()
    spoiled = facts_of([], is_guarded=False, mishaps=(Mishap(kind="k", sentence="it broke"),))
    assert doubted(spoiled, every_second()) == ("it broke",)


def test_a_run_that_was_broken_off_is_not_blamed_for_what_it_had_no_time_for():
    mishaps = (Mishap(kind="interrupted", sentence="interrupted"),)
    broken_off = facts_of([], ["kill"], is_complete=False, mishaps=mishaps)
    assert doubted(broken_off, every_second()) == ("interrupted",)


def test_a_run_that_did_not_end_proves_nothing():
    unexplained = facts_of(GOOD_FAULTS, ["kill"], is_complete=False)
    assert doubted(unexplained, every_second()) == ("the run did not come to its end",)
    (sentence,) = doubts(RunFacts(outcome=None, is_ours=True), Tally())
    assert sentence.startswith("the run has no outcome.json")
    assert doubts(RunFacts(outcome=None, is_ours=False), Tally()) == ()


def test_a_run_that_its_simulator_stopped_has_a_finding_and_no_doubt():
    violation = ViolatedInvariant(
        invariant="ElectionSafety", sentence="One leader.", node=2, time_ns=S, detail="two", event=9
    )
    stopped = facts_of([], ["kill"], is_complete=False, violations=(violation,))
    assert doubted(stopped, every_second()) == ()
    assert violation.finding().check == "ElectionSafety"
    assert violation.finding().sentence == (
        "node 2: two at 1.000 s; the promise of ElectionSafety is that one leader"
    )


def test_figures_count_rates_over_quiet_windows_only():
    facts = facts_of(GOOD_FAULTS)
    found = figures(facts, tally_of(facts, every_second()))
    assert found.quiet == ((0, 2 * S), (7 * S, 12 * S), (17 * S, 30 * S))
    assert found.quiet_ok_rate == 1.0
    assert (found.ok, found.ok_in_faults) == (30, 4)
    assert found.bitten == (("kill", 2),)


def test_final_reads_are_no_operations_of_the_workload():
    facts = facts_of([], seconds=20)
    tally = tally_of(facts, every_second())
    assert (tally.ok, tally.fail) == (20, 0)
    assert tally_of(facts_of([]), every_second("info")).info == 30


def test_a_fault_that_is_never_healed_lasts_to_the_end():
    unhealed = events("pause", "f0", 5, 6)[:-1]
    assert fault_windows(unhealed, 9 * S) == ((5 * S, 9 * S),)


def test_a_fault_is_in_force_from_its_intent_on_since_its_application_takes_time():
    intent, applied, *rest = events("rolling", "f0", 2, 9)
    late = msgspec.structs.replace(applied, time=8 * S)
    assert fault_windows([intent, late, *rest], 30 * S) == ((2 * S, 9 * S),)


def test_quiet_windows_are_those_that_schedules_are_planned_by():
    assert GuardBounds().settle_ns == schedule.SETTLE_NS
    assert GuardBounds().quiet_share == schedule.QUIET_SHARE
    for seed in range(200):
        drawn = random.Random(seed)
        starts = [drawn.randrange(60 * S) for _ in range(drawn.randrange(6))]
        busy = [(start, start + drawn.randrange(9 * S)) for start in starts]
        planned = schedule.quiet_windows(busy, 60 * S)
        assert quiet_windows(busy, 0, 60 * S, schedule.SETTLE_NS) == planned


@pytest.mark.parametrize("seed", range(20))
def test_windows_that_overlap_count_an_operation_once_and_parts_add_up(seed):
    drawn = random.Random(seed)
    faults = []
    for number in range(6):
        at_s = drawn.uniform(0, 25)
        faults += events("kill", f"f{number}", at_s, at_s + drawn.uniform(0, 6))
    facts = facts_of(sorted(faults, key=lambda event: event.time))
    table = every_second()
    whole = tally_of(facts, table)
    windows = fault_windows(facts.faults, 30 * S)
    completed = table.column("complete_time").to_pylist()
    expected = sum(any(a <= at < b for a, b in windows) for at in completed)
    assert whole.ok_in_faults == expected
    assert all(a[1] < b[0] for a, b in zip(merged(windows), merged(windows)[1:], strict=False))
    cut = drawn.randrange(30)
    parts = [tally_of(facts, part) for part in (table.slice(0, cut), table.slice(cut))]
    first, second = map(msgspec.structs.asdict, parts)
    assert {name: first[name] + second[name] for name in first} == msgspec.structs.asdict(whole)
