"""Broker registrations: leases and fencing tokens, one promise at a time."""

import pytest

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.kraft import heartbeats as wishes
from kraftproof.checkers.kraft import tokens
from kraftproof.checkers.kraft.sessions import expiry, leases
from kraftproof.checkers.options import LeaseBounds
from kraftproof.checkers.verdict import FindingKind, Verdict
from tests.checkers.kraft.recorder import (
    MODEL,
    MS,
    SESSION_MS,
    Recorder,
    checks,
    not_linearizable_at,
)


@pytest.fixture
def record():
    return Recorder()


def test_a_lease_that_expires_after_its_session_is_valid(record):
    record.register("a", 10, 0)
    record.heartbeat(10, 500)
    record.register("b", None, 2400)
    record.register("b", 20, 2600)
    record.do("heartbeat", {"epoch": 10, "want_fence": False, "want_shut_down": False},
              {"outcome": "stale"}, 2700)  # fmt: skip
    assert record.judge().findings == ()


def test_a_take_over_within_the_session_is_invalid(record):
    record.register("a", 10, 0)
    record.heartbeat(10, 500)
    record.register("b", 20, 2400)
    verdict = record.judge()
    assert verdict.verdict is Verdict.INVALID
    assert checks(verdict) == [leases.LEASE]
    assert verdict.findings[0].operation_index == 2
    assert "1902.0 ms" in verdict.findings[0].sentence


def test_a_wall_clock_fault_excuses_nothing_but_a_rate_error_does(record):
    record.register("a", 10, 0)
    record.register("b", 20, 1900)
    disturbed = LeaseBounds(session_ns=SESSION_MS * MS, disturbed=((0, 3000 * MS),))
    assert checks(record.judge(disturbed)) == [leases.LEASE]
    drifting = LeaseBounds(session_ns=SESSION_MS * MS, rate_error=0.1)
    assert checks(record.judge(drifting)) == []


@pytest.mark.parametrize("end", ["shutdown", "lost shutdown", "unregister", "lost unregister"])
def test_a_lease_that_was_given_up_may_be_taken_at_once(record, end):
    record.register("a", 10, 0)
    if end == "shutdown":
        record.heartbeat(10, 100, want_shut_down=True, should_shut_down=True, fenced=True)
    elif end == "lost shutdown":
        asked = {"epoch": 10, "want_fence": False, "want_shut_down": True}
        record.do("heartbeat", asked, None, 100, status="info")
    elif end == "unregister":
        record.unregister(100)
    else:
        record.unregister(100, status="info")
    record.register("b", 20, 200)
    assert record.judge().findings == ()


def test_a_failed_unregister_gives_nothing_up(record):
    record.register("a", 10, 0)
    record.unregister(100, status="fail")
    record.register("b", 20, 200)
    assert checks(record.judge()) == [leases.LEASE]


def test_epochs_must_increase_and_belong_to_one_incarnation(record):
    record.register("a", 10, 0)
    record.register("a", 10, 100)
    record.register("b", 10, 3000)
    record.register("c", 9, 6000)
    found = record.judge().findings
    about_epochs = [finding for finding in found if finding.check == tokens.EPOCHS_INCREASE]
    assert [finding.operation_index for finding in about_epochs] == [2, 3]


def test_a_heartbeat_with_an_outlived_epoch_is_invalid(record):
    record.register("a", 10, 0)
    record.register("b", 20, 2500)
    record.heartbeat(10, 2600)
    found = [f for f in record.judge().findings if f.check == tokens.STALE_ACCEPTED]
    assert [finding.operation_index for finding in found] == [2]


def test_a_heartbeat_after_unregistering_is_invalid_until_registered_again(record):
    record.register("a", 10, 0)
    record.unregister(100)
    record.register("a", 30, 200)
    record.heartbeat(30, 300)
    assert record.judge().findings == ()
    record.heartbeat(10, 400)
    assert checks(record.judge()) == [tokens.STALE_ACCEPTED]


