"""List the requests that the active controller decides, each with its function.

A decision is a function of a context and a request. node/core/served.py derives the advertised, the
forwarded and the enveloped requests from this table. See active.py for the time of an answer.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import Instant, NodeId, Offset
from kraftproof.node.core.controller.brokers import heartbeat, register, unregister
from kraftproof.node.core.controller.configs.alter import (
    alter_configs,
    incremental_alter_configs,
)
from kraftproof.node.core.controller.controllers import register_controller
from kraftproof.node.core.controller.features import update_features
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.partitions.creation import create_partitions
from kraftproof.node.core.controller.partitions.directories import assign_replicas_to_dirs
from kraftproof.node.core.controller.partitions.elections import elect_leaders
from kraftproof.node.core.controller.partitions.isr import alter_partition
from kraftproof.node.core.controller.partitions.reassignment import (
    alter_partition_reassignments,
    list_partition_reassignments,
)
from kraftproof.node.core.controller.producer_ids import allocate_producer_ids
from kraftproof.node.core.controller.quotas import alter_client_quotas
from kraftproof.node.core.controller.security.acls import create_acls, delete_acls
from kraftproof.node.core.controller.security.scram import alter_user_scram_credentials
from kraftproof.node.core.controller.security.tokens import (
    create_token,
    expire_token,
    renew_token,
)
from kraftproof.node.core.controller.sessions import Sessions
from kraftproof.node.core.controller.topics import create_topics, delete_topics
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.quotas.mutations import MutationCharge
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_request,
    alter_client_quotas_request,
    alter_configs_request,
    alter_partition_reassignments_request,
    alter_partition_request,
    alter_user_scram_credentials_request,
    assign_replicas_to_dirs_request,
    broker_heartbeat_request,
    broker_registration_request,
    controller_registration_request,
    create_acls_request,
    create_delegation_token_request,
    create_partitions_request,
    create_topics_request,
    delete_acls_request,
    delete_topics_request,
    elect_leaders_request,
    expire_delegation_token_request,
    incremental_alter_configs_request,
    list_partition_reassignments_request,
    renew_delegation_token_request,
    unregister_broker_request,
    update_features_request,
)
from kraftproof.node.wire.principal import ANONYMOUS, Principal

if TYPE_CHECKING:
    from random import Random


class DecisionContext(Struct, frozen=True, kw_only=True):
    """The inputs of a decision besides the request.

    Attributes:
        image: The image after the newest batch, committed or not.
        config: The node's configuration.
        random: The source of topic ids and placements.
        next_offset: The offset of the next record.
        sessions: The leases of brokers.
        now: The time.
        principal: The client, also behind a broker that forwards.
        version: The version of the request.
        charge: The client's budget for changes of partitions; None without a quota.
    """

    image: MetadataImage
    config: NodeConfig
    random: "Random"
    next_offset: Offset
    sessions: Sessions
    now: Instant
    principal: Principal = ANONYMOUS
    version: int = 0
    charge: MutationCharge | None = None


class Decision(Struct, frozen=True, kw_only=True):
    """The decision of a request type."""

    decide: Callable[[DecisionContext, Any], Outcome]
    """Takes the request type of the dict's key, which the type of a dict cannot express."""
    is_forwarded: bool
    """Whether brokers forward the client's request in an Envelope; False for a broker's own
    request."""


def _of_image(decide: Callable[[MetadataImage, Any], Outcome]) -> Callable[..., Outcome]:
    """Return the decision of a request that depends on the image only."""
    return lambda context, request: decide(context.image, request)


def _heartbeat(
    context: DecisionContext, request: broker_heartbeat_request.BrokerHeartbeatRequest
) -> Outcome:
    """Decide a heartbeat, and follow the controlled shutdown of the broker."""
    image, sessions = context.image, context.sessions
    broker = image.brokers.get(NodeId(request.broker_id))
    if broker is None or broker.epoch != request.broker_epoch:
        return heartbeat(image, request)
    sessions.reach(broker.broker_id, request.current_metadata_offset)
    if broker.in_controlled_shutdown:
        # After a failover the moves are somewhere in the log.
        sessions.await_moves(broker, context.next_offset - 1)
    is_seen = sessions.moves_are_seen(image, broker)
    outcome = heartbeat(image, request, moves_are_seen=is_seen)
    if request.want_shut_down:
        sessions.await_moves(broker, context.next_offset + len(outcome.records) - 1)
    return outcome


