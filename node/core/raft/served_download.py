"""Follow the download that a leader serves, whose snapshot the leader keeps (KIP-630).

A replica that needs longer than two snapshots take would otherwise begin again and again. One
download is followed at a time. A download is over if no new slice was asked for within the fetch
time-out. See snapshots/keeping.py for the number of snapshots that wait.
"""

from msgspec import Struct

from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import Monotonic


class ServedDownload(Struct, frozen=True):
    """The furthest slice of a snapshot that a replica has asked for."""

    snapshot: SnapshotId
    position: int
    until: Monotonic
    """The time at which the download is over, unless a later slice is asked for."""


def followed(
    current: ServedDownload | None, asked: ServedDownload, now: Monotonic
) -> ServedDownload:
    """Return the download to follow after a request for a slice.

    Only a later slice extends a download, so that a replica that asks for one slice for ever keeps
    no snapshot.
    """
    if current is None:
        return asked
    if asked.snapshot == current.snapshot:
        return asked if asked.position > current.position else current
    return asked if now >= current.until else current
