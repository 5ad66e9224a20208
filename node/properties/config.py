"""Parse a server.properties into the configuration of shell and core (KIP-631).

Every mistake is a ConfigError of one line. See node/server for the reading of files.
"""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.node.core.base.config import (
    NodeConfig,
    ReplicationPolicy,
    SnapshotPolicy,
    Timeouts,
)
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, milliseconds
from kraftproof.node.properties.authorizer import read_authorizer, read_early_listeners
from kraftproof.node.properties.creation import read_auto_creation, read_internal_topics
from kraftproof.node.properties.identity import read_directories, read_node_id, read_roles
from kraftproof.node.properties.keys import (
    INT64_MAX,
    REPLICATION_NUMBER_KEYS,
    REPLICATION_TIME_KEYS,
    SEGMENT_BYTES_KEY,
    SNAPSHOT_BYTES_KEY,
    SNAPSHOT_INTERVAL_KEY,
    SNAPSHOT_SLICE_KEY,
    TIMEOUT_KEYS,
    USED_KEYS,
    ConfigError,
    Reader,
    host_port,
    integer,
    names,
    read_keys,
)
from kraftproof.node.properties.known_keys import unused_keys
from kraftproof.node.properties.listener_security import PeerSecurity, read_tokens
from kraftproof.node.properties.listeners import (
    Binding,
    read_bindings,
    read_broker_peers,
    read_controller_peers,
    read_endpoints,
    read_inter_broker_listener,
)
from kraftproof.node.properties.plugins import (
    read_create_topic_policy,
    read_principal_builder,
)
from kraftproof.node.properties.quotas import read_byte_quotas, read_mutation_quotas
from kraftproof.node.properties.voters import FormattedVoters, no_voters, read_voters
from kraftproof.node.storage.log import DEFAULT_SEGMENT_BYTES
from kraftproof.node.storage.stored import StorageConfig
from kraftproof.node.wire.principal import PrincipalBuilder
from kraftproof.node.wire.types import Uuid

DEFAULT_FRAME_BYTES = 100 * 1024 * 1024
DEFAULT_CONNECTIONS = 1000
DEFAULT_IDLE_MS = 600_000


class ServerConfig(Struct, frozen=True, kw_only=True):
    """The configuration of the shell, with the core's configuration."""

    node: NodeConfig
    """Without cluster id and incarnation, which `node_config` adds."""
    storage: StorageConfig
    bindings: tuple[Binding, ...]
    early_listeners: tuple[str, ...]
    """The names of the client listeners that open at the start (early.start.listeners)."""
    inter_broker_listener: str
    """The name of the listener that brokers replicate from."""
    principals: PrincipalBuilder
    """The builder of principal.builder.class."""
    trace_file: str | None
    metrics_address: tuple[str, int] | None
    """The address of metrics.listener for Prometheus; None without metrics."""
    frame_bytes: int
    """The value of socket.request.max.bytes."""
    connections: int
    """The value of max.connections, for each listener."""
    idle_ns: int | None
    """The value of connections.max.idle.ms in nanoseconds; None if negative, for no limit."""
    controller_peers: PeerSecurity
    """The security of connections to controllers."""
    broker_peers: PeerSecurity
    """The security of connections to other brokers."""
    failed_login_delay_ms: int
    """The value of connection.failed.authentication.delay.ms."""
    unused_keys: tuple[str, ...] = ()
    """The keys of the file that Kafka knows and that have no effect in this node."""

    def node_config(
        self,
        *,
        cluster_id: str,
        incarnation: Uuid,
        previous_broker_epoch: int = -1,
    ) -> NodeConfig:
        """Return the core's configuration with the parts from storage and process start."""
        return replace(
            self.node,
            cluster_id=cluster_id,
            incarnation=incarnation,
            previous_broker_epoch=previous_broker_epoch,
        )


