"""What a node knows before it starts, as plain values. Not: parsing (node/properties/config.py)."""

from msgspec import Struct

from kraftproof.node.core.base.types import NodeId, milliseconds
from kraftproof.node.wire.types import ZERO_UUID, Uuid


class Endpoint(Struct, frozen=True, kw_only=True):
    """One listener: its name, the address others reach it at, and whom it serves."""

    name: str
    host: str
    port: int
    is_controller: bool


class Voter(Struct, frozen=True, kw_only=True):
    """One entry of controller.quorum.voters (595-01)."""

    node_id: NodeId
    host: str
    port: int


class Timeouts(Struct, frozen=True, kw_only=True):
    """Every time-out of a node, in nanoseconds; the defaults are the KIPs' (631-81 to 83)."""

    election_ns: int = milliseconds(1000)
    election_backoff_max_ns: int = milliseconds(1000)
    fetch_ns: int = milliseconds(2000)
    request_ns: int = milliseconds(2000)
    retry_backoff_ns: int = milliseconds(20)
    retry_backoff_max_ns: int = milliseconds(1000)
    heartbeat_interval_ns: int = milliseconds(3000)
    session_ns: int = milliseconds(18000)
    initial_registration_ns: int = milliseconds(60000)


class SnapshotPolicy(Struct, frozen=True, kw_only=True):
    """When a node writes a snapshot, and how it copies one (631-31)."""

    bytes_between: int = 20 * 1024 * 1024
    """metadata.log.max.record.bytes.between.snapshots."""
    interval_ns: int = milliseconds(3_600_000)
    """metadata.log.max.snapshot.interval.ms; 0 is never."""
    slice_bytes: int = 1024 * 1024
    """The most that a FetchSnapshot asks for and that its answer holds."""


class NodeConfig(Struct, frozen=True, kw_only=True):
    """One node: who it is, whom it knows and how long it waits."""

    node_id: NodeId
    cluster_id: str
    is_controller: bool
    is_broker: bool
    voters: tuple[Voter, ...]
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None
    incarnation: Uuid = ZERO_UUID
    """Drawn anew at each process start (631-42)."""
    log_dirs: tuple[Uuid, ...] = ()
    """The ids of the log directories, kept on the disk (KIP-858)."""
    default_replication_factor: int = 1
    default_partitions: int = 1
    timeouts: Timeouts = Timeouts()
    snapshots: SnapshotPolicy = SnapshotPolicy()

    @property
    def voter_ids(self) -> tuple[NodeId, ...]:
        """The ids of the voters, ascending."""
        return tuple(sorted(voter.node_id for voter in self.voters))
