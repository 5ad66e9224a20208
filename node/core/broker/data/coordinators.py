"""Answer requests for coordinators: this broker has neither groups nor transactions.

A real Kafka broker on the same controllers may serve groups and transactions, and says so by the
features of its registration. A coordinator is the leader of a partition of an internal topic, which
the broker has created if the topic is missing (590-14). Without such a broker, this broker names
itself. A client then finds no request of members among the versions of this broker, and fails at
once; librdkafka would repeat its search after an error. InitProducerId refuses transactions, and
group_requests.py answers the requests of groups that must not be missing. A client of the old
versions 0 and 1 gets an error for a group: aiokafka would join for ever.
"""

from typing import Final

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.broker.auto_creation import AutoCreator
from kraftproof.node.core.broker.data.access import endpoint_of, partition_of
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.acls import CLUSTER_NAME, Operation, ResourceKind
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.names import GROUP_TOPIC, SHARE_TOPIC, TRANSACTION_TOPIC
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.core.security.required import ERRORS
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import find_coordinator_request, find_coordinator_response

Request = find_coordinator_request.FindCoordinatorRequest
Response = find_coordinator_response.FindCoordinatorResponse
Coordinator = find_coordinator_response.Coordinator

GROUP_FEATURE: Final = "group.version"
"""The feature of a broker that serves groups."""
_LISTS_FROM: Final = 4
"""The first version of FindCoordinator with a list of keys."""
_NAMED_FROM: Final = 2
"""The first version of FindCoordinator in which this broker is the coordinator of a group."""
_MESSAGE: Final = "no broker of this cluster has a coordinator of groups"
_GROUP, _TRANSACTION, _SHARE = range(3)
"""The kinds of coordinators: of groups, of transactions and of share groups."""
_RIGHTS: Final = {
    _GROUP: (ResourceKind.GROUP, Operation.DESCRIBE),
    _TRANSACTION: (ResourceKind.TRANSACTIONAL_ID, Operation.DESCRIBE),
    _SHARE: (ResourceKind.CLUSTER, Operation.CLUSTER_ACTION),
}
_TOPICS: Final = {
    _GROUP: (GROUP_TOPIC, GROUP_FEATURE),
    _TRANSACTION: (TRANSACTION_TOPIC, "transaction.version"),
    _SHARE: (SHARE_TOPIC, "share.version"),
}
"""By kind: the internal topic, and the feature of the brokers that have such a coordinator."""
_ALL_BITS: Final = 0xFFFFFFFF
_POSITIVE_BITS: Final = 0x7FFFFFFF


class Coordinators:
    """The answers of a broker to FindCoordinator."""

    def __init__(
        self,
        config: NodeConfig,
        committed: CommittedImage,
        authorizer: Authorizer | None,
        creator: AutoCreator | None,
    ) -> None:
        self._listener = config.client_listener
        self._node_id = config.node_id
        self._creates = config.creates_internal_topics
        self._committed = committed
        self._authorizer = authorizer
        self._creator = creator

    def find(self, event: Received, request: Request) -> Response:
        """Return the coordinator of each key, or the reason why there is none."""
        if event.version < _LISTS_FROM:
            found = self._find(event, request.key_type, request.key)
            return Response(
                error_code=found.error_code,
                error_message=found.error_message if event.version >= 1 else None,
                node_id=found.node_id,
                host=found.host,
                port=found.port,
            )
        return Response(
            coordinators=tuple(
                self._find(event, request.key_type, key) for key in request.coordinator_keys
            )
        )

    def _find(self, event: Received, kind: int, key: str) -> Coordinator:
        right = _RIGHTS.get(kind)
        if right is None:
            return _failed(key, ErrorCode.INVALID_REQUEST, f"there is no key type {kind}")
        resource, operation = right
        name = CLUSTER_NAME if resource is ResourceKind.CLUSTER else key
        if self._authorizer is not None and not self._authorizer.allows(
            event, operation, resource, name
        ):
            return _failed(key, ERRORS[resource], "the coordinator may not be described")
        topic, feature = _TOPICS[kind]
        image = self._committed.image
        topic_id = image.topic_ids.get(topic)
        if topic_id is None and self._creates and self._creator is not None:
            self._creator.create_internal(topic)
        if not any(has_feature(image, node, feature) for node in image.brokers):
            if kind == _SHARE or (kind == _GROUP and event.version < _NAMED_FROM):
                return _failed(key, ErrorCode.UNSUPPORTED_VERSION, _MESSAGE)
            return _at(image, self._node_id, key, self._listener(event.listener))
        if topic_id is None:
            return _unavailable(key)
        index = java_hash(key) % len(image.partitions[topic_id])
        partition = partition_of(image, LogId(topic_id, index))
        if partition is None:
            return _unavailable(key)
        if partition.leader in image.brokers and not has_feature(image, partition.leader, feature):
            reason = f"broker {partition.leader}, the coordinator by its partition, has none"
            return _failed(key, ErrorCode.UNSUPPORTED_VERSION, reason)
        return _at(image, partition.leader, key, self._listener(event.listener))


def _at(image: MetadataImage, node: NodeId, key: str, listener: str) -> Coordinator:
    """Return a broker as the coordinator, at the listener that the client has used."""
    endpoint = endpoint_of(image, node, listener)
    if endpoint is None:
        return _unavailable(key)
    return Coordinator(key=key, node_id=node, host=endpoint[0], port=endpoint[1])


def java_hash(text: str) -> int:
    """Return the hash of a text as Java computes it, without the sign."""
    units = text.encode("utf-16-be")
    value = 0
    for place in range(0, len(units), 2):
        value = (31 * value + int.from_bytes(units[place : place + 2], "big")) & _ALL_BITS
    return value & _POSITIVE_BITS


def has_feature(image: MetadataImage, node: int, feature: str) -> bool:
    """Return whether a broker was registered with a feature."""
    broker = image.brokers.get(NodeId(node))
    return broker is not None and any(one.name == feature for one in broker.features)


def _failed(key: str, error: ErrorCode, reason: str) -> Coordinator:
    return Coordinator(key=key, node_id=-1, port=-1, error_code=error, error_message=reason)


def _unavailable(key: str) -> Coordinator:
    return _failed(key, ErrorCode.COORDINATOR_NOT_AVAILABLE, "the coordinator has no leader yet")
