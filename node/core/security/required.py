"""List the rights that each request needs, by listener (KIP-11, KIP-140, KIP-590).

A test compares both tables with node/core/served.py: a served request without a row is an error. A
forwarded request is judged by the controller alone, so brokers require nothing for such a request.
See authorizer.py for the decision, and access.py for the parts of a request.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from kraftproof.node.core.configs.resources import Resource
from kraftproof.node.core.metadata.acls import CLUSTER_NAME, Operation, ResourceKind
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_request,
    alter_client_quotas_request,
    alter_configs_request,
    alter_partition_reassignments_request,
    alter_partition_request,
    alter_user_scram_credentials_request,
    api_versions_request,
    assign_replicas_to_dirs_request,
    begin_quorum_epoch_request,
    broker_heartbeat_request,
    broker_registration_request,
    consumer_group_heartbeat_request,
    controller_registration_request,
    create_acls_request,
    create_delegation_token_request,
    create_partitions_request,
    create_topics_request,
    delete_acls_request,
    delete_records_request,
    delete_topics_request,
    describe_acls_request,
    describe_client_quotas_request,
    describe_cluster_request,
    describe_configs_request,
    describe_delegation_token_request,
    describe_log_dirs_request,
    describe_producers_request,
    describe_quorum_request,
    describe_topic_partitions_request,
    describe_user_scram_credentials_request,
    elect_leaders_request,
    end_quorum_epoch_request,
    envelope_request,
    expire_delegation_token_request,
    fetch_request,
    fetch_snapshot_request,
    find_coordinator_request,
    incremental_alter_configs_request,
    init_producer_id_request,
    list_config_resources_request,
    list_offsets_request,
    list_partition_reassignments_request,
    metadata_request,
    offset_fetch_request,
    offset_for_leader_epoch_request,
    produce_request,
    renew_delegation_token_request,
    sasl_authenticate_request,
    sasl_handshake_request,
    unregister_broker_request,
    update_features_request,
    vote_request,
)


class Required(Struct, frozen=True, kw_only=True):
    """The rights for a request.

    With `cluster` alone, the whole request needs the right on the cluster. With `part` alone, each
    part needs the right on its resource. With both, the right on the cluster is enough for every
    part.
    """

    cluster: Operation | None = None
    part: Operation | None = None
    kind: ResourceKind = ResourceKind.TOPIC
    """The kind of the parts' resources; the requests about configurations name the kind."""

    @property
    def is_for_whole(self) -> bool:
        """Return whether the request is allowed or refused as a whole."""
        return self.cluster is not None and self.part is None


ERRORS: Final[Mapping[ResourceKind, ErrorCode]] = {
    ResourceKind.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ResourceKind.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ResourceKind.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ResourceKind.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ResourceKind.DELEGATION_TOKEN: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
    ResourceKind.USER: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
}
"""The error of a denied operation, by the kind of the resource."""
_OF_CONFIGS: Final[Mapping[int, ResourceKind]] = {
    Resource.TOPIC: ResourceKind.TOPIC,
    Resource.BROKER: ResourceKind.CLUSTER,
    Resource.BROKER_LOGGER: ResourceKind.CLUSTER,
    Resource.CLIENT_METRICS: ResourceKind.CLUSTER,
    Resource.GROUP: ResourceKind.GROUP,
}
"""The protected resource of each kind of resource with configurations."""
NOTHING: Final = Required()
_ACTION: Final = Required(cluster=Operation.CLUSTER_ACTION)
_ALTER: Final = Required(cluster=Operation.ALTER)
_DESCRIBE: Final = Required(cluster=Operation.DESCRIBE)

_OF_LOGINS: Final[Mapping[type[Message], Required]] = {
    sasl_authenticate_request.SaslAuthenticateRequest: NOTHING,
    sasl_handshake_request.SaslHandshakeRequest: NOTHING,
    # Ownership decides about tokens, see node/core/security/tokens.py.
    create_delegation_token_request.CreateDelegationTokenRequest: NOTHING,
    expire_delegation_token_request.ExpireDelegationTokenRequest: NOTHING,
    renew_delegation_token_request.RenewDelegationTokenRequest: NOTHING,
}

ON_CONTROLLERS: Final[Mapping[type[Message], Required]] = {
    **_OF_LOGINS,
    api_versions_request.ApiVersionsRequest: NOTHING,
    envelope_request.EnvelopeRequest: _ACTION,
    # The quorum's own requests.
    fetch_request.FetchRequest: _ACTION,
    fetch_snapshot_request.FetchSnapshotRequest: _ACTION,
    vote_request.VoteRequest: _ACTION,
    begin_quorum_epoch_request.BeginQuorumEpochRequest: _ACTION,
    end_quorum_epoch_request.EndQuorumEpochRequest: _ACTION,
    describe_quorum_request.DescribeQuorumRequest: _DESCRIBE,
    # The requests of brokers and controllers.
    allocate_producer_ids_request.AllocateProducerIdsRequest: _ACTION,
    alter_partition_request.AlterPartitionRequest: _ACTION,
    assign_replicas_to_dirs_request.AssignReplicasToDirsRequest: _ACTION,
    broker_heartbeat_request.BrokerHeartbeatRequest: _ACTION,
    broker_registration_request.BrokerRegistrationRequest: _ACTION,
    controller_registration_request.ControllerRegistrationRequest: _ACTION,
    # The requests of clients, direct or in an Envelope.
    alter_client_quotas_request.AlterClientQuotasRequest: Required(cluster=Operation.ALTER_CONFIGS),
    alter_user_scram_credentials_request.AlterUserScramCredentialsRequest: _ALTER,
    alter_configs_request.AlterConfigsRequest: Required(part=Operation.ALTER_CONFIGS),
    alter_partition_reassignments_request.AlterPartitionReassignmentsRequest: _ALTER,
    create_acls_request.CreateAclsRequest: _ALTER,
    create_partitions_request.CreatePartitionsRequest: Required(part=Operation.ALTER),
    create_topics_request.CreateTopicsRequest: Required(
        cluster=Operation.CREATE, part=Operation.CREATE
    ),
    delete_acls_request.DeleteAclsRequest: _ALTER,
    delete_topics_request.DeleteTopicsRequest: Required(
        cluster=Operation.DELETE, part=Operation.DELETE
    ),
    describe_acls_request.DescribeAclsRequest: _DESCRIBE,
    describe_cluster_request.DescribeClusterRequest: _ALTER,
    elect_leaders_request.ElectLeadersRequest: _ALTER,
    incremental_alter_configs_request.IncrementalAlterConfigsRequest: Required(
        part=Operation.ALTER_CONFIGS
    ),
    list_partition_reassignments_request.ListPartitionReassignmentsRequest: _DESCRIBE,
    unregister_broker_request.UnregisterBrokerRequest: _ALTER,
    update_features_request.UpdateFeaturesRequest: _ALTER,
}
"""The rights on the controller listener."""

