"""A run that hardly broke or did anything is no pass."""

from cluster.systems.system import Outcome
from kraftproof.guards import fault_windows, figures, unmet
from kraftproof.history import FaultEvent
from kraftproof.interpreter import Interpreted
from kraftproof.operations import DoneOperation, DoneOperations

S = 1_000_000_000


def events(kind, name, at_s, until_s, *, phase="bitten"):
    phases = [("intent", at_s), ("applied", at_s), (phase, at_s), ("healed", until_s)]
    return [
        FaultEvent(
            time_ns=int(time_s * S), phase=what, name=name, kind=kind, targets=(1,), detail="d"
        )
        for what, time_s in phases
    ]


def run_of(faults, operations, *, unread=0, seconds=30):
    return Interpreted(
        started_ns=0,
        ended_ns=seconds * S,
        unread_keys=unread,
        operations=DoneOperations(operations),
        faults=tuple(faults),
    )


def every_second(outcome=Outcome.OK, *, besides=()):
    return [
        DoneOperation(
            f="create",
            outcome=outcome,
            invoke_ns=second * S + S // 4,
            complete_ns=second * S + S // 2,
        )
        for second in range(30)
        if second not in besides
    ]


GOOD_FAULTS = events("kill", "f0", 2, 4) + events("kill", "f1", 12, 14)


def test_a_good_run_meets_every_guard():
    assert unmet(run_of(GOOD_FAULTS, every_second()), ["kill"]) == ()


def test_a_kind_that_bit_once_is_not_enough():
    (sentence,) = unmet(run_of(events("kill", "f0", 2, 4), every_second()), ["kill"])
    assert sentence.startswith("kill: 1 faults have bitten")


def test_a_kind_that_was_asked_for_and_never_came_is_named():
    sentences = unmet(run_of(GOOD_FAULTS, every_second()), ["kill", "pause"])
    assert sentences == ("pause: 0 faults have bitten, at least 2 are needed",)


def test_a_failed_fault_is_named():
    faults = GOOD_FAULTS + events("kill", "f2", 16, 17, phase="failed")
    (sentence,) = unmet(run_of(faults, every_second()), ["kill"])
    assert sentence == "fault f2 (kill) failed: d"


def test_a_run_that_is_never_quiet_is_vacuous():
    faults = events("kill", "f0", 0, 14) + events("kill", "f1", 15, 29)
    (sentence,) = unmet(run_of(faults, every_second()), ["kill"])
    assert "of the run was quiet" in sentence


def test_no_ok_during_faults_is_vacuous_but_not_where_nobody_is_left():
    quiet_only = every_second(besides=(2, 3, 12, 13))
    (sentence,) = unmet(run_of(GOOD_FAULTS, quiet_only), ["kill"])
    assert sentence == "no operation succeeded while faults were in force"
    total = events("kill-all", "f0", 2, 4) + events("kill-all", "f1", 12, 14)
    assert unmet(run_of(total, quiet_only), ["kill-all"]) == ()


def test_nothing_ok_and_unread_keys_are_named():
    sentences = unmet(run_of([], every_second(Outcome.FAIL), unread=3), [])
    assert sentences == (
        "no operation succeeded",
        "no operation succeeded in the quiet windows",
        "3 keys could not be read after healing",
    )


def test_figures_count_rates_over_quiet_windows_only():
    found = figures(run_of(GOOD_FAULTS, every_second()))
    assert found.quiet == ((0, 2 * S), (7 * S, 12 * S), (17 * S, 30 * S))
    assert found.quiet_ok_rate == 1.0
    assert found.ok_in_faults == 4
    assert found.bitten == (("kill", 2),)


def test_a_fault_that_is_never_healed_lasts_to_the_end():
    unhealed = events("pause", "f0", 5, 6)[:-1]
    assert fault_windows(unhealed, 9 * S) == ((5 * S, 9 * S),)
