"""Watch the health of a live run's nodes, and judge the health with the log of the faults."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kraftproof.checkers.history.faults import fault_spans, read_faults
from kraftproof.checkers.run_outcome import ViolatedInvariant
from kraftproof.cluster.answer_watch import WatchesAnswers
from kraftproof.cluster.plugin import blamed, plugin
from kraftproof.cluster.protocol import Cluster, ClusterOptions
from kraftproof.cluster.remote.output import last_words
from kraftproof.cluster.remote.readiness import lacks_of
from kraftproof.cluster.systems.calls import resigns_s_of
from kraftproof.cluster.systems.outcome import Completion
from kraftproof.cluster.systems.system import Registration, System
from kraftproof.run.health.answers import broken_promises
from kraftproof.run.health.internal_errors import InternalError, internal_errors
from kraftproof.run.health.leaders import leader_changes, replaced_leaders
from kraftproof.run.health.node_watch import NodeWatch
from kraftproof.run.health.processes import fatal_lines, processes_that_ended
from kraftproof.run.health.promises import RECOVER, in_force, violation
from kraftproof.run.health.registrations import unregistered

POLL_NS: Final = 200_000_000
GONE_NS: Final = 5_000_000_000
"""Time without a process after which a node does not come back."""


@dataclass(slots=True)
class Health:
    """The watches of a live run."""

    cluster: Cluster
    system: System
    options: ClusterOptions
    report: Callable[[Exception], None]
    """Takes a mistake of the system, which ends the run."""
    internal: list[InternalError] = field(default_factory=list)
    late: list[ViolatedInvariant] = field(default_factory=list)
    registrations: Sequence[Registration] = ()
    """The registrations of controllers in the collected logs."""
    _watch: NodeWatch = field(init=False)
    _resigns_s: float | None = field(init=False)

    def __post_init__(self) -> None:
        self._resigns_s = resigns_s_of(self.system, self.options)
        self._watch = NodeWatch(self.cluster, self.system, self.report)

    def start(self) -> None:
        """Begin to watch a cluster that is up."""
        self._watch.start()

    async def stop(self) -> None:
        """End the watch, before the nodes are stopped."""
        await self._watch.stop()

    def observe(self, node_id: int | None, f: str, key: str, completion: Completion) -> None:
        """Take the completion of an operation."""
        if completion.error in self.system.internal_errors:
            self.internal.append(
                InternalError(
                    node_id=node_id,
                    time_ns=self.cluster.scope.now(),
                    f=f,
                    key=key,
                    error=str(completion.error),
                )
            )

    async def recover(self) -> None:
        """Wait until the cluster is ready again, after the last heal, for `ready_s` at most."""
        scope = self.cluster.scope
        begun_ns = scope.now()
        gone: dict[int, int] = {}
        while True:
            lacks = await lacks_of(self.cluster, self.system)
            if lacks is None or self._watch.broken_link is not None:
                return
            waited_ns = scope.now() - begun_ns
            for node in self.cluster.nodes:
                if await self.cluster.process_id(node.node_id) is not None:
                    gone.pop(node.node_id, None)
                else:
                    gone.setdefault(node.node_id, scope.now())
            is_gone = any(scope.now() - since_ns > GONE_NS for since_ns in gone.values())
            if is_gone or waited_ns > self.system.ready_s * 1e9:
                detail = f"{waited_ns / 1e9:.0f} s after the last heal: {lacks}"
                node_id = min(gone, default=None)
                if node_id is not None:
                    detail += f"; node {node_id} has ended: {self._last_words(node_id)}"
                broken = violation(RECOVER, node=node_id, time_ns=scope.now(), detail=detail)
                self.late.append(broken)
                return
            await scope.sleep(POLL_NS)

    def read_registrations(self) -> None:
        """Read the registrations of controllers in the collected files of the nodes."""
        with blamed(plugin("system", self.system.name, self.system), "registrations"):
            self.registrations = tuple(self.system.registrations(self.cluster))

    def violations(self, faults: Path) -> tuple[ViolatedInvariant, ...]:
        """Return the broken promises in the order of time, by the log of the run's faults.

        With a failed proxy nobody knows which links the nodes had: no promise is judged.
        """
        if self._watch.broken_link is not None:
            return ()
        events = read_faults(faults)
        spans, watch = in_force(events), self._watch
        found = [
            *processes_that_ended(
                watch.looks,
                [node.node_id for node in self.cluster.nodes],
                spans,
                self._last_words,
            ),
            *fatal_lines(watch.fatal, watch.looks),
            *internal_errors(self.internal, spans),
            *self.late,
        ]
        found += unregistered(watch.looks, self.registrations, spans, watch.wall_ns)
        if self._resigns_s is not None:
            found += replaced_leaders(watch.looks, spans, int(self._resigns_s * 1e9))
        if isinstance(self.cluster, WatchesAnswers):
            found += broken_promises(self.cluster.answers, fault_spans(events))
        return tuple(sorted(found, key=lambda one: one.time_ns or 0))

    def leader_changes(self) -> tuple[tuple[int, int], ...]:
        """Return when another node began to lead, as the looks saw it."""
        return leader_changes(self._watch.looks)

    def _last_words(self, node_id: int) -> str:
        return last_words(self.cluster.node_files(node_id))
