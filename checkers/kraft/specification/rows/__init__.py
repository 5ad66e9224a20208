"""Define requests, answers and records as rows, by the names of Kafka's message schemas.

A row has the fields that the specification reads. See conversion.py for the rows of
messages and of collected logs.
"""

from msgspec import Struct

from kraftproof.checkers.kraft.specification.ids import Id


class Row(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A record, a request or an answer."""


class Feature(Row, frozen=True, kw_only=True, gc=False):
    """The levels of a feature that a broker supports."""

    name: str
    min_supported_version: int
    max_supported_version: int


class Listener(Row, frozen=True, kw_only=True, gc=False):
    """A listener of a broker."""

    name: str
    host: str
    port: int
    security_protocol: int


class RegisterBrokerRecord(Row, frozen=True, kw_only=True, gc=False):
    """A broker registers, or changes its registration (631-38)."""

    broker_id: int
    incarnation_id: Id
    broker_epoch: int
    end_points: tuple[Listener, ...] = ()
    features: tuple[Feature, ...] = ()
    rack: str | None = None
    fenced: bool = True
    in_controlled_shutdown: bool = False
    log_dirs: tuple[Id, ...] = ()


class RegisterControllerRecord(Row, frozen=True, kw_only=True, gc=False):
    """A controller registers its listeners and features (KIP-919); Kafka's controllers do."""

    controller_id: int
    zk_migration_ready: bool = False
    end_points: tuple[Listener, ...] = ()
    features: tuple[Feature, ...] = ()


class ZkMigrationStateRecord(Row, frozen=True, kw_only=True, gc=False):
    """The state of a migration from ZooKeeper; 0 in a cluster of KRaft (KIP-866)."""

    zk_migration_state: int = 0


class UnregisterBrokerRecord(Row, frozen=True, kw_only=True, gc=False):
    """A registration ends."""

    broker_id: int
    broker_epoch: int


class BrokerRegistrationChangeRecord(Row, frozen=True, kw_only=True, gc=False):
    """A broker is fenced (1) or unfenced (-1), shuts down (1, KIP-841), or has lost directories."""

    broker_id: int
    broker_epoch: int
    fenced: int = 0
    in_controlled_shutdown: int = 0
    log_dirs: tuple[Id, ...] = ()


class TopicRecord(Row, frozen=True, kw_only=True, gc=False):
    """A topic is created."""

    name: str
    topic_id: Id


class RemoveTopicRecord(Row, frozen=True, kw_only=True, gc=False):
    """A topic is deleted with its partitions and configurations."""

    topic_id: Id


class PartitionRecord(Row, frozen=True, kw_only=True, gc=False):
    """A partition is created."""

    partition_id: int
    topic_id: Id
    replicas: tuple[int, ...] = ()
    isr: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    leader: int = -1
    leader_recovery_state: int = 0
    leader_epoch: int = -1
    partition_epoch: int = -1
    directories: tuple[Id, ...] = ()


class PartitionChangeRecord(Row, frozen=True, kw_only=True, gc=False):
    """A partition changes its ISR (null: no change) or its leader (-2: no change).

    The directories are those of the replicas, in their order (KIP-858).
    """

    partition_id: int
    topic_id: Id
    isr: tuple[int, ...] | None = None
    leader: int = -2
    replicas: tuple[int, ...] | None = None
    removing_replicas: tuple[int, ...] | None = None
    adding_replicas: tuple[int, ...] | None = None
    leader_recovery_state: int = -1
    directories: tuple[Id, ...] | None = None


class ConfigRecord(Row, frozen=True, kw_only=True, gc=False):
    """A configuration of a resource is set, or reset if the value is null."""

    resource_type: int
    resource_name: str
    name: str
    value: str | None = None


class FeatureLevelRecord(Row, frozen=True, kw_only=True, gc=False):
    """The level of a feature is set; 0 removes the feature."""

    name: str
    feature_level: int


class NoOpRecord(Row, frozen=True, kw_only=True, gc=False):
    """No change."""


class BeginTransactionRecord(Row, frozen=True, kw_only=True, gc=False):
    """A metadata transaction begins (KIP-868)."""


class EndTransactionRecord(Row, frozen=True, kw_only=True, gc=False):
    """The changes of a metadata transaction become visible."""


class AbortTransactionRecord(Row, frozen=True, kw_only=True, gc=False):
    """The changes of a metadata transaction are undone."""


class OtherRecord(Row, frozen=True, kw_only=True, gc=False):
    """A record without a meaning for the specification."""

    kind: str = ""


class Assignment(Row, frozen=True, kw_only=True, gc=False):
    """The replicas that a client assigns to a partition."""

    partition_index: int
    broker_ids: tuple[int, ...]


class Setting(Row, frozen=True, kw_only=True, gc=False):
    """A configuration of a new topic."""

    name: str
    value: str | None = None


class CreatableTopic(Row, frozen=True, kw_only=True, gc=False):
    """A topic of CreateTopics; -1 asks for the default number."""

    name: str
    num_partitions: int = -1
    replication_factor: int = -1
    assignments: tuple[Assignment, ...] = ()
    configs: tuple[Setting, ...] = ()


class CreateTopicsRequest(Row, frozen=True, kw_only=True, gc=False):
    """Topics to create, or only to validate."""

    topics: tuple[CreatableTopic, ...]
    timeout_ms: int = 60_000
    validate_only: bool = False


class ShownSetting(Row, frozen=True, kw_only=True, gc=False):
    """A configuration in the answer of CreateTopics, with the number of its source."""

    name: str
    value: str | None = None
    config_source: int = -1


class CreatedTopic(Row, frozen=True, kw_only=True, gc=False):
    """The result of a topic of CreateTopics."""

    name: str
    topic_id: Id
    error_code: int = 0
    num_partitions: int = -1
    replication_factor: int = -1
    configs: tuple[ShownSetting, ...] | None = ()


class CreateTopicsResponse(Row, frozen=True, kw_only=True, gc=False):
    """The results of CreateTopics."""

    topics: tuple[CreatedTopic, ...]


class TopicState(Row, frozen=True, kw_only=True, gc=False):
    """A topic of DeleteTopics: a name or an id."""

    topic_id: Id
    name: str | None = None


class DeleteTopicsRequest(Row, frozen=True, kw_only=True, gc=False):
    """Topics to delete: by name in old versions, by name or id in others."""

    topics: tuple[TopicState, ...] = ()
    topic_names: tuple[str, ...] = ()
    timeout_ms: int = 60_000


class DeletedTopic(Row, frozen=True, kw_only=True, gc=False):
    """The result of a topic of DeleteTopics."""

    topic_id: Id
    name: str | None = None
    error_code: int = 0


class DeleteTopicsResponse(Row, frozen=True, kw_only=True, gc=False):
    """The results of DeleteTopics."""

    responses: tuple[DeletedTopic, ...]


class BrokerRegistrationRequest(Row, frozen=True, kw_only=True, gc=False):
    """A broker asks for its registration."""

    broker_id: int
    cluster_id: str
    incarnation_id: Id
    listeners: tuple[Listener, ...] = ()
    features: tuple[Feature, ...] = ()
    rack: str | None = None
    is_migrating_zk_broker: bool = False
    log_dirs: tuple[Id, ...] = ()


class BrokerRegistrationResponse(Row, frozen=True, kw_only=True, gc=False):
    """The broker epoch of a registration."""

    error_code: int = 0
    broker_epoch: int = -1


class BrokerHeartbeatRequest(Row, frozen=True, kw_only=True, gc=False):
    """A broker renews its lease, and asks for its next state."""

    broker_id: int
    broker_epoch: int
    current_metadata_offset: int
    want_fence: bool = False
    want_shut_down: bool = False
    offline_log_dirs: tuple[Id, ...] = ()


class BrokerHeartbeatResponse(Row, frozen=True, kw_only=True, gc=False):
    """The state of the broker."""

    error_code: int = 0
    is_caught_up: bool = False
    is_fenced: bool = True
    should_shut_down: bool = False


class UnregisterBrokerRequest(Row, frozen=True, kw_only=True, gc=False):
    """A registration to end."""

    broker_id: int


class UnregisterBrokerResponse(Row, frozen=True, kw_only=True, gc=False):
    """The result of UnregisterBroker."""

    error_code: int = 0
