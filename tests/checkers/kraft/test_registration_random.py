"""Random fights for a broker id, before a right controller and before wrong ones."""

from dataclasses import dataclass
from random import Random

from kraftproof.checkers.kraft.sessions import expiry, leases
from kraftproof.checkers.verdict import Verdict
from tests.checkers.kraft.recorder import SESSION_MS, Recorder, checks


@dataclass
class Controller:
    """A controller in true time, right or wrong in one way."""

    session_ms: int = SESSION_MS
    epoch: int = 0
    owner: str | None = None
    contact_ms: int = 0

    def register(self, incarnation, at_ms):
        held = self.owner is not None and at_ms - self.contact_ms <= self.session_ms
        if held and self.owner != incarnation:
            return None
        self.owner, self.contact_ms = incarnation, at_ms
        self.epoch += 1
        return self.epoch

    def heartbeat(self, epoch, at_ms):
        if self.owner is None or epoch != self.epoch:
            return False
        self.contact_ms = at_ms
        return True


def run_random(seed, session_ms):
    """Two incarnations fight for an id; every answer is that of the controller."""
    random, controller, record = Random(seed), Controller(session_ms=session_ms), Recorder()
    epochs: dict[str, int] = {}
    at_ms = 0
    for step in range(150):
        at_ms += random.choice([20, 200, 700, 2600])
        who = random.choice("ab")
        incarnation = f"{who}{step // 40}"
        true_ms = at_ms + random.randrange(3)
        if incarnation not in epochs or random.random() < 0.3:
            epoch = controller.register(incarnation, true_ms)
            record.register(incarnation, epoch, at_ms, took_ms=3)
            if epoch is not None:
                epochs[incarnation] = epoch
        else:
            alive = controller.heartbeat(epochs[incarnation], true_ms)
            asked = {"epoch": epochs[incarnation], "want_fence": False, "want_shut_down": False}
            told = {"outcome": "alive", "fenced": False, "should_shut_down": False}
            record.do("heartbeat", asked, told if alive else {"outcome": "stale"}, at_ms, took_ms=3)
    return record.judge()


def test_a_right_controller_is_never_accused():
    for seed in range(60):
        assert run_random(seed, SESSION_MS).findings == ()


def test_a_controller_that_expires_sessions_early_is_caught():
    verdicts = [run_random(seed, SESSION_MS // 2) for seed in range(20)]
    assert any(leases.LEASE in checks(verdict) for verdict in verdicts)


def test_a_controller_that_never_expires_sessions_is_caught():
    verdicts = [run_random(seed, 10**9) for seed in range(20)]
    assert any(verdict.verdict is Verdict.INVALID for verdict in verdicts)
    assert {c for verdict in verdicts for c in checks(verdict)} == {expiry.LEASE_EXPIRY}
