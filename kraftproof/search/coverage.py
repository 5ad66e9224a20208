"""What a search has covered, of roles, events and faults, and how one run of it is watched.

Not: what a cell is (cluster/simulated/trace/coverage.py), nor which seeds to run next
(steering.py).
"""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from kraftproof.cluster.protocol import Cluster
from kraftproof.run.history import FaultEvent, FaultRecorder

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.trace.coverage import Cell, Coverage


class CoverageWatch:
    """Watches one run; afterwards `cells` is what it has been through."""

    def __init__(self) -> None:
        self._coverage: Coverage | None = None

    def __call__(self, cluster: Cluster, faults: FaultRecorder) -> None:
        """Begin to watch a simulated cluster that has not started."""
        from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
        from kraftproof.cluster.simulated.trace.coverage import Coverage

        assert isinstance(cluster, SimulatedCluster), "only the simulator's runs are watched"
        self._coverage = Coverage()
        cluster.world.monitor.join(self._coverage)
        faults.listener = self._fault

    def _fault(self, event: FaultEvent) -> None:
        assert self._coverage is not None, "it listens since then"
        if event.phase == "applied":
            self._coverage.fault_begins(event.kind)
        elif event.phase == "healed":
            self._coverage.fault_ends(event.kind)

    @property
    def cells(self) -> "frozenset[Cell]":
        """The cells of the run; none if it was never begun."""
        return frozenset() if self._coverage is None else self._coverage.cells


class Covered:
    """In how many runs of a search each cell was."""

    def __init__(self) -> None:
        self.runs: Counter[Cell] = Counter()

    def add(self, cells: "frozenset[Cell]") -> int:
        """Count one run; return how many of its cells no run before it had."""
        new = sum(cell not in self.runs for cell in cells)
        self.runs.update(cells)
        return new

    def describe(self) -> str:
        """Say in one line how much it is."""
        roles, events, faults = (len({cell[i] for cell in self.runs}) for i in range(3))
        return (
            f"{len(self.runs)} cells of role x event x fault "
            f"({roles} roles, {events} events, {faults} faults)"
        )

    def write(self, path: Path) -> None:
        """Write a table, tabs between: role, event, fault, and the runs that were there."""
        lines = ["role\tevent\tfault\truns"]
        lines += ["\t".join((*cell, str(self.runs[cell]))) for cell in sorted(self.runs)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
