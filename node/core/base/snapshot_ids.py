"""What names a snapshot, and what a node has of them (KIP-630 "Snapshot").

Not: what is in one (node/core/metadata/snapshot.py), nor its file (node/storage/snapshots.py).
"""

from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.types import Epoch, Offset

SNAPSHOTS_KEPT: Final = 2
"""The log starts at the oldest snapshot kept, once there are this many; older ones go.

A number, where Kafka has metadata.max.retention.bytes and .ms: those serve replicas that are far
behind, and these are served by the newest snapshot as well. Two, so that a replica that copies
the newest one is not cut short by the next, and a damaged newest one has another behind it.
"""


class SnapshotId(Struct, frozen=True, order=True):
    """Everything below `end_offset`, of which the last record has this epoch."""

    end_offset: Offset
    epoch: Epoch


LOG_BEGIN: Final = SnapshotId(Offset(0), Epoch(0))
"""Where a log starts that no snapshot stands before."""


class StoredSnapshot(Struct, frozen=True, kw_only=True):
    """A complete snapshot on this node's disk."""

    snapshot: SnapshotId
    size: int
    """Of its file, in bytes."""
