"""The served requests, each with the entries that allow the request. No tests here."""

from collections.abc import Callable

from msgspec import Struct

from kraftproof.node.core.metadata.acls import CLUSTER_NAME, Operation
from kraftproof.node.wire import messages as wire
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.records.metadata import AccessControlEntryRecord
from tests.node.core.security import data_requests as data
from tests.node.core.security.rules import CLUSTER, GROUP, TOPIC, entry

OF_TOPIC = ErrorCode.TOPIC_AUTHORIZATION_FAILED
OF_CLUSTER = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
OF_GROUP = ErrorCode.GROUP_AUTHORIZATION_FAILED
DENIALS = {OF_TOPIC, OF_CLUSTER, OF_GROUP, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED}


class Case(Struct, frozen=True, kw_only=True):
    """A request, the entries that allow the request, and the error without them."""

    message: Message
    entries: tuple[AccessControlEntryRecord, ...] = ()
    error: ErrorCode | None = OF_CLUSTER
    """None for a request that everybody may send."""
    version: int | None = None


def on_cluster(operation: Operation) -> tuple[AccessControlEntryRecord, ...]:
    return (entry(operation, CLUSTER_NAME, kind=CLUSTER),)


def on_topic(operation: Operation, name: str = "t") -> tuple[AccessControlEntryRecord, ...]:
    return (entry(operation, name),)


def action(message: Message, **fields) -> Case:
    return Case(message=message, entries=on_cluster(Operation.CLUSTER_ACTION), **fields)


def alter(message: Message) -> Case:
    return Case(message=message, entries=on_cluster(Operation.ALTER))


def describe(message: Message) -> Case:
    return Case(message=message, entries=on_cluster(Operation.DESCRIBE))


def _creation(name: str) -> Message:
    module = wire.create_topics_request
    topic = module.CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    return module.CreateTopicsRequest(topics=(topic,), timeout_ms=5000)


def _deletion() -> Message:
    module = wire.delete_topics_request
    return module.DeleteTopicsRequest(topics=(module.DeleteTopicState(name="t"),), timeout_ms=5000)


def _growth() -> Message:
    module = wire.create_partitions_request
    topic = module.CreatePartitionsTopic(name="t", count=2)
    return module.CreatePartitionsRequest(topics=(topic,), timeout_ms=5000)


def _configs(module, request: Callable[..., Message]) -> Message:
    config = module.AlterableConfig(name="retention.ms", value="1000")
    resource = module.AlterConfigsResource(resource_type=2, resource_name="t", configs=(config,))
    return request(resources=(resource,))


def _acl_creation() -> Message:
    module = wire.create_acls_request
    creation = module.AclCreation(
        resource_type=TOPIC,
        resource_name="x",
        principal="User:nobody",
        host="*",
        operation=Operation.ALL,
        permission_type=3,
    )
    return module.CreateAclsRequest(creations=(creation,))


def _acl_deletion() -> Message:
    module = wire.delete_acls_request
    wanted = module.DeleteAclsFilter(
        resource_type_filter=1, pattern_type_filter=1, operation=1, permission_type=1
    )
    return module.DeleteAclsRequest(filters=(wanted,))


def _quota() -> Message:
    module = wire.alter_client_quotas_request
    part = module.EntityData(entity_type="user", entity_name="u")
    change = module.OpData(key="producer_byte_rate", value=1000.0)
    return module.AlterClientQuotasRequest(
        entries=(module.EntryData(entity=(part,), ops=(change,)),)
    )


def _reassignment() -> Message:
    module = wire.alter_partition_reassignments_request
    part = module.ReassignablePartition(partition_index=0, replicas=None)
    topic = module.ReassignableTopic(name="t", partitions=(part,))
    return module.AlterPartitionReassignmentsRequest(topics=(topic,))


def _features() -> Message:
    module = wire.update_features_request
    update = module.FeatureUpdateKey(feature="metadata.version", max_version_level=22)
    return module.UpdateFeaturesRequest(feature_updates=(update,))