def test_a_heartbeat_with_an_epoch_that_nobody_was_granted_is_invalid(record):
    record.register("a", 10, 0)
    record.heartbeat(11, 100)
    assert checks(record.judge()) == [tokens.STALE_ACCEPTED]
    lost = Recorder()
    lost.register("a", None, 0, status="info")
    lost.heartbeat(11, 100)
    assert lost.judge().findings == ()


def test_a_live_epoch_refused_as_stale_is_invalid(record):
    asked = {"epoch": 10, "want_fence": False, "want_shut_down": False}
    record.register("a", 10, 0)
    record.register("b", None, 50)
    record.do("heartbeat", asked, {"outcome": "stale"}, 100)
    assert checks(record.judge()) == [tokens.LIVE_REFUSED]
    record.operations[1] = Operation(
        **{f: getattr(record.operations[1], f) for f in Operation.__struct_fields__}
        | {"status": "info", "output": None}
    )
    assert record.judge().findings == ()


def test_a_fence_that_is_asked_for_and_not_given_is_invalid(record):
    record.register("a", 10, 0)
    record.heartbeat(10, 100, want_fence=True, fenced=False)
    assert checks(record.judge()) == [wishes.FENCE_IGNORED]


def test_a_duplicate_refused_though_nobody_holds_the_id_is_invalid(record):
    record.register("a", None, 0)
    assert not_linearizable_at(record.judge()) == 0


@pytest.mark.parametrize("end", ["shutdown", "unregister"])
def test_a_duplicate_refused_after_the_lease_was_given_up_is_invalid(record, end):
    record.register("a", 10, 0)
    record.register("b", 20, 2500)
    if end == "shutdown":
        record.heartbeat(20, 2600, want_shut_down=True, should_shut_down=True, fenced=True)
    else:
        record.unregister(2600)
    record.register("c", None, 2700)
    if end == "shutdown":
        assert checks(record.judge()) == [leases.LEASE_WITHOUT_HOLDER]
    else:
        assert not_linearizable_at(record.judge()) == 3


def test_a_slow_expiry_is_an_availability_finding_and_no_expiry_a_safety_finding(record):
    record.register("a", 10, 0)
    record.register("b", None, 4000)
    verdict = record.judge()
    assert verdict.verdict is Verdict.VALID
    assert checks(verdict) == [expiry.LEASE_EXPIRY]
    assert verdict.findings[0].kind is FindingKind.AVAILABILITY
    record.register("b", None, 11_000)
    verdict = record.judge()
    assert verdict.verdict is Verdict.INVALID
    assert verdict.findings[1].kind is FindingKind.SAFETY


def test_disturbances_excuse_a_late_expiry_and_only_as_far_as_they_go(record):
    record.register("a", 10, 0)
    record.register("b", None, 6900)
    pause = ((1000 * MS, 3000 * MS),)
    bounds = LeaseBounds(session_ns=SESSION_MS * MS, failover_ns=1000 * MS, disturbed=pause)
    assert checks(record.judge(bounds)) == []
    record.register("b", None, 15_100)
    assert [f.kind for f in record.judge(bounds).findings] == [FindingKind.SAFETY]


@pytest.mark.parametrize(
    ("asked", "answered", "wanted"),
    [
        ({}, {"outcome": "registered", "epoch": 1}, "register has incarnation as str"),
        ({"incarnation": "a"}, {"outcome": "registered"}, "registered has epoch as int"),
        (
            {"incarnation": "a"},
            {"outcome": "yes"},
            "outcome of register is one of registered, dupl",
        ),
    ],
)
def test_values_that_are_none_of_the_model_are_refused(record, asked, answered, wanted):
    record.do("register", asked, answered, 0)
    with pytest.raises(ValueError, match="field value") as refused:
        MODEL.validate(record.operations[0])
    assert wanted in str(refused.value)


def test_operations_without_times_are_refused():
    operation = Operation(index=0, process=0, f="unregister", key="1", input=None, invoke_index=0)
    with pytest.raises(ValueError, match="field time: registration needs the time"):
        MODEL.validate(operation)
