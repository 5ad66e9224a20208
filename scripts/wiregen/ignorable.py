"""Fields that a version may drop without an error, from Kafka's message definitions.

kio lacks Kafka's attribute `ignorable`, so this list has the ignorable fields that some of the
supported versions lack. Any other field that is set and missing is an error.
"""

from typing import Final

_BY_MESSAGE: Final = {
    "ApiVersionsRequest": "client_software_name client_software_version",
    "ApiVersionsResponse": (
        "throttle_time_ms supported_features finalized_features_epoch finalized_features"
        " zk_migration_ready"
    ),
    "MetadataRequest": "MetadataRequestTopic.topic_id",
    "MetadataResponse": (
        "throttle_time_ms MetadataResponseBroker.rack cluster_id controller_id error_code"
        " MetadataResponseTopic.topic_id MetadataResponseTopic.is_internal"
        " MetadataResponsePartition.leader_epoch MetadataResponsePartition.offline_replicas"
    ),
    "CreateTopicsResponse": (
        "CreatableTopicResult.topic_id CreatableTopicResult.topic_config_error_code"
        " CreatableTopicResult.num_partitions CreatableTopicResult.replication_factor"
        " CreatableTopicResult.configs"
    ),
    "ProduceRequest": "TopicProduceData.name TopicProduceData.topic_id",
    "ProduceResponse": (
        "TopicProduceResponse.name TopicProduceResponse.topic_id"
        " PartitionProduceResponse.log_start_offset PartitionProduceResponse.record_errors"
        " PartitionProduceResponse.error_message"
    ),
    "ListOffsetsRequest": "timeout_ms ListOffsetsPartition.current_leader_epoch",
    "ListOffsetsResponse": "throttle_time_ms",
    "OffsetFetchRequest": (
        "OffsetFetchRequestGroup.member_id OffsetFetchRequestGroup.member_epoch"
        " OffsetFetchRequestTopics.name OffsetFetchRequestTopics.topic_id"
    ),
    "OffsetFetchResponse": (
        "throttle_time_ms error_code OffsetFetchResponsePartition.committed_leader_epoch"
        " OffsetFetchResponseTopics.name OffsetFetchResponseTopics.topic_id"
    ),
    "OffsetForLeaderEpochRequest": "replica_id",
    "FindCoordinatorResponse": "throttle_time_ms error_message Coordinator.error_message",
    "DeleteTopicsRequest": "topic_names",
    "DeleteTopicsResponse": "DeletableTopicResult.topic_id DeletableTopicResult.error_message",
    "BrokerRegistrationRequest": "log_dirs previous_broker_epoch",
    "AlterPartitionReassignmentsResponse": "allow_replication_factor_change",
    "UpdateFeaturesResponse": "results",
    "VoteRequest": ("voter_id PartitionData.replica_directory_id PartitionData.voter_directory_id"),
    "BeginQuorumEpochRequest": "voter_id PartitionData.voter_directory_id leader_endpoints",
    "EndQuorumEpochRequest": (
        "PartitionData.preferred_successors PartitionData.preferred_candidates leader_endpoints"
    ),
    "DescribeQuorumResponse": (
        "error_message PartitionData.error_message ReplicaState.last_fetch_timestamp"
        " ReplicaState.last_caught_up_timestamp"
    ),
    "FetchRequest": (
        "cluster_id session_id session_epoch FetchTopic.topic FetchTopic.topic_id rack_id"
        " FetchPartition.current_leader_epoch FetchPartition.log_start_offset"
        " FetchPartition.replica_directory_id FetchPartition.high_watermark"
        " ForgottenTopic.topic ForgottenTopic.topic_id"
    ),
    "FetchResponse": (
        "error_code FetchableTopicResponse.topic FetchableTopicResponse.topic_id"
        " PartitionData.log_start_offset"
    ),
    "FetchSnapshotRequest": "PartitionSnapshot.replica_directory_id",
    "DescribeLogDirsResponse": (
        "error_code DescribeLogDirsResult.total_bytes DescribeLogDirsResult.usable_bytes"
        " DescribeLogDirsResult.is_cordoned"
    ),
    "SaslAuthenticateResponse": "session_lifetime_ms",
    "DescribeConfigsResponse": (
        "DescribeConfigsResourceResult.config_type DescribeConfigsResourceResult.documentation"
    ),
}
IGNORABLE: Final = frozenset(
    (message, *(field.split(".") if "." in field else (message, field)))
    for message, fields in _BY_MESSAGE.items()
    for field in fields.split()
)


def is_ignorable(message: str, struct: str, field: str) -> bool:
    """Return whether `field` of `struct`, in `message`, may be dropped where a version lacks it."""
    return (message, struct, field) in IGNORABLE
