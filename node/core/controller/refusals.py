"""Answer every part of a request with the same error (KIP-631 "BrokerHeartbeat", KIP-590).

A client expects a result for each part of its request, even if the whole request fails.
"""

from collections.abc import Callable
from typing import Any, Final

from kraftproof.node.core.controller.credential_refusals import CREDENTIAL_REFUSALS
from kraftproof.node.core.controller.security_refusals import SECURITY_REFUSALS
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_request,
    allocate_producer_ids_response,
    alter_client_quotas_request,
    alter_client_quotas_response,
    alter_configs_request,
    alter_configs_response,
    alter_partition_reassignments_request,
    alter_partition_reassignments_response,
    alter_partition_request,
    alter_partition_response,
    assign_replicas_to_dirs_request,
    assign_replicas_to_dirs_response,
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    broker_registration_response,
    controller_registration_request,
    controller_registration_response,
    create_partitions_request,
    create_partitions_response,
    create_topics_request,
    create_topics_response,
    delete_topics_request,
    delete_topics_response,
    describe_log_dirs_request,
    describe_log_dirs_response,
    describe_quorum_request,
    describe_quorum_response,
    elect_leaders_request,
    elect_leaders_response,
    envelope_response,
    incremental_alter_configs_request,
    incremental_alter_configs_response,
    list_partition_reassignments_request,
    list_partition_reassignments_response,
    unregister_broker_request,
    unregister_broker_response,
    update_features_request,
    update_features_response,
)


def refusal(request: Message, error: ErrorCode, reason: str | None = None) -> Message:
    """Return the answer to `request` with `error` in every result."""
    return _REFUSALS[type(request)](request, error, reason)


def has_refusal(request: Message) -> bool:
    """Return whether a request can be refused as a whole."""
    return type(request) in _REFUSALS


def not_controller(event: Received) -> Message:
    """Refuse an untried request, which is safe to repeat at another controller.

    The envelope carries the error to a forwarding broker, which asks the right controller (590-05).
    """
    if event.forwarded_by is not None:
        return envelope_response.EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)
    return refusal(event.message, ErrorCode.NOT_CONTROLLER, "this is not the active controller")


def _create_topics(
    request: create_topics_request.CreateTopicsRequest, error: ErrorCode, reason: str | None
) -> Message:
    return create_topics_response.CreateTopicsResponse(
        topics=tuple(
            create_topics_response.CreatableTopicResult(
                name=topic.name, error_code=error, error_message=reason
            )
            for topic in request.topics
        )
    )


def _delete_topics(
    request: delete_topics_request.DeleteTopicsRequest, error: ErrorCode, reason: str | None
) -> Message:
    result = delete_topics_response.DeletableTopicResult
    by_state = tuple(
        result(name=topic.name, topic_id=topic.topic_id, error_code=error, error_message=reason)
        for topic in request.topics
    )
    by_name = tuple(
        result(name=name, error_code=error, error_message=reason) for name in request.topic_names
    )
    return delete_topics_response.DeleteTopicsResponse(responses=by_state + by_name)


def _unregister(_: Message, error: ErrorCode, reason: str | None) -> Message:
    return unregister_broker_response.UnregisterBrokerResponse(
        error_code=error, error_message=reason
    )


def _register(_: Message, error: ErrorCode, __: str | None) -> Message:
    return broker_registration_response.BrokerRegistrationResponse(error_code=error)


def _heartbeat(_: Message, error: ErrorCode, __: str | None) -> Message:
    return broker_heartbeat_response.BrokerHeartbeatResponse(error_code=error)


def _alter_partition(_: Message, error: ErrorCode, __: str | None) -> Message:
    return alter_partition_response.AlterPartitionResponse(error_code=error)


def _allocate_producer_ids(_: Message, error: ErrorCode, __: str | None) -> Message:
    return allocate_producer_ids_response.AllocateProducerIdsResponse(error_code=error)


def _incremental_alter_configs(
    request: incremental_alter_configs_request.IncrementalAlterConfigsRequest,
    error: ErrorCode,
    reason: str | None,
) -> Message:
    module = incremental_alter_configs_response
    results = _of_resources(module.AlterConfigsResourceResponse, request.resources, error, reason)
    return module.IncrementalAlterConfigsResponse(responses=results)


def _alter_configs(
    request: alter_configs_request.AlterConfigsRequest, error: ErrorCode, reason: str | None
) -> Message:
    module = alter_configs_response
    results = _of_resources(module.AlterConfigsResourceResponse, request.resources, error, reason)
    return module.AlterConfigsResponse(responses=results)


