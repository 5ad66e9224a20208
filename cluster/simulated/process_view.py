"""The parts of a run that invariants see: the processes, and the configuration of the cluster."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kraftproof.cluster.simulated.disk.directory_files import DirectoryFiles
from kraftproof.cluster.simulated.disk.log_mirror import LogMirror
from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirrors
from kraftproof.node.core.base.config import AuthorizerPolicy, SnapshotPolicy, Timeouts
from kraftproof.node.core.events import Event, Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.status import NodeStatus


class ProcessView(Protocol):
    """One process of a node, as seen by invariants."""

    node_id: int
    incarnation: int
    """Number of this start of the node, from 1."""
    status: NodeStatus | None
    log: LogMirror
    partitions: PartitionMirrors
    event: Event | None
    """The event of the current or last step; None for the start of the process."""
    image: MetadataImage
    """The image that the node published last."""

    def now_ns(self) -> int:
        """Return true time, in nanoseconds since the start of the run."""

    def wall_ms(self) -> int:
        """Return the wall clock of the node, with its faults, in milliseconds."""

    def running_ns(self) -> int:
        """Return the running time of the process, without pauses and waits for the disk."""

    def open_requests(self) -> Iterable[Received]:
        """Return the requests that have no answer yet."""

    def table_sizes(self) -> Iterable[tuple[str, int]]:
        """Return each table of the node's core and shell with its number of entries."""

    def log_files(self) -> Sequence[str]:
        """Return the names of the files in the directory of the metadata log."""

    def log_directories(self) -> Sequence[DirectoryFiles]:
        """Return the log directories for partitions, with the sizes of their files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterConfig:
    """Configuration of the cluster, as far as the invariants of a run need it."""

    voters: tuple[int, ...]
    timeouts: Timeouts
    cluster_id: str = ""
    default_partitions: int = 1
    default_replication_factor: int = 1
    snapshots: SnapshotPolicy = field(default_factory=SnapshotPolicy)
    voter_addresses: tuple[tuple[int, str, int], ...] = ()
    """Id, host and port of each voter; empty if no invariant compares them."""
    controller_listener: str = "CONTROLLER"
    """Name of the voters' first controller listener."""
    client_listener: str | None = None
    """Name of the brokers' first client listener; None if only their registrations tell."""

    authorizer: AuthorizerPolicy | None = None
    """The rules of the nodes' authorizer; None without an authorizer."""
    static_configs: tuple[tuple[str, str], ...] = ()
    """The settings that every node has in its own file."""
    has_data: bool = True
    """Whether the brokers keep replicas of partitions."""
    replica_lag_ns: int = 0
    """replica.lag.time.max.ms of the brokers in nanoseconds; 0 if no invariant compares it."""

    @property
    def majority(self) -> int:
        """Number of voters in a majority."""
        return len(self.voters) // 2 + 1
