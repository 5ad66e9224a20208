"""Choose the log directory of a new replica, as Kafka does (KIP-112, KIP-858).

The controller names the directory of a broker with a single directory. A broker with several
directories chooses the one with the fewest logs, and tells the controller afterwards.
"""

from collections.abc import Sequence

from kraftproof.node.core.base.directory_ids import MIGRATING, UNASSIGNED, is_reserved
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.metadata.image import BrokerRegistration, Partition
from kraftproof.node.wire.types import ZERO_UUID, Uuid


def assigned_directory(partition: Partition, node_id: NodeId) -> Uuid:
    """Return the directory of a broker's replica in the image."""
    places = zip(partition.replicas, partition.directories, strict=False)
    return next((directory for node, directory in places if node == node_id), MIGRATING)


def has_disk(partition: Partition, broker: BrokerRegistration) -> bool:
    """Return whether a broker's replica is in a working directory, as far as the image tells."""
    assigned = assigned_directory(partition, broker.broker_id)
    return assigned in {MIGRATING, UNASSIGNED, *broker.log_dirs}


class LogDirectories:
    """The working log directories of a broker, each with its number of logs."""

    __slots__ = ("_has_failed", "_logs")

    def __init__(self, ids: Sequence[Uuid], *, has_failed: bool) -> None:
        self._logs = dict.fromkeys(ids, 0)
        self._has_failed = has_failed

    @property
    def online(self) -> tuple[Uuid, ...]:
        """Return the working directories in the order of log.dirs."""
        return tuple(self._logs)

    @property
    def has_failed(self) -> bool:
        """Return whether a directory has failed, at the start or later."""
        return self._has_failed

    def count(self, directory: Uuid, change: int) -> None:
        """Change the number of logs in a directory."""
        if directory in self._logs:
            self._logs[directory] += change

    def fail(self, directory: Uuid) -> None:
        """Remove a failed directory."""
        self._logs.pop(directory, None)
        self._has_failed = True

    def place(self, assigned: Uuid) -> Uuid | None:
        """Return the directory of a new log; None if the assigned directory has failed.

        An assigned directory that is unknown here was replaced, unless a directory has failed.
        Without known directories, the storage chooses.
        """
        if assigned in self._logs or not self._logs:
            return assigned if self._logs else ZERO_UUID
        if self._has_failed and not is_reserved(assigned):
            return None
        return min(self._logs, key=self._logs.__getitem__)
