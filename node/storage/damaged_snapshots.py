"""Judge the damaged snapshots that a start has found."""

from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import join
from kraftproof.node.storage.log import MetadataLog
from kraftproof.node.storage.snapshots import Found, snapshot_name


def unused_snapshots(directory: str, found: Found) -> list[str]:
    """Return a warning for each damaged snapshot."""
    return [
        f"{join(directory, snapshot_name(snapshot))}: {reason}; it is not used, what it held is in"
        " the log"
        for snapshot, reason in found.refused
    ]


def refuse_gap(directory: str, found: Found, log: MetadataLog) -> None:
    """Check that the log holds the committed records of each damaged snapshot.

    Raises:
        StorageError: the log ends below a damaged snapshot.
    """
    for snapshot, reason in found.refused:
        if snapshot.end_offset > log.end_offset:
            raise StorageError(
                f"{join(directory, snapshot_name(snapshot))}: {reason}, and the log ends at"
                f" {log.end_offset}; restore the file, or clear the node's metadata directory if"
                " other voters are whole"
            )