def parse_server_properties(
    text: str, formatted_voters: FormattedVoters = no_voters
) -> ServerConfig:
    """Return the configuration of a server.properties.

    `formatted_voters` returns the voters that the formatting wrote into a metadata directory.

    Raises:
        ConfigError: a key is unknown, a value is out of bounds, or keys contradict each other.
    """
    pairs = read_keys(text)
    unused = unused_keys(pairs, USED_KEYS)
    reader = Reader(pairs)
    roles = read_roles(reader)
    node_id = read_node_id(reader)
    bindings = read_bindings(reader, roles)
    endpoints = read_endpoints(reader, bindings)
    directories = read_directories(reader)
    voters = read_voters(
        reader, node_id, roles, endpoints, lambda: formatted_voters(directories[0])
    )
    node = NodeConfig(
        node_id=node_id,
        cluster_id="",
        is_controller="controller" in roles,
        is_broker="broker" in roles,
        voters=voters,
        endpoints=endpoints,
        rack=reader.text("broker.rack"),
        default_replication_factor=reader.integer("default.replication.factor", 1, 1, 32767),
        default_partitions=reader.integer("num.partitions", 1, 1),
        static_configs=tuple(sorted(pairs.items())),
        timeouts=_timeouts(reader),
        snapshots=read_snapshots(reader, SnapshotPolicy()),
        replication=_replication(reader),
        tokens=read_tokens(reader),
        byte_quotas=read_byte_quotas(reader),
        mutation_quotas=read_mutation_quotas(reader),
        authorizer=read_authorizer(reader),
        auto_creates_topics=read_auto_creation(reader),
        asks_controller_versions=True,
        creates_internal_topics=True,
        internal_topics=read_internal_topics(reader),
        create_topic_policy=read_create_topic_policy(reader),
    )
    inter_broker_listener = read_inter_broker_listener(reader, bindings)
    return ServerConfig(
        node=node,
        storage=_storage(reader, node, directories),
        bindings=bindings,
        inter_broker_listener=inter_broker_listener,
        controller_peers=read_controller_peers(reader),
        broker_peers=read_broker_peers(reader, inter_broker_listener),
        failed_login_delay_ms=reader.integer("connection.failed.authentication.delay.ms", 100, 0),
        early_listeners=read_early_listeners(reader, tuple(one.name for one in bindings)),
        principals=read_principal_builder(reader),
        trace_file=reader.text("trace.file"),
        metrics_address=_metrics_address(reader),
        frame_bytes=reader.integer("socket.request.max.bytes", DEFAULT_FRAME_BYTES, 1024),
        connections=reader.integer("max.connections", DEFAULT_CONNECTIONS, 1),
        idle_ns=_idle_ns(reader),
        unused_keys=unused,
    )


def _idle_ns(reader: Reader) -> int | None:
    idle_ms = reader.integer("connections.max.idle.ms", DEFAULT_IDLE_MS, -1)
    return None if idle_ms < 0 else milliseconds(max(idle_ms, 1))


def parse_hosts(text: str) -> Mapping[str, str]:
    """Parse a hosts file (`address name...`) into a map from names to addresses."""
    hosts: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.partition("#")[0].split()
        if len(fields) == 1:
            raise ConfigError(f"--hosts-file line {number}: {line!r} is not `address name...`")
        for name in fields[1:]:
            hosts[name] = fields[0]
    return hosts


def _timeouts(reader: Reader) -> Timeouts:
    values: dict[str, int] = {}
    for key, field in TIMEOUT_KEYS.items():
        text = reader.text(key)
        if text is not None:
            values[field] = milliseconds(integer(key, text, 1))
    return Timeouts(**values)


def _replication(reader: Reader) -> ReplicationPolicy:
    """Return the rules of the data plane; Kafka's defaults without keys."""
    values: dict[str, int] = {}
    for key, field in REPLICATION_TIME_KEYS.items():
        text = reader.text(key)
        if text is not None:
            values[field] = milliseconds(integer(key, text, 1))
    for key, field in REPLICATION_NUMBER_KEYS.items():
        text = reader.text(key)
        if text is not None:
            values[field] = integer(key, text, 1)
    return ReplicationPolicy(is_enabled=True, **values)


def _metrics_address(reader: Reader) -> tuple[str, int] | None:
    value = reader.text("metrics.listener")
    return None if value is None else host_port("metrics.listener", value, value)


def read_snapshots(reader: Reader, default: SnapshotPolicy) -> SnapshotPolicy:
    """Return the snapshot policy (631-31), within Kafka's bounds.

    Raises:
        ConfigError: a value is out of bounds.
    """
    interval_ms = default.interval_ns // NANOSECONDS_PER_MS
    return SnapshotPolicy(
        bytes_between=reader.integer(SNAPSHOT_BYTES_KEY, default.bytes_between, 1, INT64_MAX),
        interval_ns=milliseconds(reader.integer(SNAPSHOT_INTERVAL_KEY, interval_ms, 0)),
        slice_bytes=reader.integer(SNAPSHOT_SLICE_KEY, default.slice_bytes, 1),
    )


def read_segment_bytes(reader: Reader, default: int) -> int:
    """Return the maximum size of a segment in bytes.

    Raises:
        ConfigError: the value is out of bounds.
    """
    return reader.integer(SEGMENT_BYTES_KEY, default, 1024)


def _storage(reader: Reader, node: NodeConfig, directories: tuple[str, ...]) -> StorageConfig:
    return StorageConfig(
        node_id=node.node_id,
        directories=directories,
        metadata_directory=directories[0],
        log_directories=names(reader.text("log.dirs") or reader.text("log.dir") or ""),
        voter_ids=node.voter_ids,
        segment_bytes=read_segment_bytes(reader, DEFAULT_SEGMENT_BYTES),
    )
