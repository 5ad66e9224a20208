"""The metadata records, written down by hand: kio has none of them (KIP-631 "Record Formats").

A line is a field: name, type, options. `[]T` is an array, `?` allows null, `tag=N` makes it a
tagged field, `since=N` says the first version that has it, `=X` its default. Everything is
flexible from version 0 on, and tagged fields that are not known here are kept.
"""

from typing import Final

from scripts.wiregen.model import Message, Struct, Use, implicit_default

_ENDPOINT: Final = """
    name string
    host string
    port uint16
    security_protocol int16
"""
_FEATURE: Final = """
    name string
    min_supported_version int16
    max_supported_version int16
"""
_STRUCTS: Final = {
    "BrokerEndpoint": _ENDPOINT,
    "BrokerFeature": _FEATURE,
    "ControllerEndpoint": _ENDPOINT,
    "ControllerFeature": _FEATURE,
    "EntityData": """
        entity_type string
        entity_name string ?
    """,
}
_BROKER: Final = """
    broker_id int32
    broker_epoch int64
"""
_FENCING: Final = """
    id int32
    epoch int64
"""
# (key, newest version, name, the document line, the fields)
_RECORDS: Final = (
    (0, 4, "RegisterBrokerRecord", "A broker's registration; its incarnation holds the id.", """
        broker_id int32
        is_migrating_zk_broker bool since=2
        incarnation_id uuid
        broker_epoch int64
        end_points []BrokerEndpoint
        features []BrokerFeature
        rack string ?
        fenced bool =True
        in_controlled_shutdown bool since=1
        log_dirs []uuid tag=0 since=3
        cordoned_log_dirs []uuid ? tag=1 since=4 =None
    """),
    (1, 0, "UnregisterBrokerRecord", "A broker's registration is gone.", _BROKER),
    (2, 0, "TopicRecord", "A topic and its id.", """
        name string
        topic_id uuid
    """),
    (3, 2, "PartitionRecord", "A partition, whole.", """
        partition_id int32 =-1
        topic_id uuid
        replicas []int32
        isr []int32
        removing_replicas []int32
        adding_replicas []int32
        leader int32 =-1
        leader_recovery_state int8 tag=0
        leader_epoch int32 =-1
        partition_epoch int32 =-1
        directories []uuid since=1
        eligible_leader_replicas []int32 ? tag=1 since=2 =None
        last_known_elr []int32 ? tag=2 since=2 =None
    """),
    (4, 0, "ConfigRecord", "A configuration value; null deletes the key.", """
        resource_type int8
        resource_name string
        name string
        value string ?
    """),
    (5, 2, "PartitionChangeRecord", "A change of a partition; what is null is unchanged.", """
        partition_id int32 =-1
        topic_id uuid
        isr []int32 ? tag=0 =None
        leader int32 tag=1 =-2
        replicas []int32 ? tag=2 =None
        removing_replicas []int32 ? tag=3 =None
        adding_replicas []int32 ? tag=4 =None
        leader_recovery_state int8 tag=5 =-1
        directories []uuid ? tag=8 since=1 =None
        eligible_leader_replicas []int32 ? tag=6 since=2 =None
        last_known_elr []int32 ? tag=7 since=2 =None
    """),
    (7, 0, "FenceBrokerRecord", "A broker is fenced.", _FENCING),
    (8, 0, "UnfenceBrokerRecord", "A broker is unfenced.", _FENCING),
    (9, 0, "RemoveTopicRecord", "A topic, its partitions and configuration are gone.", """
        topic_id uuid
    """),
    (10, 0, "DelegationTokenRecord", "A delegation token.", """
        owner string
        requester string
        renewers []string
        issue_timestamp int64
        max_timestamp int64
        expiration_timestamp int64
        token_id string
    """),
    (11, 0, "UserScramCredentialRecord", "A SCRAM credential of a user.", """
        name string
        mechanism int8
        salt bytes
        stored_key bytes
        server_key bytes
        iterations int32
    """),
    (12, 0, "FeatureLevelRecord", "The level of a feature of the cluster.", """
        name string
        feature_level int16
    """),
    (14, 0, "ClientQuotaRecord", "A quota of an entity; the value is ignored on removal.", """
        entity []EntityData
        key string
        value float64
        remove bool
    """),
    (15, 0, "ProducerIdsRecord", "A block of producer ids was given away.", """
        broker_id int32
        broker_epoch int64 =-1
        next_producer_id int64
    """),
    (17, 3, "BrokerRegistrationChangeRecord", "A change of a registration: -1 off, 1 on.", """
        broker_id int32
        broker_epoch int64
        fenced int8 tag=0
        in_controlled_shutdown int8 tag=1 since=1
        log_dirs []uuid tag=2 since=2
        cordoned_log_dirs []uuid ? tag=3 since=3 =None
    """),
    (18, 0, "AccessControlEntryRecord", "An access control entry.", """
        id uuid
        resource_type int8
        resource_name string
        pattern_type int8
        principal string
        host string
        operation int8
        permission_type int8
    """),
    (19, 0, "RemoveAccessControlEntryRecord", "An access control entry is gone.", "id uuid"),
    (20, 0, "NoOpRecord", "Nothing: it moves the high watermark.", ""),
    (21, 0, "ZkMigrationStateRecord", "State of a migration from ZooKeeper; read only.", """
        zk_migration_state int8
    """),
    (22, 0, "RemoveUserScramCredentialRecord", "A SCRAM credential is gone.", """
        name string
        mechanism int8
    """),
    (23, 0, "BeginTransactionRecord", "A metadata transaction begins.", """
        name string ? tag=0 =None
    """),
    (24, 0, "EndTransactionRecord", "A metadata transaction ends.", ""),
    (25, 0, "AbortTransactionRecord", "A metadata transaction leaves no trace.", """
        reason string ? tag=0 =None
    """),
    (26, 0, "RemoveDelegationTokenRecord", "A delegation token is gone.", "token_id string"),
    (27, 0, "RegisterControllerRecord", "A controller's registration.", """
        controller_id int32
        incarnation_id uuid
        zk_migration_ready bool
        end_points []ControllerEndpoint
        features []ControllerFeature
    """),
    (28, 0, "ClearElrRecord", "Eligible leader replicas are forgotten; Kafka 4 writes it.", """
        topic_name string
    """),
)  # fmt: skip


