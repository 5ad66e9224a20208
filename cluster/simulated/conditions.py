"""What a run's world is like: all that was drawn once and for the whole run, for people.

Not: drawing it (world.py), nor the faults of a schedule, which come on top.
"""

from dataclasses import dataclass

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.simulated.network.link_faults import describe_link_fault
from kraftproof.cluster.simulated.network.links import Delays
from kraftproof.node.core.base.config import SnapshotPolicy

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """One run's.

    Attributes:
        delays: How long messages take.
        link_fault: What goes wrong with some of them everywhere.
        ties: The share of random waits that are as short as can be.
        largest_drift_ppm: How wrong the rates of the wall clocks may be.
        wall_difference_ns: How wrong the wall clocks may be at the start.
        passes_bytes: Whether messages pass through the codec.
        segment_bytes: How large a segment of the log may grow.
        snapshots: When snapshots are written, and in which slices they are copied.
    """

    delays: Delays
    link_fault: LinkFault
    ties: float
    largest_drift_ppm: int
    wall_difference_ns: int
    passes_bytes: bool
    segment_bytes: int
    snapshots: SnapshotPolicy

    def describe(self) -> str:
        """Say it in one line; what is as quiet as can be is left out."""
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
        if self.passes_bytes:
            words.append("codec")
        return ", ".join(words)