ON_BROKERS: Final[Mapping[type[Message], Required]] = {
    **_OF_LOGINS,
    describe_delegation_token_request.DescribeDelegationTokenRequest: NOTHING,
    describe_user_scram_credentials_request.DescribeUserScramCredentialsRequest: _DESCRIBE,
    api_versions_request.ApiVersionsRequest: NOTHING,
    describe_acls_request.DescribeAclsRequest: _DESCRIBE,
    describe_client_quotas_request.DescribeClientQuotasRequest: Required(
        cluster=Operation.DESCRIBE_CONFIGS
    ),
    describe_cluster_request.DescribeClusterRequest: NOTHING,
    describe_configs_request.DescribeConfigsRequest: Required(part=Operation.DESCRIBE_CONFIGS),
    describe_log_dirs_request.DescribeLogDirsRequest: _DESCRIBE,
    metadata_request.MetadataRequest: Required(part=Operation.DESCRIBE),
    describe_topic_partitions_request.DescribeTopicPartitionsRequest: Required(
        part=Operation.DESCRIBE
    ),
    list_config_resources_request.ListConfigResourcesRequest: Required(
        cluster=Operation.DESCRIBE_CONFIGS
    ),
    # The data plane; a follower's Fetch needs CLUSTER_ACTION instead.
    consumer_group_heartbeat_request.ConsumerGroupHeartbeatRequest: Required(
        part=Operation.READ, kind=ResourceKind.GROUP
    ),
    delete_records_request.DeleteRecordsRequest: Required(part=Operation.DELETE),
    describe_producers_request.DescribeProducersRequest: Required(part=Operation.READ),
    fetch_request.FetchRequest: Required(part=Operation.READ),
    find_coordinator_request.FindCoordinatorRequest: Required(
        part=Operation.DESCRIBE, kind=ResourceKind.GROUP
    ),
    init_producer_id_request.InitProducerIdRequest: Required(
        cluster=Operation.IDEMPOTENT_WRITE, part=Operation.WRITE
    ),
    list_offsets_request.ListOffsetsRequest: Required(part=Operation.DESCRIBE),
    offset_fetch_request.OffsetFetchRequest: Required(
        part=Operation.DESCRIBE, kind=ResourceKind.GROUP
    ),
    offset_for_leader_epoch_request.OffsetForLeaderEpochRequest: Required(
        cluster=Operation.CLUSTER_ACTION, part=Operation.DESCRIBE
    ),
    produce_request.ProduceRequest: Required(part=Operation.WRITE),
    # The controller judges these requests, with the original principal (590-18).
    alter_client_quotas_request.AlterClientQuotasRequest: NOTHING,
    alter_user_scram_credentials_request.AlterUserScramCredentialsRequest: NOTHING,
    alter_configs_request.AlterConfigsRequest: NOTHING,
    alter_partition_reassignments_request.AlterPartitionReassignmentsRequest: NOTHING,
    create_acls_request.CreateAclsRequest: NOTHING,
    create_partitions_request.CreatePartitionsRequest: NOTHING,
    create_topics_request.CreateTopicsRequest: NOTHING,
    delete_acls_request.DeleteAclsRequest: NOTHING,
    delete_topics_request.DeleteTopicsRequest: NOTHING,
    describe_quorum_request.DescribeQuorumRequest: NOTHING,
    elect_leaders_request.ElectLeadersRequest: NOTHING,
    incremental_alter_configs_request.IncrementalAlterConfigsRequest: NOTHING,
    list_partition_reassignments_request.ListPartitionReassignmentsRequest: NOTHING,
    unregister_broker_request.UnregisterBrokerRequest: NOTHING,
    update_features_request.UpdateFeaturesRequest: NOTHING,
}
"""The rights on the client listeners of brokers."""


def required_of(message: Message, *, on_controller_listener: bool) -> Required:
    """Return the rights for a request on a listener."""
    table = ON_CONTROLLERS if on_controller_listener else ON_BROKERS
    return table[type(message)]


def config_right(kind: int, name: str) -> tuple[ResourceKind, str] | None:
    """Return the protected resource of a resource with configurations; None for no such kind."""
    protected = _OF_CONFIGS.get(kind)
    if protected is None:
        return None
    return (protected, CLUSTER_NAME if protected is ResourceKind.CLUSTER else name)