def _register(
    context: DecisionContext, request: broker_registration_request.BrokerRegistrationRequest
) -> Outcome:
    return register(
        context.image,
        request,
        cluster_id=context.config.cluster_id,
        next_offset=context.next_offset,
        is_live=context.sessions.is_live(NodeId(request.broker_id), context.now),
    )


def _create_topics(
    context: DecisionContext, request: create_topics_request.CreateTopicsRequest
) -> Outcome:
    return create_topics(context.image, request, context.config, context.random, context.charge)


def _create_partitions(
    context: DecisionContext, request: create_partitions_request.CreatePartitionsRequest
) -> Outcome:
    return create_partitions(context.image, request, context.random, context.charge)


def _delete_topics(
    context: DecisionContext, request: delete_topics_request.DeleteTopicsRequest
) -> Outcome:
    return delete_topics(context.image, request, context.charge)


def _create_acls(
    context: DecisionContext, request: create_acls_request.CreateAclsRequest
) -> Outcome:
    has_authorizer = context.config.authorizer is not None
    return create_acls(context.image, request, context.random, has_authorizer=has_authorizer)


def _delete_acls(
    context: DecisionContext, request: delete_acls_request.DeleteAclsRequest
) -> Outcome:
    has_authorizer = context.config.authorizer is not None
    return delete_acls(context.image, request, has_authorizer=has_authorizer)


def _update_features(
    context: DecisionContext, request: update_features_request.UpdateFeaturesRequest
) -> Outcome:
    voters = (voter.node_id for voter in context.config.voters)
    others = frozenset(voter for voter in voters if voter != context.config.node_id)
    return update_features(context.image, request, others)


def _requests(
    decisions: Mapping[type[Message], Callable[..., Outcome]], *, is_forwarded: bool
) -> dict[type[Message], Decision]:
    return {
        request: Decision(decide=decide, is_forwarded=is_forwarded)
        for request, decide in decisions.items()
    }


_OF_BROKERS: Final[Mapping[type[Message], Callable[..., Outcome]]] = {
    allocate_producer_ids_request.AllocateProducerIdsRequest: _of_image(allocate_producer_ids),
    alter_partition_request.AlterPartitionRequest: _of_image(alter_partition),
    assign_replicas_to_dirs_request.AssignReplicasToDirsRequest: _of_image(assign_replicas_to_dirs),
    broker_heartbeat_request.BrokerHeartbeatRequest: _heartbeat,
    broker_registration_request.BrokerRegistrationRequest: _register,
    controller_registration_request.ControllerRegistrationRequest: _of_image(register_controller),
}
_OF_CLIENTS: Final[Mapping[type[Message], Callable[..., Outcome]]] = {
    alter_user_scram_credentials_request.AlterUserScramCredentialsRequest: _of_image(
        alter_user_scram_credentials
    ),
    create_delegation_token_request.CreateDelegationTokenRequest: create_token,
    renew_delegation_token_request.RenewDelegationTokenRequest: renew_token,
    expire_delegation_token_request.ExpireDelegationTokenRequest: expire_token,
    alter_client_quotas_request.AlterClientQuotasRequest: _of_image(alter_client_quotas),
    alter_configs_request.AlterConfigsRequest: _of_image(alter_configs),
    alter_partition_reassignments_request.AlterPartitionReassignmentsRequest: _of_image(
        alter_partition_reassignments
    ),
    create_acls_request.CreateAclsRequest: _create_acls,
    create_partitions_request.CreatePartitionsRequest: _create_partitions,
    create_topics_request.CreateTopicsRequest: _create_topics,
    delete_acls_request.DeleteAclsRequest: _delete_acls,
    delete_topics_request.DeleteTopicsRequest: _delete_topics,
    elect_leaders_request.ElectLeadersRequest: _of_image(elect_leaders),
    list_partition_reassignments_request.ListPartitionReassignmentsRequest: _of_image(
        list_partition_reassignments
    ),
    incremental_alter_configs_request.IncrementalAlterConfigsRequest: _of_image(
        incremental_alter_configs
    ),
    unregister_broker_request.UnregisterBrokerRequest: _of_image(unregister),
    update_features_request.UpdateFeaturesRequest: _update_features,
}
DECISIONS: Final[Mapping[type[Message], Decision]] = {
    **_requests(_OF_BROKERS, is_forwarded=False),
    **_requests(_OF_CLIENTS, is_forwarded=True),
}
