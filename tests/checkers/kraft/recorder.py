"""Writes the operations of one broker id, with their times in milliseconds, and judges them."""

from dataclasses import dataclass, field

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.judge.keys import judge_key
from kraftproof.checkers.models.registration import Registration
from kraftproof.checkers.options import CheckOptions, LeaseBounds

MS = 1_000_000
SESSION_MS = 2000
BOUNDS = LeaseBounds(session_ns=SESSION_MS * MS, failover_ns=1000 * MS, measurement_ns=MS)
MODEL = Registration()
LINEARIZABLE = "registration/linearizable"


@dataclass
class Recorder:
    """Writes operations with their times in milliseconds."""

    operations: list[Operation] = field(default_factory=list)
    event: int = 0

    def do(self, f, asked, answered, at_ms, took_ms=2, status="ok"):
        self.operations.append(
            Operation(
                index=len(self.operations),
                process=0,
                f=f,
                key="1000",
                input=asked,
                output=answered,
                status=status,
                invoke_index=self.event,
                complete_index=self.event + 1,
                invoke_time=at_ms * MS,
                complete_time=(at_ms + took_ms) * MS,
            )
        )
        self.event += 2

    def register(self, incarnation, epoch, at_ms, status="ok", took_ms=2, **asked):
        answer = {"outcome": "registered", "epoch": epoch}
        if epoch is None:
            answer = {"outcome": "duplicate"} if status == "ok" else None
        self.do("register", {"incarnation": incarnation, **asked}, answer, at_ms, took_ms, status)

    def heartbeat(self, epoch, at_ms, **changes):
        asked = {"incarnation": "?", "epoch": epoch, "want_fence": False, "want_shut_down": False}
        asked["want_shut_down"] = changes.pop("want_shut_down", False)
        asked["want_fence"] = changes.pop("want_fence", False)
        if not changes.pop("caught_up", True):
            asked["caught_up"] = False
        answer = {"outcome": "alive", "fenced": False, "should_shut_down": False} | changes
        self.do("heartbeat", asked, answer, at_ms)

    def unregister(self, at_ms, outcome="unregistered", status="ok"):
        self.do("unregister", None, {"outcome": outcome}, at_ms, status=status)

    def judge(self, bounds=BOUNDS):
        for operation in self.operations:
            MODEL.validate(operation)
        return judge_key(MODEL, "1000", self.operations, CheckOptions(leases=bounds))


def checks(verdict):
    """The properties found broken; that the registration is linearizable is looked at apart."""
    found = [finding.check for finding in verdict.findings]
    return [check for check in found if check != LINEARIZABLE]


def not_linearizable_at(verdict):
    """The operation at which the registration stops being linearizable, None if it is."""
    named = [f.operation_index for f in verdict.findings if f.check == LINEARIZABLE]
    return named[0] if named else None
