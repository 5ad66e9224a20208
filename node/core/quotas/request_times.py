"""Slow clients whose requests take more of a thread than their quota allows (KIP-124).

The quota `request_percentage` is a share of one thread in percent. The shell measures the time,
since the core has no clock of its own. Requests between nodes are exempt, and so is a Produce
without an answer, as in Kafka. A wait is at most one window.
"""

from typing import Final

from kraftproof.node.core.base.config import QuotaPolicy
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Monotonic
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.metadata.quotas import REQUEST_PERCENTAGE
from kraftproof.node.core.quotas.client_rates import ClientRates
from kraftproof.node.wire.messages import (
    allocate_producer_ids_request,
    alter_partition_request,
    assign_replicas_to_dirs_request,
    begin_quorum_epoch_request,
    broker_heartbeat_request,
    broker_registration_request,
    controller_registration_request,
    end_quorum_epoch_request,
    fetch_request,
    fetch_snapshot_request,
    produce_request,
    vote_request,
)

PERCENT_OF_A_SECOND: Final = 100 / (1000 * NANOSECONDS_PER_MS)
"""A nanosecond in percent of a second."""
_OF_NODES: Final = frozenset(
    {
        allocate_producer_ids_request.AllocateProducerIdsRequest,
        alter_partition_request.AlterPartitionRequest,
        assign_replicas_to_dirs_request.AssignReplicasToDirsRequest,
        begin_quorum_epoch_request.BeginQuorumEpochRequest,
        broker_heartbeat_request.BrokerHeartbeatRequest,
        broker_registration_request.BrokerRegistrationRequest,
        controller_registration_request.ControllerRegistrationRequest,
        end_quorum_epoch_request.EndQuorumEpochRequest,
        fetch_snapshot_request.FetchSnapshotRequest,
        vote_request.VoteRequest,
    }
)


class RequestTimes:
    """The processing time of the clients of a node."""

    __slots__ = ("_image", "_longest_ms", "_rates", "is_used")

    def __init__(self, policy: QuotaPolicy) -> None:
        self._longest_ms = policy.window_ns // NANOSECONDS_PER_MS
        self._image = EMPTY_IMAGE
        self._rates = ClientRates(REQUEST_PERCENTAGE, policy, self)
        self.is_used = False
        """Whether the image has any quota of processing time."""

    @property
    def image(self) -> MetadataImage:
        """Return the image that was published last."""
        return self._image

    def follow(self, image: MetadataImage) -> None:
        """Take the quotas of a newer image."""
        if image.quotas is not self._image.quotas:
            entities = image.quotas.by_entity.values()
            self.is_used = any(REQUEST_PERCENTAGE in values for values in entities)
        self._image = image

    def record(self, event: Received, busy_ns: int, now: Monotonic) -> int:
        """Count the time of a request, and return the milliseconds that the client must wait."""
        if _is_exempt(event):
            return 0
        wait_ms = self._rates.record(event, busy_ns * PERCENT_OF_A_SECOND, now)
        return min(wait_ms, self._longest_ms)


def _is_exempt(event: Received) -> bool:
    match event.message:
        case produce_request.ProduceRequest(acks=0):
            return True
        case fetch_request.FetchRequest(replica_id=replica_id, replica_state=state):
            return replica_id >= 0 or state.replica_id >= 0
        case message:
            return type(message) in _OF_NODES
