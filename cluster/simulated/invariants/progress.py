"""The invariant of a process's use of time; see final_checks.py for progress of the cluster."""

from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Events, Invariant, ProcessView
from kraftproof.node.core.events import Tick

MAX_STEPS = 10_000
"""Maximum number of ticks at one instant; the backlog after a pause is some hundred messages."""


class NoBusyLoop(Invariant):
    """A deadline that stays in the past makes a node handle ticks forever.

    Only ticks can repeat at one instant: messages and disk operations take time.
    """

    statement = "A process takes a bounded number of steps at one instant."
    step_events: ClassVar[Events] = (Tick,)

    def __init__(self) -> None:
        super().__init__()
        self._instants: dict[int, int] = {}
        self._steps: dict[int, int] = {}

    @override
    def on_step(self, process: ProcessView) -> None:
        node_id, now_ns = process.node_id, process.now_ns()
        if self._instants.get(node_id) != now_ns:
            self._instants[node_id] = now_ns
            self._steps[node_id] = 0
        self._steps[node_id] += 1
        if self._steps[node_id] > MAX_STEPS:
            self._steps[node_id] = 0
            self.monitor.report_violation(self, process, f"{MAX_STEPS} ticks at one instant")