def _credential() -> Message:
    module = wire.alter_user_scram_credentials_request
    upsertion = module.ScramCredentialUpsertion(
        name="u", mechanism=1, iterations=4096, salt=bytes(16), salted_password=bytes(32)
    )
    return module.AlterUserScramCredentialsRequest(upsertions=(upsertion,))


LATE_LOGINS = (
    Case(message=wire.sasl_handshake_request.SaslHandshakeRequest(), error=None),
    Case(message=wire.sasl_authenticate_request.SaslAuthenticateRequest(), error=None),
)
"""The requests of a login after its end, which every node refuses for another reason."""
ANY_FILTER = {
    "resource_type_filter": 1,
    "pattern_type_filter": 1,
    "operation": 1,
    "permission_type": 1,
}
CHANGES = (
    Case(message=_creation("new"), entries=on_topic(Operation.CREATE, "new"), error=OF_TOPIC),
    Case(message=_deletion(), entries=on_topic(Operation.DELETE), error=OF_TOPIC),
    Case(message=_growth(), entries=on_topic(Operation.ALTER), error=OF_TOPIC),
    Case(
        message=_configs(
            wire.incremental_alter_configs_request,
            wire.incremental_alter_configs_request.IncrementalAlterConfigsRequest,
        ),
        entries=on_topic(Operation.ALTER_CONFIGS),
        error=OF_TOPIC,
    ),
    Case(
        message=_configs(
            wire.alter_configs_request, wire.alter_configs_request.AlterConfigsRequest
        ),
        entries=on_topic(Operation.ALTER_CONFIGS),
        error=OF_TOPIC,
    ),
    Case(message=_quota(), entries=on_cluster(Operation.ALTER_CONFIGS)),
    alter(_credential()),
    # Whoever has logged in may have tokens; ownership decides about changes (KIP-48).
    Case(message=wire.create_delegation_token_request.CreateDelegationTokenRequest(), error=None),
    Case(message=wire.renew_delegation_token_request.RenewDelegationTokenRequest(), error=None),
    Case(message=wire.expire_delegation_token_request.ExpireDelegationTokenRequest(), error=None),
    alter(_acl_creation()),
    alter(_acl_deletion()),
    alter(_reassignment()),
    alter(_features()),
    alter(wire.elect_leaders_request.ElectLeadersRequest(topic_partitions=None)),
    alter(wire.unregister_broker_request.UnregisterBrokerRequest(broker_id=2)),
    Case(
        message=wire.list_partition_reassignments_request.ListPartitionReassignmentsRequest(),
        entries=on_cluster(Operation.DESCRIBE),
    ),
    Case(
        message=wire.describe_quorum_request.DescribeQuorumRequest(),
        entries=on_cluster(Operation.DESCRIBE),
    ),
)
"""The requests that brokers forward."""


def _of_partition(topic_type, part_type, request, part_fields=None, **fields) -> Message:
    part = part_type(**(part_fields or {}))
    topic = topic_type(partitions=(part,), **fields.pop("topic_fields"))
    return request(topics=(topic,), **fields)


def _metadata() -> Message:
    module = wire.metadata_request
    return module.MetadataRequest(topics=(module.MetadataRequestTopic(name="t"),))


def _configs_asked() -> Message:
    module = wire.describe_configs_request
    resource = module.DescribeConfigsResource(resource_type=2, resource_name="t")
    return module.DescribeConfigsRequest(resources=(resource,))


def _topic_page() -> Message:
    module = wire.describe_topic_partitions_request
    topics = (module.TopicRequest(name="t"),)
    return module.DescribeTopicPartitionsRequest(topics=topics)


