"""The faults of the disk of a live node."""

from typing import Final

from kraftproof.cluster.protocol import Capability

DISK_CAPABILITIES: Final = frozenset(
    {
        Capability.LOSE_UNSYNCED,
        Capability.DISK_FULL,
        Capability.DISK_ERROR,
        Capability.SLOW_DISK,
    }
)
"""See `node_disk.unusable` for machines without such disks."""
