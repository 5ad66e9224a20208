"""Define the configuration of a node as plain values; see node/properties/config.py for parsing."""

from msgspec import Struct

from kraftproof.node.core.base.types import NodeId, milliseconds
from kraftproof.node.wire.types import ZERO_UUID, Uuid


class Endpoint(Struct, frozen=True, kw_only=True):
    """A listener: name, advertised address and purpose."""

    name: str
    host: str
    port: int
    is_controller: bool


class Voter(Struct, frozen=True, kw_only=True):
    """An entry of controller.quorum.voters (595-01)."""

    node_id: NodeId
    host: str
    port: int


class Timeouts(Struct, frozen=True, kw_only=True):
    """The time-outs of a node in nanoseconds, with the defaults of the KIPs (631-81 to 83)."""

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
    """The conditions for a new snapshot, and the size of downloaded slices (631-31)."""

    bytes_between: int = 20 * 1024 * 1024
    """The value of metadata.log.max.record.bytes.between.snapshots."""
    interval_ns: int = milliseconds(3_600_000)
    """The value of metadata.log.max.snapshot.interval.ms in nanoseconds; 0 for never."""
    slice_bytes: int = 1024 * 1024
    """Maximum size of a slice, in requests and in answers."""


class NodeConfig(Struct, frozen=True, kw_only=True):
    """The configuration of a node: identity, other nodes and time-outs."""

    node_id: NodeId
    cluster_id: str
    is_controller: bool
    is_broker: bool
    voters: tuple[Voter, ...]
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None
    incarnation: Uuid = ZERO_UUID
    """A random id of each process start (631-42)."""
    log_dirs: tuple[Uuid, ...] = ()
    """The ids of the log directories, stored on the disk (KIP-858)."""
    default_replication_factor: int = 1
    default_partitions: int = 1
    static_configs: tuple[tuple[str, str], ...] = ()
    """The content of server.properties, for descriptions of the broker."""
    timeouts: Timeouts = Timeouts()
    snapshots: SnapshotPolicy = SnapshotPolicy()

    @property
    def voter_ids(self) -> tuple[NodeId, ...]:
        """Return the ids of the voters in ascending order."""
        return tuple(sorted(voter.node_id for voter in self.voters))