ON_BROKER = (
    Case(message=wire.api_versions_request.ApiVersionsRequest(), error=None, version=2),
    Case(message=wire.describe_cluster_request.DescribeClusterRequest(), error=None),
    describe(wire.describe_acls_request.DescribeAclsRequest(**ANY_FILTER)),
    describe(wire.describe_log_dirs_request.DescribeLogDirsRequest(topics=None)),
    Case(
        message=wire.describe_client_quotas_request.DescribeClientQuotasRequest(),
        entries=on_cluster(Operation.DESCRIBE_CONFIGS),
    ),
    Case(
        message=wire.list_config_resources_request.ListConfigResourcesRequest(),
        entries=on_cluster(Operation.DESCRIBE_CONFIGS),
    ),
    Case(message=_topic_page(), entries=on_topic(Operation.DESCRIBE), error=OF_TOPIC, version=0),
    Case(
        message=wire.describe_user_scram_credentials_request.DescribeUserScramCredentialsRequest(),
        entries=on_cluster(Operation.DESCRIBE),
    ),
    Case(
        message=wire.describe_delegation_token_request.DescribeDelegationTokenRequest(), error=None
    ),
    *LATE_LOGINS,
    Case(message=_metadata(), entries=on_topic(Operation.DESCRIBE), error=OF_TOPIC),
    Case(message=_configs_asked(), entries=on_topic(Operation.DESCRIBE_CONFIGS), error=OF_TOPIC),
    Case(
        message=data.produce(),
        entries=on_topic(Operation.WRITE),
        error=OF_TOPIC,
        version=12,
    ),
    Case(message=data.fetch(), entries=on_topic(Operation.READ), error=OF_TOPIC, version=12),
    Case(message=data.offsets(), entries=on_topic(Operation.DESCRIBE), error=OF_TOPIC),
    Case(message=data.producers(), entries=on_topic(Operation.READ), error=OF_TOPIC),
    Case(message=data.epochs(), entries=on_topic(Operation.DESCRIBE), error=OF_TOPIC),
    Case(message=data.records_deletion(), entries=on_topic(Operation.DELETE), error=OF_TOPIC),
    Case(
        message=wire.init_producer_id_request.InitProducerIdRequest(),
        entries=on_cluster(Operation.IDEMPOTENT_WRITE),
        version=4,
    ),
    Case(
        message=wire.find_coordinator_request.FindCoordinatorRequest(
            key_type=0, coordinator_keys=("g",)
        ),
        entries=(entry(Operation.DESCRIBE, "g", kind=GROUP),),
        error=OF_GROUP,
    ),
    Case(
        message=data.committed(),
        entries=(entry(Operation.DESCRIBE, "g", kind=GROUP),),
        error=OF_GROUP,
        version=7,
    ),
    Case(
        message=wire.consumer_group_heartbeat_request.ConsumerGroupHeartbeatRequest(group_id="g"),
        entries=(entry(Operation.READ, "g", kind=GROUP),),
        error=OF_GROUP,
    ),
    *CHANGES,
)
ON_CONTROLLER = (
    Case(message=wire.api_versions_request.ApiVersionsRequest(), error=None, version=2),
    alter(wire.describe_cluster_request.DescribeClusterRequest(endpoint_type=2)),
    describe(wire.describe_acls_request.DescribeAclsRequest(**ANY_FILTER)),
    *LATE_LOGINS,
    action(wire.fetch_request.FetchRequest(session_epoch=-1), version=12),
    action(wire.fetch_snapshot_request.FetchSnapshotRequest()),
    action(wire.vote_request.VoteRequest(), version=0),
    action(wire.begin_quorum_epoch_request.BeginQuorumEpochRequest(), version=0),
    action(wire.end_quorum_epoch_request.EndQuorumEpochRequest(), version=0),
    action(wire.allocate_producer_ids_request.AllocateProducerIdsRequest(broker_id=2)),
    action(wire.alter_partition_request.AlterPartitionRequest(broker_id=2)),
    action(wire.assign_replicas_to_dirs_request.AssignReplicasToDirsRequest(broker_id=2)),
    action(wire.broker_heartbeat_request.BrokerHeartbeatRequest(broker_id=2), version=1),
    action(wire.broker_registration_request.BrokerRegistrationRequest(broker_id=9), version=1),
    action(wire.controller_registration_request.ControllerRegistrationRequest(controller_id=9)),
    *CHANGES,
)
