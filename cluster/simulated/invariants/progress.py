"""What must hold of a process's use of time. Not: progress of the cluster (final_checks.py)."""

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView
from kraftproof.node.core.events import Tick

MAX_STEPS = 10_000
"""Far more than any backlog: a process that wakes finds some hundred messages."""


class NoBusyLoop(Invariant):
    """A node whose deadline stays in the past is ticked for ever, and does nothing else.

    Ticks alone can do that: whatever else reaches a process has taken time on its way.
    """

    sentence = "A process never takes steps without end at one instant."

    def __init__(self) -> None:
        super().__init__()
        self._instants: dict[int, int] = {}
        self._steps: dict[int, int] = {}

    @override
    def stepped(self, process: ProcessView) -> None:
        if type(process.event) is not Tick:
            return
        node_id, now_ns = process.node_id, process.now_ns()
        if self._instants.get(node_id) != now_ns:
            self._instants[node_id] = now_ns
            self._steps[node_id] = 0
        self._steps[node_id] += 1
        if self._steps[node_id] > MAX_STEPS:
            self._steps[node_id] = 0
            self.monitor.report_violation(
                self, process, f"{MAX_STEPS} ticks, and no time has passed"
            )