def _of_resources(
    result: Callable[..., Any], resources: tuple[Any, ...], error: ErrorCode, reason: str | None
) -> tuple[Any, ...]:
    return tuple(
        result(
            error_code=error,
            error_message=reason,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
        for resource in resources
    )


def _alter_client_quotas(
    request: alter_client_quotas_request.AlterClientQuotasRequest,
    error: ErrorCode,
    reason: str | None,
) -> Message:
    module = alter_client_quotas_response
    return module.AlterClientQuotasResponse(
        entries=tuple(
            module.EntryData(
                error_code=error,
                error_message=reason,
                entity=tuple(
                    module.EntityData(entity_type=part.entity_type, entity_name=part.entity_name)
                    for part in entry.entity
                ),
            )
            for entry in request.entries
        )
    )


def _alter_reassignments(
    request: alter_partition_reassignments_request.AlterPartitionReassignmentsRequest,
    error: ErrorCode,
    reason: str | None,
) -> Message:
    module = alter_partition_reassignments_response
    return module.AlterPartitionReassignmentsResponse(
        error_code=error,
        error_message=reason,
        responses=tuple(
            module.ReassignableTopicResponse(
                name=topic.name,
                partitions=tuple(
                    module.ReassignablePartitionResponse(
                        partition_index=entry.partition_index,
                        error_code=error,
                        error_message=reason,
                    )
                    for entry in topic.partitions
                ),
            )
            for topic in request.topics
        ),
    )


def _list_reassignments(_: Message, error: ErrorCode, reason: str | None) -> Message:
    return list_partition_reassignments_response.ListPartitionReassignmentsResponse(
        error_code=error, error_message=reason
    )


def _elect_leaders(
    request: elect_leaders_request.ElectLeadersRequest, error: ErrorCode, reason: str | None
) -> Message:
    module = elect_leaders_response
    return module.ElectLeadersResponse(
        error_code=error,
        replica_election_results=tuple(
            module.ReplicaElectionResult(
                topic=entry.topic,
                partition_result=tuple(
                    module.PartitionResult(
                        partition_id=index, error_code=error, error_message=reason
                    )
                    for index in entry.partitions
                ),
            )
            for entry in request.topic_partitions or ()
        ),
    )


def _create_partitions(
    request: create_partitions_request.CreatePartitionsRequest,
    error: ErrorCode,
    reason: str | None,
) -> Message:
    result = create_partitions_response.CreatePartitionsTopicResult
    return create_partitions_response.CreatePartitionsResponse(
        results=tuple(
            result(name=topic.name, error_code=error, error_message=reason)
            for topic in request.topics
        )
    )


def _assign_replicas(_: Message, error: ErrorCode, __: str | None) -> Message:
    return assign_replicas_to_dirs_response.AssignReplicasToDirsResponse(error_code=error)


def _describe_log_dirs(_: Message, error: ErrorCode, __: str | None) -> Message:
    return describe_log_dirs_response.DescribeLogDirsResponse(error_code=error)


def _register_controller(_: Message, error: ErrorCode, reason: str | None) -> Message:
    return controller_registration_response.ControllerRegistrationResponse(
        error_code=error, error_message=reason
    )


def _update_features(_: Message, error: ErrorCode, reason: str | None) -> Message:
    return update_features_response.UpdateFeaturesResponse(error_code=error, error_message=reason)


def _describe_quorum(_: Message, error: ErrorCode, reason: str | None) -> Message:
    return describe_quorum_response.DescribeQuorumResponse(error_code=error, error_message=reason)


# Each function takes the request type of its key, which the type of a dict cannot express.
_REFUSALS: Final[dict[type, Callable[[Any, ErrorCode, str | None], Message]]] = {
    alter_client_quotas_request.AlterClientQuotasRequest: _alter_client_quotas,
    alter_partition_reassignments_request.AlterPartitionReassignmentsRequest: _alter_reassignments,
    assign_replicas_to_dirs_request.AssignReplicasToDirsRequest: _assign_replicas,
    controller_registration_request.ControllerRegistrationRequest: _register_controller,
    create_partitions_request.CreatePartitionsRequest: _create_partitions,
    describe_log_dirs_request.DescribeLogDirsRequest: _describe_log_dirs,
    elect_leaders_request.ElectLeadersRequest: _elect_leaders,
    list_partition_reassignments_request.ListPartitionReassignmentsRequest: _list_reassignments,
    update_features_request.UpdateFeaturesRequest: _update_features,
    alter_configs_request.AlterConfigsRequest: _alter_configs,
    incremental_alter_configs_request.IncrementalAlterConfigsRequest: _incremental_alter_configs,
    allocate_producer_ids_request.AllocateProducerIdsRequest: _allocate_producer_ids,
    alter_partition_request.AlterPartitionRequest: _alter_partition,
    create_topics_request.CreateTopicsRequest: _create_topics,
    delete_topics_request.DeleteTopicsRequest: _delete_topics,
    unregister_broker_request.UnregisterBrokerRequest: _unregister,
    broker_registration_request.BrokerRegistrationRequest: _register,
    broker_heartbeat_request.BrokerHeartbeatRequest: _heartbeat,
    describe_quorum_request.DescribeQuorumRequest: _describe_quorum,
    **CREDENTIAL_REFUSALS,
    **SECURITY_REFUSALS,
}
