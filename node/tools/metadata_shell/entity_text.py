"""Write entities of an image as Kafka's metadata shell does, one line each.

Keys of SCRAM credentials are left out: a listing must not help to impersonate a server.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from kraftproof.node.core.metadata.image import BrokerRegistration, Partition
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid, format_uuid

PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_RESOURCES: Final = {
    2: "TOPIC", 3: "GROUP", 4: "CLUSTER", 5: "TRANSACTIONAL_ID", 6: "DELEGATION_TOKEN", 7: "USER",
}  # fmt: skip
_PATTERNS: Final = {3: "LITERAL", 4: "PREFIXED"}
_OPERATIONS: Final = (
    "UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE",
    "CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS",
    "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT",
)  # fmt: skip
_PERMISSIONS: Final = {2: "DENY", 3: "ALLOW"}
_RECOVERY: Final = ("RECOVERED", "RECOVERING")


def broker_text(broker: BrokerRegistration) -> str:
    """Return the registration of a broker."""
    rack = "Optional.empty" if broker.rack is None else f"Optional[{broker.rack}]"
    cordoned = broker.cordoned_log_dirs
    return (
        f"BrokerRegistration(id={broker.broker_id}, epoch={broker.epoch}, "
        f"incarnationId={format_uuid(broker.incarnation)}, "
        f"listeners={_endpoints(broker.endpoints)}, "
        f"supportedFeatures={_features(broker.features)}, rack={rack}, "
        f"fenced={_flag(broker.fenced)}, "
        f"inControlledShutdown={_flag(broker.in_controlled_shutdown)}, "
        f"isMigratingZkBroker=false, directories={_ids(broker.log_dirs)}, "
        f"cordonedDirectories={'null' if cordoned is None else _ids(cordoned)})"
    )


def controller_text(record: records.RegisterControllerRecord) -> str:
    """Return the registration of a controller."""
    return (
        f"ControllerRegistration(id={record.controller_id}, "
        f"incarnationId={format_uuid(record.incarnation_id)}, "
        f"zkMigrationReady={_flag(record.zk_migration_ready)}, "
        f"listeners={_endpoints(record.end_points)}, "
        f"supportedFeatures={_features(record.features)})"
    )


def partition_text(partition: Partition) -> str:
    """Return the state of a partition."""
    return (
        f"PartitionRegistration(replicas={_list(partition.replicas)}, "
        f"directories={_ids(partition.directories)}, isr={_list(partition.isr)}, "
        f"removingReplicas={_list(partition.removing)}, addingReplicas={_list(partition.adding)}, "
        f"elr={_list(partition.eligible_leader_replicas)}, "
        f"lastKnownElr={_list(partition.last_known_elr)}, leader={partition.leader}, "
        f"leaderRecoveryState={_RECOVERY[partition.recovery_state]}, "
        f"leaderEpoch={partition.leader_epoch}, partitionEpoch={partition.partition_epoch})"
    )


def acl_text(record: records.AccessControlEntryRecord) -> str:
    """Return an access control entry."""
    return (
        f"StandardAcl[resourceType={_RESOURCES.get(record.resource_type, record.resource_type)}, "
        f"resourceName={record.resource_name}, "
        f"patternType={_PATTERNS.get(record.pattern_type, record.pattern_type)}, "
        f"principal={record.principal}, host={record.host}, "
        f"operation={_name(_OPERATIONS, record.operation)}, "
        f"permissionType={_PERMISSIONS.get(record.permission_type, record.permission_type)}]"
    )


def credential_text(record: records.UserScramCredentialRecord) -> str:
    """Return a SCRAM credential without its keys."""
    return (
        f"ScramCredentialData(salt={record.salt.hex()}, storedKey=[hidden], serverKey=[hidden], "
        f"iterations={record.iterations})"
    )


def token_text(record: records.DelegationTokenRecord) -> str:
    """Return a delegation token."""
    return (
        f"DelegationTokenData(tokenId={record.token_id}, owner={record.owner}, "
        f"tokenRequester={record.requester}, renewers={_list(record.renewers)}, "
        f"issueTimestamp={record.issue_timestamp}, maxTimestamp={record.max_timestamp}, "
        f"expiryTimestamp={record.expiration_timestamp})"
    )


def _endpoints(
    endpoints: Iterable[records.BrokerEndpoint | records.ControllerEndpoint],
) -> str:
    return _list(
        f"Endpoint(listenerName='{one.name}', "
        f"securityProtocol={_name(PROTOCOLS, one.security_protocol)}, "
        f"host='{one.host}', port={one.port})"
        for one in sorted(endpoints, key=lambda one: one.name)
    )


def _features(features: Iterable[records.BrokerFeature | records.ControllerFeature]) -> str:
    levels: Mapping[str, str] = {
        one.name: str(one.max_supported_version)
        if one.min_supported_version == one.max_supported_version
        else f"{one.min_supported_version}-{one.max_supported_version}"
        for one in features
    }
    return "{" + ", ".join(f"{name}: {levels[name]}" for name in sorted(levels)) + "}"


def _ids(ids: Iterable[Uuid]) -> str:
    return _list(map(format_uuid, ids))


def _list(members: Iterable[object]) -> str:
    return f"[{', '.join(map(str, members))}]"


def _flag(value: bool) -> str:  # noqa: FBT001 - a value, not an option
    return str(value).lower()


def _name(names: tuple[str, ...], number: int) -> str:
    return names[number] if 0 <= number < len(names) else str(number)