def load() -> list[Message]:
    """All metadata records, by key; a struct goes with the first record that holds it."""
    return [_message(key, newest, name, doc, text) for key, newest, name, doc, text in _RECORDS]


def _message(key: int, newest: int, name: str, doc: str, text: str) -> Message:
    root = _struct(name, doc, text, newest)
    nested = [
        _struct(use.kind, f"Part of {name}.", _STRUCTS[use.kind], newest)
        for use in root.layouts[newest]
        if use.is_struct
    ]
    flexible = dict.fromkeys(range(newest + 1), True)
    return Message(
        name=name,
        key=key,
        is_api=False,
        flexible=flexible,
        structs=[*nested, root],
        keeps_unknown_tags=True,
    )


def _struct(name: str, doc: str, text: str, newest: int) -> Struct:
    struct = Struct(name=name, doc=doc, layouts={version: [] for version in range(newest + 1)})
    for line in filter(None, map(str.strip, text.splitlines())):
        use, since, default = _field(line)
        struct.defaults[use.name] = default
        for version in range(since, newest + 1):
            struct.layouts[version].append(use)
    return struct


def _field(line: str) -> tuple[Use, int, str]:
    name, kind, *options = line.split()
    tag = next((int(option[4:]) for option in options if option.startswith("tag=")), None)
    since = next((int(option[6:]) for option in options if option.startswith("since=")), 0)
    default = next((option[1:] for option in options if option.startswith("=")), None)
    use = Use(
        name=name,
        kind=kind.removeprefix("[]"),
        is_array=kind.startswith("[]"),
        nullable="?" in options,
        tag=tag,
    )
    return use, since, default or implicit_default(use, nullable=use.nullable)
