"""Draw the end of a simulated run as a sequence diagram of its nodes.

See cluster/simulated/trace: recorder.py records the events, and diagram.py draws the lines.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kraftproof.checkers.history.operations import Operation, read_operations
from kraftproof.checkers.verdict import Finding, FindingKind, Verdict
from kraftproof.cluster.protocol import Cluster
from kraftproof.run.directory import RunDirectory
from kraftproof.run.findings import DIAGRAM_FILE
from kraftproof.run.history import FaultEvent, FaultRecorder
from kraftproof.run.runner import RunResult

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.trace.recorder import Recorder
    from kraftproof.cluster.simulated.trace.trace_events import TraceEvent

SHOWN = 40
"""Lines of the printed diagram."""
KEPT = 2000
"""Lines of the diagram in the run directory."""
CLIENTS = 0
"""Column of the clients."""


class DiagramRecorder:
    """Records a run, and draws the run afterwards."""

    def __init__(self) -> None:
        self._recorder: Recorder | None = None
        self._cluster: Cluster | None = None

    def __call__(self, cluster: Cluster, faults: FaultRecorder) -> None:
        """Start to record a simulated cluster before the cluster starts."""
        from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
        from kraftproof.cluster.simulated.trace.recorder import Recorder

        assert isinstance(cluster, SimulatedCluster), "only the simulator's runs are done again"
        self._cluster = cluster
        self._recorder = Recorder(cluster.world)
        faults.listener = self._fault

    def _fault(self, event: FaultEvent) -> None:
        from kraftproof.cluster.simulated.trace.trace_events import Kind

        nodes = [target for target in event.targets if isinstance(target, int)]
        if self._recorder is None or event.phase not in {"applied", "healed"} or not nodes:
            return
        first, *others = nodes
        self._recorder.note(Kind.FAULT, first, event.detail, also=tuple(others))

    def draw(self, result: RunResult) -> str:
        """Return the last events of the run for a screen, and write a longer diagram to a file.

        The diagram is about the node that violated an invariant, or about the key of a finding. A
        comparison with a reference is apart from the run, and has no diagram.
        """
        from kraftproof.cluster.simulated.trace.diagram import draw

        if self._recorder is None or self._cluster is None:
            return ""
        nodes, events = self._cluster.nodes, list(self._recorder.events)
        concerned: tuple[int, ...] = ()
        about: str | None = None
        if result.simulation is not None and result.simulation.violations:
            violation = result.simulation.violations[0]
            if violation.node is None or violation.time_ns is None:
                return ""
            concerned = (violation.node,)
            said = f"{violation.invariant}: {violation.detail}"
            events.append(_ending(events, violation.time_ns, violation.node, said))
        else:
            unsafe = [one for one in result.findings if one.kind is FindingKind.SAFETY]
            finding = next((one for one in unsafe if one.key is not None), None)
            about = None if finding is None else finding.key
            operation = _operation_of(finding, result.directory)
            if operation is not None:
                until_ns = operation.complete_time or operation.invoke_time or 0
                answer = json.dumps(operation.output) if operation.status == "ok" else ""
                said = f"operation {operation.index}: {operation.f} {operation.status} {answer}"
                events = [event for event in events if event.time_ns <= until_ns]
                events.append(_ending(events, until_ns, CLIENTS, said))
        text = draw(events, nodes, most=KEPT, concerned=concerned, about=about)
        (result.directory.path / DIAGRAM_FILE).write_text(text, encoding="utf-8")
        return draw(events, nodes, most=SHOWN, concerned=concerned, about=about)


def diagram_of(recorder: DiagramRecorder | None, result: RunResult) -> str:
    """Return the diagram of an invalid run and write the longer diagram; empty for other runs."""
    if recorder is None or result.verdict is not Verdict.INVALID:
        return ""
    return recorder.draw(result)


def _ending(events: "Sequence[TraceEvent]", time_ns: int, target: int, text: str) -> "TraceEvent":
    """The last line: what did not hold, with the nodes as they were."""
    from kraftproof.cluster.simulated.trace.trace_events import Kind, TraceEvent

    return TraceEvent(
        time_ns=time_ns,
        event=events[-1].event if events else 0,
        kind=Kind.VIOLATION,
        target=target,
        text=text,
        states=events[-1].states if events else (),
    )


def _operation_of(finding: Finding | None, directory: RunDirectory) -> Operation | None:
    """Return the operation of a finding, or None."""
    if finding is None or finding.operation_index is None:
        return None
    operations = read_operations(directory.history)
    return next((one for one in operations if one.index == finding.operation_index), None)
