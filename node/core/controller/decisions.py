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
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.partitions.isr import alter_partition
from kraftproof.node.core.controller.producer_ids import allocate_producer_ids
from kraftproof.node.core.controller.sessions import Sessions
from kraftproof.node.core.controller.topics import create_topics, delete_topics
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_request,
    alter_partition_request,
    broker_heartbeat_request,
    broker_registration_request,
    create_topics_request,
    delete_topics_request,
    unregister_broker_request,
)

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
    """

    image: MetadataImage
    config: NodeConfig
    random: "Random"
    next_offset: Offset
    sessions: Sessions
    now: Instant


class Decision(Struct, frozen=True, kw_only=True):
    """The decision of a request type."""

    decide: Callable[[DecisionContext, Any], Outcome]
    """Takes the request type of the dict's key, which the type of a dict cannot express."""
    is_forwarded: bool
    """Whether brokers forward the client's request in an Envelope; False for a broker's own
    request."""


def _heartbeat(
    context: DecisionContext, request: broker_heartbeat_request.BrokerHeartbeatRequest
) -> Outcome:
    return heartbeat(context.image, request)


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


def _unregister(
    context: DecisionContext, request: unregister_broker_request.UnregisterBrokerRequest
) -> Outcome:
    return unregister(context.image, request)


def _create_topics(
    context: DecisionContext, request: create_topics_request.CreateTopicsRequest
) -> Outcome:
    return create_topics(context.image, request, context.config, context.random)


def _delete_topics(
    context: DecisionContext, request: delete_topics_request.DeleteTopicsRequest
) -> Outcome:
    return delete_topics(context.image, request)


def _alter_partition(
    context: DecisionContext, request: alter_partition_request.AlterPartitionRequest
) -> Outcome:
    return alter_partition(context.image, request)


def _allocate_producer_ids(
    context: DecisionContext, request: allocate_producer_ids_request.AllocateProducerIdsRequest
) -> Outcome:
    return allocate_producer_ids(context.image, request)


DECISIONS: Final[Mapping[type[Message], Decision]] = {
    allocate_producer_ids_request.AllocateProducerIdsRequest: Decision(
        decide=_allocate_producer_ids, is_forwarded=False
    ),
    alter_partition_request.AlterPartitionRequest: Decision(
        decide=_alter_partition, is_forwarded=False
    ),
    broker_heartbeat_request.BrokerHeartbeatRequest: Decision(
        decide=_heartbeat, is_forwarded=False
    ),
    broker_registration_request.BrokerRegistrationRequest: Decision(
        decide=_register, is_forwarded=False
    ),
    create_topics_request.CreateTopicsRequest: Decision(decide=_create_topics, is_forwarded=True),
    delete_topics_request.DeleteTopicsRequest: Decision(decide=_delete_topics, is_forwarded=True),
    unregister_broker_request.UnregisterBrokerRequest: Decision(
        decide=_unregister, is_forwarded=True
    ),
}
