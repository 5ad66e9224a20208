"""Coverage of a search: combinations of role, event and fault, counted over runs.

See cluster/simulated/trace/coverage.py for the definition of a cell, and steering.py for the choice
of the next seed.
"""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from kraftproof.cluster.protocol import Cluster
from kraftproof.run.history import FaultEvent, FaultRecorder

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.trace.coverage import Cell, Coverage


class CoverageWatch:
    """Records the covered cells of a run; the run may go on after crashes of nodes."""

    def __init__(self, *, outlives_crashes: bool = False) -> None:
        self._coverage: Coverage | None = None
        self._outlives_crashes = outlives_crashes

    def __call__(self, cluster: Cluster, faults: FaultRecorder) -> None:
        """Start to watch a simulated cluster before the cluster starts."""
        from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
        from kraftproof.cluster.simulated.trace.coverage import Coverage

        assert isinstance(cluster, SimulatedCluster), "only the simulator's runs are watched"
        self._coverage = Coverage()
        cluster.world.monitor.join(self._coverage)
        cluster.world.outlives_crashes = self._outlives_crashes
        faults.listener = self._fault

    def _fault(self, event: FaultEvent) -> None:
        assert self._coverage is not None, "it listens since then"
        if event.phase == "applied":
            self._coverage.fault_begins(event.kind)
        elif event.phase == "healed":
            self._coverage.fault_ends(event.kind)

    @property
    def cells(self) -> "frozenset[Cell]":
        """The covered cells of the run; empty if the run never started."""
        return frozenset() if self._coverage is None else self._coverage.cells


class Covered:
    """Number of runs of a search per covered cell."""

    def __init__(self) -> None:
        self.runs: Counter[Cell] = Counter()

    def add(self, cells: "frozenset[Cell]") -> int:
        """Count a run; return the number of newly covered cells."""
        new = sum(cell not in self.runs for cell in cells)
        self.runs.update(cells)
        return new

    def describe(self) -> str:
        """Return the counts in one line."""
        roles, events, faults = (len({cell[i] for cell in self.runs}) for i in range(3))
        return (
            f"{len(self.runs)} cells of role x event x fault "
            f"({roles} roles, {events} events, {faults} faults)"
        )

    def write(self, path: Path) -> None:
        """Write a table with tabs: role, event, fault, number of runs."""
        lines = ["role\tevent\tfault\truns"]
        lines += ["\t".join((*cell, str(self.runs[cell]))) for cell in sorted(self.runs)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
