"""Let a shell carry out drawn effects, while work ends in any order; compare with the contract."""

from collections import Counter
from random import Random
from typing import Final

from msgspec.structs import asdict

from kraftproof.cluster.simulated.differential.difference import DifferenceError, check, same
from kraftproof.cluster.simulated.differential.shell.node import ShellNode
from kraftproof.cluster.simulated.differential.shell.ports import Pending, Timer
from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.core.effects import (
    Forward,
)
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.generated.metadata_request import MetadataRequest
from kraftproof.node.wire.messages.generated.metadata_response import MetadataResponse
from kraftproof.node.wire.principal import Principal

RUNS: Final = 6
STEPS: Final = 80
MOST_TIMERS: Final = 1_000
"""Number of timers after which a shell is taken for one that never rests."""
FAILING: Final = ("append", "start_flush", "truncate", "persist_quorum_state", "read_slice")


def compare_shell(random: Random) -> None:
    """Run a shell through drawn steps, and end all work.

    Raises:
        DifferenceError: the shell breaks the contract of effects.
    """
    for _ in range(RUNS):
        run = ShellRun(random)
        for _ in range(STEPS):
            run.act()
        run.end()


class ShellRun(ShellNode):
    """A shell amid clients, peers, time and work that ends in any order."""

    def act(self) -> None:
        """Let something happen outside of the shell."""
        if self.may_fail and self.random.random() < 0.05:
            self.rig.fails_at = self.random.choice(FAILING)
        match self.random.choice("rrffffaacttwl"):
            case "r":
                self._receive()
            case "f" if self.rig.pending:
                self._finish(self.random.choice(self.rig.pending))
            case "a":
                self._peers()
            case "t":
                self._advance(self.random.choice((1, 10, 100)))
            case "l":
                self._answer_late()
            case "w":
                self._run(self.random.choice((None, 0, 1, 2)))
            case "c":
                self.ticks += 1
                self.random.choice((self.shell.tick, self.shell.stop))()
            case _:
                pass
        self._compare()

    def _receive(self) -> None:
        if self.rig.is_over:
            return
        self.clients += 1
        number = self.clients
        is_forwarded = self.random.random() < 0.3
        event = Received(
            request=number,
            message=MetadataRequest(allow_auto_topic_creation=self.random.random() < 0.5),
            version=self.random.randrange(13),
            on_controller_listener=self.random.random() < 0.5,
            principal=Principal(type="User", name=f"user {number}"),
            client_host=f"host {number}",
            forwarded_by=Principal(type="User", name=f"broker {number}") if is_forwarded else None,
            forwarder_host=f"broker host {number}" if is_forwarded else "",
            listener=self.random.choice(("CLIENT", "OTHER")),
            security_protocol=self.random.choice(list(SecurityProtocol)),
            client_id=f"client {number}",
            correlation_id=number + 7,
        )
        self.clients_events[number] = event
        facts = {name: value for name, value in asdict(event).items() if name != "request"}
        self.shell.receive(f"client {number}", **facts)

    def _run(self, most_steps: int | None) -> None:
        """Let the shell step, at most so many times as the caller allows."""
        before = self.steps
        self.shell.run(most_steps)
        taken = self.steps - before
        if most_steps is not None:
            check(f"{taken} steps of at most {most_steps}", taken <= most_steps)
        if self.shell.has_work:
            same("steps of a shell that still has work", taken, most_steps)

    def _finish(self, work: Pending) -> None:
        self.rig.pending.remove(work)
        if self.may_fail and work.kind != "barrier" and self.random.random() < 0.1:
            work.fail(OSError(5, "Input/output error"))
            if work.kind in {"fsync", "run", "encode"}:
                check("a failed fsync ends the node", self.rig.is_over)
            return
        work.finish()

    def _peers(self) -> None:
        """Establish, end or answer on a connection; some answers are of no request."""
        open_ones = [one for one in self.rig.lanes.connections if not one.is_closed]
        if not open_ones or self.rig.is_over:
            return
        one = self.random.choice(open_ones)
        match self.random.choice("eaaaaxs"):
            case "e":
                one.is_established = True
            case "a" if one.is_established and one.sent:
                number = self.random.choice(sorted(one.sent))
                effect = one.sent.pop(number)
                message = MetadataResponse(throttle_time_ms=effect.correlation)
                self.answers[effect.correlation] = message
                one.owner.answered(
                    one, number, lambda request: self._read(request, effect, message)
                )
            case "x":
                one.may_close = True
                one.owner.ended(one)
                check("an ended connection is closed", one.is_closed)
            case "s" if one.is_established:
                one.may_close = True
                stray = max(one.sent, default=0) + 9
                one.owner.answered(one, stray, lambda _: MetadataResponse())
                check("a connection with a stray answer is closed", one.is_closed)
            case _:
                pass

    def _answer_late(self) -> None:
        """Answer on a connection that the shell has given up; nobody waits for the answer."""
        given_up = [one for one in self.rig.lanes.connections if one.is_closed]
        if not given_up or self.rig.is_over:
            return
        one = self.random.choice(given_up)
        late = self.random.choice((0, *sorted(one.sent)))
        one.owner.answered(one, late, self._refuse_late)

    def _refuse_late(self, request: object) -> Message:
        raise DifferenceError(f"an answer of a connection that was given up answers {request}")

    def _read(self, request: object, effect: object, message: Message) -> Message:
        check("an answer is read for its request", request is effect)
        return message

    def _advance(self, duration_ns: int) -> None:
        """Let time pass, timer by timer; a timer that is due begins no other that is due at once.

        Raises:
            DifferenceError: the timers have no end.
        """
        until_ns = self.rig.now_ns + duration_ns
        for _ in range(MOST_TIMERS):
            waiting = [one for one in self.rig.timers if one.action is not None]
            following = min(waiting, key=lambda one: one.due_ns, default=None)
            if following is None or following.due_ns > until_ns:
                self.rig.now_ns = until_ns
                return
            self.rig.now_ns = max(self.rig.now_ns, following.due_ns)
            self._ring(following)
        raise DifferenceError(f"the timers of a shell have no end at {self.rig.now_ns} ns")

    def _ring(self, timer: Timer) -> None:
        action, timer.action = timer.action, None
        if action is not None:
            action()

    def _compare(self) -> None:
        """Compare what the shell says of itself, and requests that are overdue."""
        if self.rig.is_over:
            return
        self.rig.lanes.judge_timers(self.rig.timers)
        same("the shell is held", self.shell.is_held, self.rig.is_held)
        found = sorted(event.request for event in self.shell.open_requests)
        check("open requests", set(self.requests) <= set(found))
        for one in self.rig.lanes.connections:
            for effect in () if one.is_closed else one.sent.values():
                if effect.correlation in self.asked:
                    due_ns = self.asked[effect.correlation][1] + effect.timeout_ns
                    check("a request ends in time", self.rig.now_ns <= due_ns)
                if isinstance(effect, Forward) and not one.is_established:
                    due_ns = self.asked[effect.correlation][1] + effect.connect_ns
                    check("a Forward waits a bounded time", self.rig.now_ns <= due_ns)

    def end(self) -> None:
        """Finish all work, and check that each effect was carried out and each event came."""
        self.draw.is_quiet = True
        self.may_fail = False
        self.rig.fails_at = None
        for _ in range(10_000):
            if self.rig.is_over:
                break
            self.shell.run()
            if self.rig.pending:
                self._finish(self.rig.pending[0])
            elif self.asked:
                self._advance(100)
            else:
                break
        if self.rig.is_over:
            same("the ends of a node", len(self.rig.ends), 1)
            planned = len(self.rig.planned)
            self.shell.run()
            same("effects after the end", len(self.rig.planned), planned)
            check("an ended shell has no work", not self.shell.has_work)
        else:
            same("effects that were not carried out", list(self.rig.planned), [])
            same("events that never came", +self.owed, Counter())
            same("requests to peers without an end", sorted(self.asked), [])
            same("ticks and stops that never came", self.ticks, 0)
            check("an idle shell has no work", not self.shell.has_work)
            same("the deadline of the last step", self.rig.deadline, self.deadline())
            found = [event.request for event in self.shell.open_requests]
            same("requests without an answer", found, sorted(self.requests))
        self.is_closing = True
        self.shell.close()
        left = [one for one in self.rig.lanes.connections if not one.is_closed]
        same("connections after the end", len(left), 0)
        self.rig.lanes.judge_timers(self.rig.timers)
