"""Identify snapshots (KIP-630 "Snapshot").

See node/core/metadata/snapshot.py for the content, and node/storage/snapshots.py for files.
"""

from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.types import Epoch, Offset

SNAPSHOTS_KEPT: Final = 2
"""Number of kept snapshots; the log starts at the end of the oldest kept snapshot.

Kafka has metadata.max.retention.bytes and .ms instead, for replicas that are far behind. Here, the
newest snapshot serves such replicas. The other replaces a damaged newest snapshot.
"""

SNAPSHOTS_KEPT_FOR_DOWNLOAD: Final = 10
"""Number of kept snapshots while a replica downloads the oldest of them."""


class SnapshotId(Struct, frozen=True, order=True):
    """The records below `end_offset`; `epoch` is the epoch of the last record."""

    end_offset: Offset
    epoch: Epoch


LOG_BEGIN: Final = SnapshotId(Offset(0), Epoch(0))
"""The start of a log without a snapshot."""


class StoredSnapshot(Struct, frozen=True, kw_only=True):
    """A complete snapshot on the node's disk."""

    snapshot: SnapshotId
    size: int
    """The size of the file in bytes."""
