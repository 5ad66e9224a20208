"""Define the configuration of a node as plain values; see node/properties/config.py for parsing."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.core.base.types import NodeId, milliseconds
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import ZERO_UUID, Uuid


class Endpoint(Struct, frozen=True, kw_only=True):
    """A listener: name, advertised address and purpose."""

    name: str
    host: str
    port: int
    is_controller: bool
    security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT


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
    directory_failure_ns: int = milliseconds(30000)


class SnapshotPolicy(Struct, frozen=True, kw_only=True):
    """The conditions for a new snapshot, and the size of downloaded slices (631-31)."""

    bytes_between: int = 20 * 1024 * 1024
    """The value of metadata.log.max.record.bytes.between.snapshots."""
    interval_ns: int = milliseconds(3_600_000)
    """The value of metadata.log.max.snapshot.interval.ms in nanoseconds; 0 for never."""
    slice_bytes: int = 1024 * 1024
    """Maximum size of a slice, in requests and in answers."""


class ReplicationPolicy(Struct, frozen=True, kw_only=True):
    """The rules of a broker's data plane, with the defaults of Kafka."""

    is_enabled: bool = False
    """Whether the broker keeps replicas; without replicas only metadata is served."""
    lag_ns: int = milliseconds(30_000)
    """The value of replica.lag.time.max.ms."""
    fetch_wait_ms: int = 500
    """The value of replica.fetch.wait.max.ms."""
    fetch_partition_bytes: int = 1024 * 1024
    """The value of replica.fetch.max.bytes."""
    fetch_response_bytes: int = 10 * 1024 * 1024
    """The value of replica.fetch.response.max.bytes."""
    fetch_backoff_ns: int = milliseconds(1000)
    """The value of replica.fetch.backoff.ms, the longest wait after an error."""
    request_timeout_ns: int = milliseconds(30_000)
    """The value of request.timeout.ms between brokers."""
    checkpoint_interval_ns: int = milliseconds(5000)
    """The value of replica.high.watermark.checkpoint.interval.ms."""
    retention_interval_ns: int = milliseconds(300_000)
    """The value of log.retention.check.interval.ms."""
    producer_expiration_ms: int = 86_400_000
    """The value of producer.id.expiration.ms."""


class TokenPolicy(Struct, frozen=True, kw_only=True):
    """The rules of delegation tokens, with the defaults of Kafka."""

    secret: Secret | None = None
    """The value of delegation.token.secret.key; None turns tokens off."""
    max_lifetime_ms: int = 604_800_000
    """The value of delegation.token.max.lifetime.ms."""
    default_lifetime_ms: int = 86_400_000
    """The value of delegation.token.expiry.time.ms."""
    sweep_interval_ns: int = milliseconds(3_600_000)
    """The value of delegation.token.expiry.check.interval.ms in nanoseconds."""


class QuotaPolicy(Struct, frozen=True, kw_only=True):
    """The windows over which the rates of clients are measured, with the defaults of Kafka."""

    windows: int = 11
    """The value of quota.window.num, or of controller.quota.window.num."""
    window_ns: int = milliseconds(1000)
    """The value of quota.window.size.seconds, or of the controller's key, in nanoseconds."""


class AuthorizerPolicy(Struct, frozen=True, kw_only=True):
    """The rules of the authorizer besides the access control entries (KIP-801)."""

    super_users: tuple[str, ...] = ()
    """The principals of super.users, such as User:admin."""
    allows_without_acl: bool = False
    """The value of allow.everyone.if.no.acl.found."""
    logs_allowed: bool = False
    """Whether the audit log has the permissions, too."""


class InternalTopics(Struct, frozen=True, kw_only=True):
    """The sizes of Kafka's internal topics, which a broker has created when they are missing."""

    group_partitions: int = 50
    """The value of offsets.topic.num.partitions."""
    group_factor: int = 3
    """The value of offsets.topic.replication.factor."""
    transaction_partitions: int = 50
    """The value of transaction.state.log.num.partitions."""
    transaction_factor: int = 3
    """The value of transaction.state.log.replication.factor."""
    share_partitions: int = 50
    """The value of share.coordinator.state.topic.num.partitions."""
    share_factor: int = 3
    """The value of share.coordinator.state.topic.replication.factor."""
    transaction_min_isr: int = 2
    """The value of transaction.state.log.min.isr."""
    share_min_isr: int = 2
    """The value of share.coordinator.state.topic.min.isr."""
    group_segment_bytes: int = 100 * 1024 * 1024
    """The value of offsets.topic.segment.bytes."""
    transaction_segment_bytes: int = 100 * 1024 * 1024
    """The value of transaction.state.log.segment.bytes."""
    share_segment_bytes: int = 100 * 1024 * 1024
    """The value of share.coordinator.state.topic.segment.bytes."""


CreateTopicPolicy = Callable[[str, int, int, Mapping[str, str]], None]
"""Takes a topic's name, numbers of partitions and replicas, and configurations.

Raises ValueError with the reason of a refusal. Numbers are -1 if the request names the replicas.
"""


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
    previous_broker_epoch: int = -1
    """The broker epoch before an orderly stop, from the log directories; else -1 (KIP-966)."""
    log_dirs: tuple[Uuid, ...] = ()
    """The ids of the working log directories, stored on the disk (KIP-858)."""
    log_dir_paths: tuple[str, ...] = ()
    """The path of each of `log_dirs`."""
    failed_log_dirs: tuple[str, ...] = ()
    """The paths of the log directories that could not be opened at the start."""
    damaged_logs: tuple[tuple[LogId, Uuid], ...] = ()
    """The logs that the start has refused as damaged, each with the id of its log directory."""
    bootstrap: tuple[Record, ...] = ()
    """The first records of the cluster, from the formatting; a cluster with records needs none."""
    default_replication_factor: int = 1
    default_partitions: int = 1
    static_configs: tuple[tuple[str, str], ...] = ()
    """The content of server.properties, for descriptions of the broker."""
    timeouts: Timeouts = Timeouts()
    snapshots: SnapshotPolicy = SnapshotPolicy()
    replication: ReplicationPolicy = ReplicationPolicy()
    auto_creates_topics: bool = False
    """The value of auto.create.topics.enable."""
    asks_controller_versions: bool = False
    """Whether the broker asks each new controller for its API versions (KIP-590)."""
    creates_internal_topics: bool = False
    """Whether a request for a coordinator creates the missing internal topic."""
    internal_topics: InternalTopics = InternalTopics()
    create_topic_policy: CreateTopicPolicy | None = None
    """The value of create.topic.policy.class.name, loaded; internal topics are exempt."""
    authorizer: AuthorizerPolicy | None = None
    """None without authorizer.class.name: everything is allowed."""
    tokens: TokenPolicy = TokenPolicy()
    byte_quotas: QuotaPolicy = QuotaPolicy()
    mutation_quotas: QuotaPolicy = QuotaPolicy()
    """The windows of the active controller for controller_mutation_rate."""

    def client_listener(self, name: str) -> str:
        """Return the name if a client listener has the name, else the first client listener."""
        first = ""
        for endpoint in self.endpoints:
            if endpoint.is_controller:
                continue
            if endpoint.name == name:
                return name
            first = first or endpoint.name
        return first

    @property
    def voter_ids(self) -> tuple[NodeId, ...]:
        """Return the ids of the voters in ascending order."""
        return tuple(sorted(voter.node_id for voter in self.voters))
