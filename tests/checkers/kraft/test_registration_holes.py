"""Controllers that keep their epochs in order and yet break a promise, and some that break none."""

import pytest

from kraftproof.checkers.kraft import heartbeats as wishes
from kraftproof.checkers.kraft import tokens
from kraftproof.checkers.kraft.sessions import expiry, leases
from kraftproof.checkers.options import LeaseBounds
from kraftproof.checkers.verdict import FindingKind, Verdict
from tests.checkers.kraft.recorder import MS, SESSION_MS, Recorder, checks, not_linearizable_at

STALE = {"outcome": "stale"}


@pytest.fixture
def record():
    return Recorder()


def beat(epoch, *, want_shut_down=False):
    return {"epoch": epoch, "want_fence": False, "want_shut_down": want_shut_down}


def test_a_registration_that_is_lost_is_seen_by_unregistering(record):
    record.register("a", 10, 0)
    record.unregister(100, outcome="absent")
    assert not_linearizable_at(record.judge()) == 1


def test_a_broker_may_be_unregistered_again(record):
    """The simulation showed this at seed 6000666: two clients unregistered the same broker."""
    record.register("a", 10, 0)
    record.unregister(100)
    record.unregister(200)
    assert record.judge().findings == ()
    record.heartbeat(10, 300)
    assert not_linearizable_at(record.judge()) == 3


def test_a_stale_epoch_stays_stale(record):
    record.register("a", 10, 0)
    record.unregister(100, status="info")
    record.do("heartbeat", beat(10), STALE, 200)
    assert record.judge().findings == ()
    record.heartbeat(10, 300)
    assert not_linearizable_at(record.judge()) == 3


def test_an_epoch_is_not_used_again_after_unregistering(record):
    record.register("a", 10, 0)
    record.unregister(100)
    record.register("a", 10, 200)
    assert not_linearizable_at(record.judge()) == 2


def test_the_live_incarnation_is_no_duplicate_of_itself(record):
    record.register("a", 10, 0)
    record.register("a", None, 100)
    assert not_linearizable_at(record.judge()) == 1


def test_a_heartbeat_accepted_after_one_with_a_larger_epoch_is_invalid(record):
    record.register("a", 10, 0)
    record.register("b", None, 2500, status="info")
    record.heartbeat(20, 2600)
    record.heartbeat(10, 2700)
    assert checks(record.judge()) == [tokens.STALE_ACCEPTED]


def test_a_lost_registration_may_have_replaced_the_live_one_or_not(record):
    record.register("a", 10, 0)
    record.register("b", None, 2500, status="info")
    record.heartbeat(10, 2600)
    record.do("heartbeat", beat(10), STALE, 2700)
    assert record.judge().findings == ()


def test_the_same_incarnation_may_ask_again_and_get_the_same_epoch(record):
    record.register("a", None, 0, status="info")
    record.register("a", 10, 100)
    record.register("a", 10, 200)
    record.register("a", None, 300, status="info")
    record.heartbeat(10, 400)
    assert record.judge().findings == ()


def test_a_fence_that_is_never_lifted_is_invalid_after_a_session(record):
    record.register("a", 10, 0)
    record.heartbeat(10, 500, fenced=True)
    record.heartbeat(10, 1500, fenced=True)
    assert record.judge().findings == ()
    record.heartbeat(10, 2900, fenced=True)
    assert checks(record.judge()) == [wishes.UNFENCE_IGNORED]


def test_a_broker_that_lags_behind_its_registration_may_stay_fenced(record):
    record.register("a", 10, 0)
    for at_ms in (500, 1500, 2900, 4400):
        record.heartbeat(10, at_ms, fenced=True, caught_up=False)
    assert record.judge().findings == ()


def test_a_broker_that_has_asked_to_stop_may_stay_fenced(record):
    record.register("a", 10, 0)
    record.heartbeat(10, 100, want_shut_down=True, fenced=True)
    for at_ms in (500, 1500, 2900, 4400):
        record.heartbeat(10, at_ms, fenced=True)
    assert record.judge().findings == ()


def test_nobody_registers_who_names_another_cluster(record):
    record.register("a", None, 0, status="fail", cluster="another")
    assert record.judge().findings == ()
    record.register("a", 10, 100, cluster="another")
    assert checks(record.judge()) == [wishes.FOREIGN_ACCEPTED]


def test_a_broker_in_controlled_shutdown_is_fenced_or_not_as_the_controller_sees_fit(record):
    record.register("a", 10, 0)
    record.heartbeat(10, 100, want_shut_down=True)
    record.heartbeat(10, 200, want_fence=True, fenced=False)
    record.heartbeat(10, 300, should_shut_down=True, fenced=True)
    assert record.judge().findings == ()


def test_a_shutdown_that_nobody_asked_for_is_invalid(record):
    record.register("a", 10, 0)
    record.heartbeat(10, 100, should_shut_down=True, fenced=True)
    assert checks(record.judge()) == [wishes.SHUTDOWN_UNASKED]


def test_a_granted_shutdown_holds_no_lease_unless_the_broker_came_back(record):
    record.register("a", 10, 0)
    record.heartbeat(10, 100, want_shut_down=True, should_shut_down=True, fenced=True)
    record.register("b", None, 200)
    assert checks(record.judge()) == [leases.LEASE_WITHOUT_HOLDER]
    back = Recorder()
    back.register("a", 10, 0)
    back.heartbeat(10, 100, want_shut_down=True, should_shut_down=True, fenced=True)
    back.heartbeat(10, 150)
    back.register("b", None, 200)
    assert back.judge().findings == ()


def test_a_lease_that_never_ends_is_caught_between_many_faults(record):
    """A fault excuses a lease for the time that a new controller's lease takes, and no longer."""
    record.register("a", 10, 0)
    record.register("b", None, 45_900)
    faults = tuple((at * MS, (at + 500) * MS) for at in range(1000, 40_000, 9000))
    bounds = LeaseBounds(session_ns=SESSION_MS * MS, failover_ns=1000 * MS, disturbed=faults)
    verdict = record.judge(bounds)
    assert [f.kind for f in verdict.findings] == [FindingKind.SAFETY]
    assert checks(verdict) == [expiry.LEASE_EXPIRY]


def test_a_new_controller_gives_a_lease_also_to_a_broker_that_was_long_silent(record):
    """The simulation showed this at seed 20040."""
    record.register("a", 10, 0)
    record.register("b", None, 21_600)
    fault = (20_000 * MS, 20_500 * MS)
    bounds = LeaseBounds(session_ns=SESSION_MS * MS, failover_ns=1000 * MS, disturbed=(fault,))
    assert record.judge(bounds).findings == ()


def test_a_lease_renewed_by_one_failover_after_the_other_is_excused(record):
    record.register("a", 10, 0)
    record.register("b", None, 12_000)
    faults = tuple((at * MS, (at + 500) * MS) for at in range(1000, 11_000, 3000))
    bounds = LeaseBounds(session_ns=SESSION_MS * MS, failover_ns=1000 * MS, disturbed=faults)
    assert record.judge(bounds).findings == ()


def test_a_fault_that_is_never_healed_excuses_a_late_expiry(record):
    record.register("a", 10, 0)
    record.register("b", None, 30_000)
    bounds = LeaseBounds(session_ns=SESSION_MS * MS, disturbed=((500 * MS, 1 << 62),))
    assert record.judge(bounds).verdict is Verdict.VALID
