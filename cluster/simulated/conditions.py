"""The random conditions of a whole run, with a description for people.

See world.py for drawing the conditions. The faults of a schedule come in addition.
"""

from dataclasses import dataclass

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.simulated.network.failed_answers import FailedAnswers
from kraftproof.cluster.simulated.network.link_faults import describe_link_fault
from kraftproof.cluster.simulated.network.links import Delays
from kraftproof.node.core.base.config import SnapshotPolicy

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """The conditions of one run.

    Attributes:
        delays: Distribution of message delays.
        link_fault: Permanent fault of the links between nodes.
        ties: Share of random waits with the shortest possible value.
        largest_drift_ppm: Largest rate error of wall clocks, in parts per million.
        wall_difference_ns: Largest offset of wall clocks at the start, in nanoseconds.
        failed_answers: Faults of the answers between nodes, if any.
        passes_bytes: Whether messages pass through the codec.
        segment_bytes: Maximum size of a log segment.
        snapshots: Policy of writing snapshots, and the size of fetched slices.
        inherited_records: Number of records of the log with which the controllers begin.
    """

    delays: Delays
    link_fault: LinkFault
    ties: float
    largest_drift_ppm: int
    wall_difference_ns: int
    passes_bytes: bool
    segment_bytes: int
    snapshots: SnapshotPolicy
    failed_answers: FailedAnswers | None = None
    inherited_records: int = 0

    def describe(self) -> str:
        """Describe the conditions in one line, without the default values."""
        words = [
            f"delay {self.delays.base_ns / NS_PER_MS:g}+{self.delays.mean_ns / NS_PER_MS:g} ms"
        ]
        if self.delays.spike_share:
            spike_ms = self.delays.spike_ns / NS_PER_MS
            words.append(f"spikes {self.delays.spike_share:.1%} to {spike_ms:g} ms")
        words.append(describe_link_fault(self.link_fault))
        if self.ties:
            words.append(f"ties {self.ties:.0%}")
        if self.wall_difference_ns:
            words.append(f"wall clocks ±{self.wall_difference_ns / NS_PER_S:g} s")
        if self.largest_drift_ppm:
            words.append(f"drift ±{self.largest_drift_ppm / 10_000:g} %")
        if self.snapshots.bytes_between < 1 << 20:
            words.append(f"snapshots each {self.snapshots.bytes_between} B")
        if self.segment_bytes < 1 << 20:
            words.append(f"segments {self.segment_bytes} B")
        if self.failed_answers is not None:
            words.append(self.failed_answers.describe())
        if self.inherited_records:
            words.append(f"{self.inherited_records} inherited records")
        if self.passes_bytes:
            words.append("codec")
        return ", ".join(words)
